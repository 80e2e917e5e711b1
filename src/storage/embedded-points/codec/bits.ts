// Writes a stream of bits in little-endian words, the first bit in the lowest position.

export class BitWriter {
  readonly #bytes: DataView;
  /** Whole bytes written. */
  #at = 0;
  /** The bits after them, fewer than eight. */
  #rest = 0;
  #restBits = 0;

  constructor(bitsMax: number) {
    // Each write stores four bytes, of which at least one is used.
    this.#bytes = new DataView(new ArrayBuffer((bitsMax >>> 3) + 8));
  }

  /** Number of bits written so far. */
  get length(): number {
    return this.#at * 8 + this.#restBits;
  }

  /** Writes the `count` (0 to 25) low bits of `value`. Higher bits must be 0. */
  bits(value: number, count: number): void {
    const word = this.#rest | (value << this.#restBits);
    const filled = this.#restBits + count;
    this.#bytes.setInt32(this.#at, word, true);
    this.#at += filled >>> 3;
    this.#rest = word >>> (filled & 24);
    this.#restBits = filled & 7;
  }

  /**
   * Writes an integer n below 2^16 - 1 as an Elias gamma code of n + 1: b - 1 zeros, a one, and the b - 1 low
   * bits of n + 1, which has b bits.
   */
  gamma(value: number): void {
    const zeros = 31 - Math.clz32(value + 1);
    this.bits(0, zeros);
    // The highest bit, a one, comes first: it ends the zeros.
    this.bits(1 | ((value + 1 - (1 << zeros)) << 1), zeros + 1);
  }

  /** The words, the last one padded with zeros. */
  finish(): Uint8Array {
    this.#bytes.setInt32(this.#at, this.#rest, true);
    return new Uint8Array(this.#bytes.buffer, 0, Math.ceil(this.length / 32) * 4);
  }
}
