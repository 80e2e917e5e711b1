// Writes and reads a stream of bits in 32-bit words, the first bit in the lowest position.
import { type ByteReader, MalformedBlock } from "./bytes.ts";

export class BitWriter {
  readonly #words: Uint32Array;
  #at = 0;
  #word = 0;
  #filled = 0;

  constructor(bitsMax: number) {
    this.#words = new Uint32Array(Math.ceil(bitsMax / 32));
  }

  /** Number of bits written so far. */
  get length(): number {
    return this.#at * 32 + this.#filled;
  }

  /** Writes the `count` (0 to 32) low bits of `value`. Higher bits must be 0. */
  bits(value: number, count: number): void {
    this.#word |= value << this.#filled;
    this.#filled += count;
    if (this.#filled < 32) return;
    this.#words[this.#at++] = this.#word;
    this.#filled -= 32;
    this.#word = this.#filled === 0 ? 0 : value >>> (count - this.#filled);
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
    if (this.#filled > 0) this.#words[this.#at++] = this.#word;
    return new Uint8Array(this.#words.buffer, 0, this.#at * 4);
  }
}

export class BitReader {
  readonly #words: Uint32Array;
  #at = 0;
  #word = 0;
  #left = 0;

  constructor(words: Uint32Array) {
    this.#words = words;
  }

  /** Number of bits read so far. */
  get taken(): number {
    return this.#at * 32 - this.#left;
  }

  /** Reads the next `count` (1 to 32) bits. */
  take(count: number): number {
    const mask = count === 32 ? -1 : (1 << count) - 1;
    let bits = this.#word;
    if (this.#left < count) {
      if (this.#at === this.#words.length) throw new MalformedBlock("the stream of bits ends early");
      const next = this.#words[this.#at++]!;
      bits = this.#left === 0 ? next : bits | (next << this.#left);
      const used = count - this.#left;
      this.#word = used === 32 ? 0 : next >>> used;
      this.#left = 32 - used;
    } else {
      this.#word = bits >>> count;
      this.#left -= count;
    }
    return (bits & mask) >>> 0;
  }

  /** The reverse of `BitWriter.gamma`. */
  gamma(): number {
    let zeros = 0;
    while (this.take(1) === 0) if (++zeros > 16) throw new MalformedBlock("a number of too many bits");
    return zeros === 0 ? 0 : (1 << zeros) + this.take(zeros) - 1;
  }
}

/** Reads `count` words. The result is an aligned copy with a zero after the last word. */
export function readWords(reader: ByteReader, count: number): Uint32Array {
  const bytes = reader.bytes(count * 4);
  const words = new Uint32Array(count + 1);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}
