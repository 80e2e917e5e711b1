// Collects points of many series, and writes them as one protobuf insert
// (docs/reference/datapoints.md#protobuf).
import { limits } from "../limits.ts";
import type { Value } from "./samples.ts";

interface Column {
  readonly name: Buffer;
  readonly isString: boolean;
  times: Float64Array;
  /** Of a series of numbers. */
  numbers: Float64Array;
  readonly strings: string[];
  count: number;
}

const lengthDelimited = 2;
const tagOf = (field: number, wireType: number) => (field << 3) | wireType;

/** Bytes of a number point: its tag and length, the time of six bytes after a tag, the value after a tag. */
const numberBytes = 2 + 1 + 6 + 1 + 8;

/** Of each series. V8 allocates arrays of up to 64 bytes much faster than longer ones. */
const firstPoints = 8;

export class PointMessage {
  readonly #columns: readonly Column[];
  #points = 0;

  constructor(series: readonly { readonly name: string; readonly kind: string }[]) {
    this.#columns = series.map(({ name, kind }) => ({
      ...{ name: Buffer.from(name), isString: kind === "string" },
      ...{
        times: new Float64Array(firstPoints),
        numbers: new Float64Array(firstPoints),
        strings: [],
        count: 0,
      },
    }));
  }

  get points(): number {
    return this.#points;
  }

  /** Whether an insert could not take as many points again as there are series. */
  get isFull(): boolean {
    return this.#points > limits.pointsPerWriteMax - this.#columns.length;
  }

  add(series: number, ms: number, value: Value): void {
    const column = this.#columns[series]!;
    if (column.count === column.times.length) {
      column.times = twiceAsLong(column.times);
      column.numbers = twiceAsLong(column.numbers);
    }
    column.times[column.count] = ms;
    if (typeof value === "number") column.numbers[column.count] = value;
    else column.strings[column.count] = value;
    column.count += 1;
    this.#points += 1;
  }

  /** The body of an insert with all points; none are left. */
  take(): Uint8Array<ArrayBuffer> {
    const written = this.#columns.filter(({ count }) => count > 0);
    const sizes = written.map(sizeOf);
    const total = sizes.reduce((sum, size) => sum + 1 + varintBytes(size) + size, 0);
    const writer = new Writer(total);
    for (const [at, column] of written.entries()) {
      writer.length(tagOf(1, lengthDelimited), sizes[at]!);
      writeColumn(writer, column);
      column.count = 0;
    }
    this.#points = 0;
    return writer.bytes;
  }
}

function twiceAsLong(values: Float64Array): Float64Array {
  const longer = new Float64Array(values.length * 2);
  longer.set(values);
  return longer;
}

const pointsSize = ({ isString, strings, count }: Column): number => {
  if (!isString) return count * numberBytes;
  let size = 0;
  for (let at = 0; at < count; at++) {
    const point = stringPointSize(strings[at]!);
    size += 1 + varintBytes(point) + point;
  }
  return size;
};

const stringPointSize = (value: string): number => {
  const length = Buffer.byteLength(value);
  return 1 + 6 + 1 + varintBytes(length) + length;
};

function sizeOf(column: Column): number {
  const points = pointsSize(column);
  const { length } = column.name;
  return 1 + varintBytes(length) + length + 1 + varintBytes(points) + points;
}

function writeColumn(writer: Writer, column: Column): void {
  const { name, isString, times, numbers, strings, count } = column;
  writer.length(tagOf(1, lengthDelimited), name.length);
  writer.raw(name);
  writer.length(tagOf(isString ? 2 : 3, lengthDelimited), pointsSize(column));
  for (let at = 0; at < count; at++)
    if (isString) writer.stringPoint(times[at]!, strings[at]!);
    else writer.numberPoint(times[at]!, numbers[at]!);
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

class Writer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  length(tag: number, length: number): void {
    this.bytes[this.#at++] = tag;
    let rest = length;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.#at++] = (rest % 128) | 128;
    this.bytes[this.#at++] = rest;
  }

  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  numberPoint(ms: number, value: number): void {
    this.length(tagOf(1, lengthDelimited), numberBytes - 2);
    this.#time(ms);
    this.bytes[this.#at] = tagOf(2, 1);
    this.#view.setFloat64(this.#at + 1, value, true);
    this.#at += 9;
  }

  stringPoint(ms: number, value: string): void {
    this.length(tagOf(1, lengthDelimited), stringPointSize(value));
    this.#time(ms);
    const text = Buffer.from(value);
    this.length(tagOf(2, lengthDelimited), text.length);
    this.raw(text);
  }

  /** Six bytes: times between 1971 and 2109. */
  #time(ms: number): void {
    const { bytes } = this;
    const [low, high] = [ms % 2 ** 28, Math.floor(ms / 2 ** 28)];
    bytes[this.#at++] = tagOf(1, 0);
    bytes[this.#at++] = (low & 127) | 128;
    bytes[this.#at++] = ((low >>> 7) & 127) | 128;
    bytes[this.#at++] = ((low >>> 14) & 127) | 128;
    bytes[this.#at++] = ((low >>> 21) & 127) | 128;
    bytes[this.#at++] = (high & 127) | 128;
    bytes[this.#at++] = (high >>> 7) & 127;
  }
}

/** A message with one number of each series at the same time. */
export function messageOfNumbers(
  names: readonly string[],
  timeMs: number,
  valueAt: (index: number) => number,
): Uint8Array<ArrayBuffer> {
  const message = new PointMessage(names.map((name) => ({ name, kind: "number" })));
  for (const at of names.keys()) message.add(at, timeMs, valueAt(at));
  return message.take();
}
