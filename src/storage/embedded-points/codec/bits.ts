// A stream of bits in 32-bit words, the first in the lowest bits.
import { type ByteReader, Malformed } from "./bytes.ts";

export class BitWriter {
  readonly #words: Uint32Array;
  #at = 0;
  #word = 0;
  #filled = 0;

  constructor(bitsMax: number) {
    this.#words = new Uint32Array(Math.ceil(bitsMax / 32));
  }

  /** Bits written so far. */
  get length(): number {
    return this.#at * 32 + this.#filled;
  }

  /** `count` (0 to 32) low bits of `value`; bits above them must be clear. */
  bits(value: number, count: number): void {
    this.#word |= value << this.#filled;
    this.#filled += count;
    if (this.#filled < 32) return;
    this.#words[this.#at++] = this.#word;
    this.#filled -= 32;
    this.#word = this.#filled === 0 ? 0 : value >>> (count - this.#filled);
  }

  /** A whole number below 2^16 - 1; of n + 1 with b bits, b - 1 zeros, a one and the low b - 1 bits. */
  gamma(value: number): void {
    const zeros = 31 - Math.clz32(value + 1);
    this.bits(0, zeros);
    // The highest bit comes first, so that it ends the zeros.
    this.bits(1 | ((value + 1 - (1 << zeros)) << 1), zeros + 1);
  }

  /** Whole words, the last filled up with zeros. */
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

  /** Bits taken so far. */
  get taken(): number {
    return this.#at * 32 - this.#left;
  }

  /** The next `count` (1 to 32) bits. */
  take(count: number): number {
    const mask = count === 32 ? -1 : (1 << count) - 1;
    let bits = this.#word;
    if (this.#left < count) {
      if (this.#at === this.#words.length) throw new Malformed("the stream of bits ends early");
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
    while (this.take(1) === 0) if (++zeros > 16) throw new Malformed("a number of too many bits");
    return zeros === 0 ? 0 : (1 << zeros) + this.take(zeros) - 1;
  }
}

/** The next `count` words, copied so that they are aligned, and a zero behind them. */
export function readWords(reader: ByteReader, count: number): Uint32Array {
  const bytes = reader.bytes(count * 4);
  const words = new Uint32Array(count + 1);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}
