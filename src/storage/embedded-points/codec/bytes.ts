// Writes little-endian bytes to a growing buffer, and reads them with every access checked against the end.
import { endianness } from "node:os";
import { invariant } from "../../../lib/invariant.ts";
import type { Kernels } from "../../kernels.ts";

// Typed arrays are copied to and from blocks in memory order.
invariant(endianness() === "LE", "the blocks of the points engine are little-endian, and so is this machine");

/** V8 keeps typed arrays of up to 64 bytes on its heap, where they are cheap to create and collect. */
const startBytes = 64;

export class ByteWriter {
  #bytes = new Uint8Array(startBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    // Two statements, because growing replaces the buffer.
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  u32(value: number): void {
    const at = this.#grow(4);
    for (let byte = 0; byte < 4; byte++) this.#bytes[at + byte] = value >>> (8 * byte);
  }

  f64(value: number): void {
    this.bytes(new Uint8Array(Float64Array.of(value).buffer));
  }

  /**
   * An integer from 0 to 2^53: seven bits in each byte, low bits first, the high bit set on all but the last
   * byte.
   */
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.u8((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.u8(rest);
  }

  /** An integer within 2^52 of zero: 0, -1, 1, -2, ... become the varints 0, 1, 2, 3, ... */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** The bytes written. The writer must not be used afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Extends the buffer by `count` bytes and returns their offset. */
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

/** The bytes are not a block as FORMAT.md describes it. */
export class MalformedBlock extends Error {}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #kernels: Kernels | undefined;
  #at = 0;

  /** Columns are read with `kernels`. */
  constructor(bytes: Uint8Array, kernels?: Kernels) {
    this.#bytes = bytes;
    this.#kernels = kernels;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get kernels(): Kernels {
    invariant(this.#kernels !== undefined, "columns are read with kernels");
    return this.#kernels;
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
    throw new MalformedBlock("a varint has more than eight bytes");
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

  /** A view of all remaining bytes. */
  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length)
      throw new MalformedBlock(`${this.#bytes.length - this.#at} bytes are left`);
  }

  #take(count: number): number {
    const at = this.#at;
    const left = this.#bytes.length - at;
    if (!(count >= 0 && count <= left))
      throw new MalformedBlock(`${count} bytes wanted where ${left} are left`);
    this.#at += count;
    return at;
  }
}
