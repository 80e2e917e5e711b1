// Encodes and decodes blocks of columns in ClickHouse's Native format, little-endian.
//
// Native has the number of rows before the columns. So ClickHouse refuses a body that was cut off, where it
// would store the first rows of one in a row format.
import { invariant } from "../../lib/invariant.ts";
import { textOf } from "../../lib/utf8.ts";

/** Integers up to 2^53 in a column of UInt64 or Int64. */
export interface IntegerColumn {
  readonly name: string;
  readonly type: "UInt64" | "Int64";
  readonly values: Float64Array;
}

export interface FloatColumn {
  readonly name: string;
  readonly type: "Float64";
  readonly values: Float64Array;
}

export interface StringColumn {
  readonly name: string;
  readonly type: "String";
  readonly values: readonly string[];
}

export type NativeColumn = IntegerColumn | FloatColumn | StringColumn;

/** The columns of a result by name. Integers are numbers; those beyond 2^53 are rounded. */
export interface NativeRows {
  numbers(name: string): Float64Array;
  strings(name: string): readonly string[];
}

const high = 2 ** 32;

/** Encodes one block. All columns have `rows` values. */
export function encodeBlock(rows: number, columns: readonly NativeColumn[]): Buffer {
  const parts: Uint8Array[] = [varints(columns.length, rows)];
  for (const column of columns) {
    invariant(column.values.length === rows, "columns of a block have equal lengths");
    parts.push(encodeString(column.name), encodeString(column.type), encodeValues(column));
  }
  return Buffer.concat(parts);
}

function encodeValues(column: NativeColumn): Uint8Array {
  if (column.type === "String") return encodeStrings(column.values);
  if (column.type === "Float64") return bytesOf(column.values);
  const { values } = column;
  const words = new Uint32Array(values.length * 2);
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    words[index * 2] = value;
    words[index * 2 + 1] = Math.floor(value / high);
  }
  return bytesOf(words);
}

/** A column of String without its head. */
export function encodeStrings(values: readonly string[]): Uint8Array {
  // A character has at most three bytes in UTF-8; the length before a string has at most five.
  let bytesMax = 0;
  for (const value of values) bytesMax += value.length * 3 + 5;
  const target = Buffer.allocUnsafe(bytesMax);
  let at = 0;
  for (const value of values) {
    if (value.isWellFormed()) {
      at = writeVarint(target, at, Buffer.byteLength(value));
      at += target.write(value, at);
    } else {
      const bytes = encodeIllFormed(value);
      at = writeVarint(target, at, bytes.length);
      at += bytes.copy(target, at);
    }
  }
  return target.subarray(0, at);
}

/** A code unit without its pair is encoded as UTF-8 encodes other characters, in three bytes. */
function encodeIllFormed(text: string): Buffer {
  const parts = Array.from(text, (character) => {
    if (character.isWellFormed()) return Buffer.from(character);
    const unit = character.charCodeAt(0);
    return Buffer.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63));
  });
  return Buffer.concat(parts);
}

/** The reverse of `encodeIllFormed`. */
function decodeIllFormed(bytes: Buffer): string {
  let text = "";
  let from = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isUnpaired = bytes[at] === 0xed && bytes[at + 1]! >= 0xa0;
    if (!isUnpaired) continue;
    const unit = 0xd000 | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63);
    text += bytes.toString("utf8", from, at) + String.fromCharCode(unit);
    from = at + 3;
    at += 2;
  }
  return text + bytes.toString("utf8", from);
}

interface BlockShape {
  readonly columns: number;
  readonly rows: number;
}

/** Of the two counts, and of the name and the type of a column. */
const headBytesMax = 64;

/** At least the bytes of a block without its strings. */
export const bytesOfBlock = ({ columns, rows }: BlockShape): number =>
  (columns + 1) * headBytesMax + columns * rows * 8;

/** Fewer numbers are written one by one, which takes less time than a view of them. */
const copiedAtOnce = 64;

/** Writes one block into a buffer, column by column. */
export class BlockWriter {
  readonly #target: Buffer;
  readonly #view: DataView;
  #at = 0;

  /** The buffer has at least `bytesOfBlock` bytes, and those of the strings. */
  constructor(target: Buffer, { columns, rows }: BlockShape) {
    this.#target = target;
    this.#view = new DataView(target.buffer, target.byteOffset, target.length);
    this.bytes(varints(columns, rows));
  }

  get block(): Buffer {
    return this.#target.subarray(0, this.#at);
  }

  /** Begins a column. Its values follow. */
  begin(name: string, type: "UInt64" | "Int64" | "Float64" | "String"): void {
    this.bytes(encodeString(name));
    this.bytes(encodeString(type));
  }

  /** Writes integers up to 2^53: those from index `from` up to `to`. */
  integers(values: Float64Array, from: number, to: number): void {
    for (let index = from; index < to; index++, this.#at += 8) this.#integer(values[index]!);
  }

  /** Writes an integer several times. */
  repeat(value: number, times: number): void {
    for (let left = times; left > 0; left--, this.#at += 8) this.#integer(value);
  }

  #integer(value: number): void {
    this.#view.setUint32(this.#at, value, true);
    this.#view.setInt32(this.#at + 4, Math.floor(value / high), true);
  }

  /** Writes those from index `from` up to `to`. */
  floats(values: Float64Array, from: number, to: number): void {
    if (to - from >= copiedAtOnce) this.bytes(bytesOf(values.subarray(from, to)));
    else
      for (let index = from; index < to; index++, this.#at += 8)
        this.#view.setFloat64(this.#at, values[index]!, true);
  }

  bytes(bytes: Uint8Array): void {
    this.#target.set(bytes, this.#at);
    this.#at += bytes.length;
  }
}

/** The values of a numeric column in one block. */
interface EncodedNumbers {
  readonly at: number;
  readonly rows: number;
  readonly type: string;
}

/**
 * Decodes all blocks of a result, each column of numbers into one array. Nothing of `bytes` is used later.
 */
export function decodeBlocks(bytes: Buffer): NativeRows {
  const reader = new NativeReader(bytes);
  const numbers = new Map<string, EncodedNumbers[]>();
  const strings = new Map<string, string[]>();
  while (!reader.isAtEnd) {
    const columns = reader.varint();
    const rows = reader.varint();
    for (let column = 0; column < columns; column++) {
      const name = reader.string();
      const type = reader.string();
      if (type === "String") {
        const all = strings.get(name) ?? [];
        strings.set(name, all);
        for (let row = 0; row < rows; row++) all.push(reader.string());
      } else {
        const all = numbers.get(name) ?? [];
        numbers.set(name, all);
        all.push({ at: reader.skipNumbers(type, rows), rows, type });
      }
    }
  }
  const decoded = new Map([...numbers].map(([name, parts]) => [name, decodeNumbers(bytes, parts)]));
  return {
    numbers: (name) => decoded.get(name) ?? new Float64Array(0),
    strings: (name) => strings.get(name) ?? [],
  };
}

function decodeNumbers(bytes: Buffer, parts: readonly EncodedNumbers[]): Float64Array {
  const values = new Float64Array(parts.reduce((sum, { rows }) => sum + rows, 0));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let to = 0;
  for (const { at, rows, type } of parts) {
    if (type === "Float64")
      bytesOf(values).set(bytes.subarray(at, at + rows * sizeOf(type)), to * values.BYTES_PER_ELEMENT);
    else if (type === "UInt8") values.set(bytes.subarray(at, at + rows), to);
    else decodeIntegers(view, { at, rows, type }, values, to);
    to += rows;
  }
  return values;
}

function decodeIntegers(
  view: DataView,
  { at, rows, type }: EncodedNumbers,
  values: Float64Array,
  to: number,
): void {
  if (type === "Int64")
    for (let row = 0, from = at; row < rows; row++, from += 8)
      values[to + row] = view.getInt32(from + 4, true) * high + view.getUint32(from, true);
  else
    for (let row = 0, from = at; row < rows; row++, from += 8)
      values[to + row] = view.getUint32(from + 4, true) * high + view.getUint32(from, true);
}

function sizeOf(type: string): number {
  if (type === "UInt8") return 1;
  invariant(["UInt64", "Int64", "Float64"].includes(type), `the type ${type} is decoded`);
  return 8;
}

class NativeReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.#at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  string(): string {
    const length = this.varint();
    invariant(this.#at + length <= this.#bytes.length, "a result of ClickHouse is complete");
    const start = this.#at;
    this.#at += length;
    const text = textOf(this.#bytes, start, this.#at);
    return text ?? decodeIllFormed(this.#bytes.subarray(start, this.#at));
  }

  /** Returns where the values begin. */
  skipNumbers(type: string, rows: number): number {
    const at = this.#at;
    this.#at += rows * sizeOf(type);
    invariant(this.#at <= this.#bytes.length, "a result of ClickHouse is complete");
    return at;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

function encodeString(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return Buffer.concat([varints(bytes.length), bytes]);
}

function varints(...values: readonly number[]): Uint8Array {
  const target = Buffer.allocUnsafe(values.length * 8);
  let at = 0;
  for (const value of values) at = writeVarint(target, at, value);
  return target.subarray(0, at);
}

function writeVarint(target: Buffer, at: number, value: number): number {
  let [rest, end] = [value, at];
  for (; rest >= 128; rest = Math.floor(rest / 128)) target[end++] = (rest % 128) | 128;
  target[end++] = rest;
  return end;
}
