// Writes and reads a stream of bits in little-endian words, the first bit in the lowest position.
import { MalformedBlock } from "./bytes.ts";

/** As many bits are certainly in the four bytes around them. */
export const bitsAtOnce = 25;

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

  /** Writes the `count` (0 to `bitsAtOnce`) low bits of `value`. Higher bits must be 0. */
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

/**
 * The `count` (0 to `bitsAtOnce`) bits before bit `at`. There are four bytes or more, and as many bits before
 * `at`.
 */
export function bitsBefore(bits: DataView, at: number, count: number): number {
  const byte = Math.max(0, ((at + 7) >>> 3) - 4);
  return (bits.getUint32(byte, true) >>> (at - count - byte * 8)) & ((1 << count) - 1);
}

export class BitReader {
  readonly #bits: DataView;
  #at = 0;

  constructor(bits: DataView) {
    this.#bits = bits;
  }

  /** Number of bits read so far. */
  get taken(): number {
    return this.#at;
  }

  /** Reads the next `count` (1 to `bitsAtOnce`) bits. */
  take(count: number): number {
    this.#at += count;
    if (this.#at > this.#bits.byteLength * 8) throw new MalformedBlock("the stream of bits ends early");
    return bitsBefore(this.#bits, this.#at, count);
  }

  /** The reverse of `BitWriter.gamma`. */
  gamma(): number {
    const byte = this.#at >>> 3;
    if (byte + 4 <= this.#bits.byteLength) {
      const word = this.#bits.getUint32(byte, true) >>> (this.#at & 7);
      const zeros = 31 - Math.clz32(word & -word);
      if (word !== 0 && 2 * zeros + 1 <= bitsAtOnce) {
        this.#at += 2 * zeros + 1;
        return (1 << zeros) + ((word >>> (zeros + 1)) & ((1 << zeros) - 1)) - 1;
      }
    }
    return this.#longGamma();
  }

  /** Bit by bit: a long number, or one at the end of the stream. */
  #longGamma(): number {
    let zeros = 0;
    while (this.take(1) === 0) if (++zeros > 16) throw new MalformedBlock("a number of too many bits");
    return zeros === 0 ? 0 : (1 << zeros) + this.take(zeros) - 1;
  }
}
