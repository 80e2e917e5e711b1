// Little-endian bytes, written to a growing buffer and read back with every access checked against the end.
import { endianness } from "node:os";
import { invariant } from "../../../lib/invariant.ts";

// Typed arrays are copied to and from blocks as they lie in memory.
invariant(endianness() === "LE", "the blocks of the points engine are little-endian, and so is this machine");

/** Few enough for the heap of the language itself, where making and dropping arrays costs nearly nothing. */
const startBytes = 64;

const double = new Float64Array(1);
const bytesOfDouble = new Uint8Array(double.buffer);

export class ByteWriter {
  #bytes = new Uint8Array(startBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    // In two steps: growing replaces the buffer that the left-hand side would already have looked up.
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  u32(value: number): void {
    const at = this.#grow(4);
    for (let byte = 0; byte < 4; byte++) this.#bytes[at + byte] = value >>> (8 * byte);
  }

  f64(value: number): void {
    const at = this.#grow(8);
    double[0] = value;
    this.#bytes.set(bytesOfDouble, at);
  }

  /** A whole number from 0 to 2^53: seven bits a byte, low bits first, the high bit on all but the last. */
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.u8((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.u8(rest);
  }

  /** A whole number within 2^52 of zero: 0, -1, 1, -2, ... become the varints 0, 1, 2, 3, ... */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** What was written. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room for `count` bytes at the end and returns where they begin. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return at;
  }
}

/** The bytes do not hold what FORMAT.md says they hold. */
export class Malformed extends Error {}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#bytes[this.#take(1)]!;
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Malformed("a varint has more than eight bytes");
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  /** A view of the next `count` bytes. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    return this.#bytes.subarray(at, at + count);
  }

  /** A view of all that is left. */
  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length)
      throw new Malformed(`${this.#bytes.length - this.#at} bytes are left`);
  }

  #take(count: number): number {
    const at = this.#at;
    const left = this.#bytes.length - at;
    if (!(count >= 0 && count <= left)) throw new Malformed(`${count} bytes wanted where ${left} are left`);
    this.#at += count;
    return at;
  }
}
