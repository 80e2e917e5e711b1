// One request as bytes of the journal and back (FORMAT.md, "Journal").
import { crc32 } from "node:zlib";
import type { PointBatch, PointRuns } from "../points.ts";
import type { Change } from "./change.ts";

const magic = 0x464a524d; // "MRJF"
const headerBytes = 32;
const sectionBytes = 32;
const timesVerbatim = 0;
const timesRegular = 1;
const timesOffsets = 2;
/** Strings are UTF-8, or UTF-16 when one of them holds half of a surrogate pair. */
const encodings = ["utf8", "utf16le"] as const;
const utf8 = 0;
const wide = 1;
const kindAppend = 1;
const kindErase = 2;

export interface Frame {
  /** Position of the change in the order of all changes, from 1. */
  readonly sequence: number;
  /** Everything up to this sequence number was on disk when the frame was written. */
  readonly durable: number;
  readonly change: Change;
  readonly bytes: number;
}

/**
 * The frame as pieces to be written one after the other: the columns themselves where possible, no copies.
 */
export function encodeFrame({ sequence, durable, change }: Omit<Frame, "bytes">): Uint8Array[] {
  const payload = change.kind === "append" ? appendPieces(change.batch) : [erasePiece(change)];
  const header = new DataView(new ArrayBuffer(headerBytes));
  header.setUint32(0, magic, true);
  header.setFloat64(8, sequence, true);
  header.setFloat64(16, durable, true);
  header.setUint32(24, sizeOf(payload), true);
  header.setUint32(28, change.kind === "append" ? kindAppend : kindErase, true);
  let checksum = crc32(new Uint8Array(header.buffer, 8));
  for (const piece of payload) checksum = crc32(piece, checksum);
  header.setUint32(4, checksum, true);
  return [new Uint8Array(header.buffer), ...payload];
}

export const sizeOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.byteLength, 0);

/** Tells fast where no frame begins: a torn end of many megabytes is searched in steps of 8 bytes. */
export const looksLikeFrame = (segment: DataView, offset: number): boolean =>
  offset + headerBytes <= segment.byteLength && segment.getUint32(offset, true) === magic;

/**
 * The frame at `offset` of a segment, a multiple of 8, in arrays of its own; `undefined` when none is whole
 * there.
 */
export function decodeFrame(segment: Uint8Array<ArrayBuffer>, offset: number): Frame | undefined {
  if (offset + headerBytes > segment.byteLength) return undefined;
  const header = new DataView(segment.buffer, segment.byteOffset + offset, headerBytes);
  const length = header.getUint32(24, true);
  const bytes = headerBytes + length;
  if (header.getUint32(0, true) !== magic || length % 8 !== 0) return undefined;
  if (offset + bytes > segment.byteLength) return undefined;
  if (crc32(segment.subarray(offset + 8, offset + bytes)) !== header.getUint32(4, true)) return undefined;
  const change = readChange(
    segment.subarray(offset + headerBytes, offset + bytes),
    header.getUint32(28, true),
  );
  if (change === undefined) return undefined;
  return { sequence: header.getFloat64(8, true), durable: header.getFloat64(16, true), change, bytes };
}

/**
 * With a right checksum only another program can have written a payload that is none: it is no whole frame,
 * and no reason not to start.
 */
function readChange(payload: Uint8Array<ArrayBuffer>, kind: number): Change | undefined {
  const reader = new Columns(payload);
  try {
    const change = kind === kindErase ? readErase(reader) : readAppend(reader);
    return reader.left === 0 ? change : undefined;
  } catch (why) {
    if (why instanceof RangeError) return undefined;
    throw why;
  }
}

function erasePiece(change: Change & { kind: "erase" }): Uint8Array {
  const { series, range } = change;
  const start = range?.startMs ?? -Infinity;
  return bytesOfView(Float64Array.of(series, range === undefined ? 0 : 1, start, range?.endMs ?? Infinity));
}

function readErase(reader: Columns): Change {
  const [series, hasRange, startMs, endMs] = reader.doubles(4) as unknown as [number, number, number, number];
  return hasRange === 0 ? { kind: "erase", series } : { kind: "erase", series, range: { startMs, endMs } };
}

function appendPieces({ numbers, strings }: PointBatch): Uint8Array[] {
  const encoding = strings?.values.every((text) => text.isWellFormed()) === false ? wide : utf8;
  return [
    ...sectionPieces(numbers, { encoding: utf8, values: numbers ? [bytesOfView(numbers.values)] : [] }),
    ...sectionPieces(strings, { encoding, values: textPieces(strings?.values ?? [], encoding) }),
  ];
}

/** All texts in one piece: they can be as large as a body, so no other copy of them is made. */
function textPieces(values: readonly string[], encoding: number): Uint8Array[] {
  const name = encodings[encoding]!;
  const lengths = Uint32Array.from(values, (text) => Buffer.byteLength(text, name));
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const text of values) at += bytes.write(text, at, name);
  return [...padded(bytesOfView(lengths)), ...padded(bytes)];
}

function sectionPieces(
  runs: PointRuns<unknown> | undefined,
  { encoding, values }: { encoding: number; values: Uint8Array[] },
): Uint8Array[] {
  const section = new DataView(new ArrayBuffer(sectionBytes));
  if (runs === undefined) return [new Uint8Array(section.buffer)];
  const times = timesOf(runs.times);
  section.setUint32(0, runs.series.length, true);
  section.setUint32(4, runs.times.length, true);
  section.setUint32(8, times.mode, true);
  section.setUint32(12, encoding, true);
  section.setFloat64(16, times.base, true);
  section.setFloat64(24, times.step, true);
  const pieces = [
    new Uint8Array(section.buffer),
    bytesOfView(runs.series),
    ...padded(bytesOfView(runs.ends)),
  ];
  return [...pieces, ...times.pieces, ...values];
}

function readAppend(reader: Columns): Change {
  const numbers = readSection(reader, (count) => reader.doubles(count));
  const strings = readSection(reader, (count, encoding) => reader.texts(count, encoding));
  return { kind: "append", batch: { ...(numbers && { numbers }), ...(strings && { strings }) } };
}

function readSection<Values>(
  reader: Columns,
  readValues: (count: number, encoding: number) => Values,
): PointRuns<Values> | undefined {
  const [runs, points, mode, encoding] = reader.words(4) as unknown as [number, number, number, number];
  const [base, step] = reader.doubles(2) as unknown as [number, number];
  if (runs === 0) return undefined;
  if (points * 4 > reader.left) throw new RangeError("more points than bytes");
  const series = reader.doubles(runs);
  const ends = reader.words(runs);
  const times = readTimes(reader, { mode, points, base, step });
  return { series, ends, times, values: readValues(points, encoding) };
}

/**
 * How a column of times is written: as start and step, as offsets of 4 bytes from the earliest, or as it is.
 */
function timesOf(times: Float64Array): { mode: number; base: number; step: number; pieces: Uint8Array[] } {
  const base = times[0] ?? 0;
  const step = times.length > 1 ? times[1]! - base : 0;
  let isRegular = true;
  let [least, greatest] = [base, base];
  for (let i = 0; i < times.length; i++) {
    const timeMs = times[i]!;
    if (timeMs !== base + i * step) isRegular = false;
    if (timeMs < least) least = timeMs;
    if (timeMs > greatest) greatest = timeMs;
  }
  if (isRegular) return { mode: timesRegular, base, step, pieces: [] };
  if (greatest - least >= 2 ** 32)
    return { mode: timesVerbatim, base: 0, step: 0, pieces: [bytesOfView(times)] };
  const offsets = new Uint32Array(times.length);
  for (let i = 0; i < times.length; i++) offsets[i] = times[i]! - least;
  return { mode: timesOffsets, base: least, step: 0, pieces: padded(bytesOfView(offsets)) };
}

function readTimes(
  reader: Columns,
  { mode, points, base, step }: { mode: number; points: number; base: number; step: number },
): Float64Array {
  if (mode === timesVerbatim) return reader.doubles(points);
  const times = new Float64Array(points);
  const offsets = mode === timesOffsets ? reader.words(points) : undefined;
  for (let i = 0; i < points; i++) times[i] = base + (offsets === undefined ? i * step : offsets[i]!);
  return times;
}

const bytesOfView = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

function padded(bytes: Uint8Array): Uint8Array[] {
  const rest = bytes.byteLength % 8;
  return rest === 0 ? [bytes] : [bytes, new Uint8Array(8 - rest)];
}

/**
 * Reads columns one after the other, each from the next multiple of 8. Throws `RangeError` behind the end.
 */
class Columns {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  doubles(count: number): Float64Array {
    return new Float64Array(this.#take(count * 8));
  }

  words(count: number): Uint32Array {
    return new Uint32Array(this.#take(count * 4));
  }

  texts(count: number, encoding: number): string[] {
    const lengths = this.words(count);
    const bytes = Buffer.from(this.#take(lengths.reduce((sum, length) => sum + length, 0)));
    let at = 0;
    return Array.from(lengths, (length) => {
      at += length;
      return bytes.toString(encodings[encoding], at - length, at);
    });
  }

  #take(bytes: number): ArrayBuffer {
    const from = this.#bytes.byteOffset + this.#at;
    if (bytes > this.left) throw new RangeError("a column is longer than its frame");
    this.#at += Math.ceil(bytes / 8) * 8;
    return this.#bytes.buffer.slice(from, from + bytes);
  }
}
