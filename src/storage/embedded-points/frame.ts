// One request as bytes of the journal and back (FORMAT.md, "Journal").
import { crc32 } from "node:zlib";
import type { PointRuns } from "../points.ts";
import type { Change } from "./change.ts";

const magic = 0x464a524d; // "MRJF"
const headerBytes = 32;
const sectionBytes = 32;
const erasureBytes = 32;
const timesVerbatim = 0;
const timesRegular = 1;
const timesOffsets = 2;
/** Strings are UTF-8, or UTF-16 when one of them holds half of a surrogate pair. */
const encodings = ["utf8", "utf16le"] as const;
const utf8 = 0;
const wide = 1;
const kindAppend = 1;
const kindErase = 2;
const kindMark = 3;

export interface Frame {
  /** Position of the change in the order of all changes, from 1. */
  readonly sequence: number;
  /** Everything up to this sequence number was on disk when the frame was written. */
  readonly durable: number;
  readonly change: Change;
  /** Its bytes, in the segment it was read from. */
  readonly raw: Uint8Array;
}

/** A frame without a change: it only says what was on disk when it was written. */
export interface Mark extends Pick<Frame, "sequence" | "durable" | "raw"> {
  readonly change: undefined;
}

/** Of a mark; every frame with a change is longer. */
export const markBytes = headerBytes;

/** What a frame is going to hold, and how many bytes that takes. */
export interface FramePlan {
  readonly change: Change;
  readonly bytes: number;
  readonly numbers?: SectionPlan | undefined;
  readonly strings?: SectionPlan | undefined;
}

export function planFrame(change: Change): FramePlan {
  if (change.kind === "erase") return { change, bytes: headerBytes + erasureBytes };
  const numbers = change.batch.numbers && planNumbers(change.batch.numbers);
  const strings = change.batch.strings && planStrings(change.batch.strings);
  const bytes = headerBytes + sizeOfSection(numbers) + sizeOfSection(strings);
  return { change, bytes, numbers, strings };
}

/** Writes the frame over as many bytes, which begin at a multiple of 8. */
export function writeFrame(
  { change, numbers, strings }: FramePlan,
  { sequence, durable }: Pick<Frame, "sequence" | "durable">,
  into: Uint8Array,
): void {
  const columns = new ColumnWriter(into, headerBytes);
  if (change.kind === "erase") columns.doubles(erasureOf(change));
  else for (const section of [numbers, strings]) writeSection(columns, section);
  writeHeader(into, { sequence, durable, kind: change.kind === "append" ? kindAppend : kindErase });
}

/** The bytes of a mark: all changes up to `durable` are on disk. */
export function markFrame(durable: number): Uint8Array {
  const bytes = new Uint8Array(markBytes);
  writeHeader(bytes, { sequence: durable, durable, kind: kindMark });
  return bytes;
}

function writeHeader(
  into: Uint8Array,
  { sequence, durable, kind }: { sequence: number; durable: number; kind: number },
): void {
  const header = new DataView(into.buffer, into.byteOffset, headerBytes);
  header.setUint32(0, magic, true);
  header.setFloat64(8, sequence, true);
  header.setFloat64(16, durable, true);
  header.setUint32(24, into.byteLength - headerBytes, true);
  header.setUint32(28, kind, true);
  header.setUint32(4, crc32(into.subarray(8)), true);
}

/** Tells fast where no frame begins: a torn end of many megabytes is searched in steps of 8 bytes. */
export const looksLikeFrame = (segment: DataView, offset: number): boolean =>
  offset + headerBytes <= segment.byteLength && segment.getUint32(offset, true) === magic;

/**
 * The frame or the mark at `offset` of a segment, a multiple of 8, in arrays of its own; `undefined` when
 * none is whole there.
 */
export function decodeFrame(segment: Uint8Array<ArrayBuffer>, offset: number): Frame | Mark | undefined {
  if (offset + headerBytes > segment.byteLength) return undefined;
  const header = new DataView(segment.buffer, segment.byteOffset + offset, headerBytes);
  const length = header.getUint32(24, true);
  const bytes = headerBytes + length;
  if (header.getUint32(0, true) !== magic || length % 8 !== 0) return undefined;
  if (offset + bytes > segment.byteLength) return undefined;
  if (crc32(segment.subarray(offset + 8, offset + bytes)) !== header.getUint32(4, true)) return undefined;
  const raw = segment.subarray(offset, offset + bytes);
  const kind = header.getUint32(28, true);
  const said = { sequence: header.getFloat64(8, true), durable: header.getFloat64(16, true), raw };
  if (kind === kindMark) return { ...said, change: undefined };
  const change = readChange(segment.subarray(offset + headerBytes, offset + bytes), kind);
  return change && { ...said, change };
}

/**
 * The change in a frame that `writeFrame` has written, as views of its bytes where that is possible. Of texts
 * only those of series that are wanted are read.
 */
export function changeIn(frame: Uint8Array, isWanted: (series: number) => boolean): Change {
  const kind = new DataView(frame.buffer, frame.byteOffset).getUint32(28, true);
  const reader = new ColumnReader(frame.subarray(headerBytes), { isView: true });
  return kind === kindErase ? readErase(reader) : readAppend(reader, isWanted);
}

/**
 * With a right checksum only another program can have written a payload that is none: it is no whole frame,
 * and no reason not to start.
 */
function readChange(payload: Uint8Array<ArrayBuffer>, kind: number): Change | undefined {
  const reader = new ColumnReader(payload, { isView: false });
  try {
    const change = kind === kindErase ? readErase(reader) : readAppend(reader, () => true);
    return reader.left === 0 ? change : undefined;
  } catch (why) {
    if (why instanceof RangeError) return undefined;
    throw why;
  }
}

function erasureOf({ series, range }: Change & { kind: "erase" }): Float64Array {
  const start = range?.startMs ?? -Infinity;
  return Float64Array.of(series, range === undefined ? 0 : 1, start, range?.endMs ?? Infinity);
}

function readErase(reader: ColumnReader): Change {
  const [series, hasRange, startMs, endMs] = reader.doubles(4) as unknown as [number, number, number, number];
  return hasRange === 0 ? { kind: "erase", series } : { kind: "erase", series, range: { startMs, endMs } };
}

interface SectionPlan {
  readonly runs: PointRuns<unknown>;
  readonly times: TimesPlan;
  readonly encoding: number;
  /** Of the values, filled up to a multiple of 8. */
  readonly valueBytes: number;
  readonly writeValues: (columns: ColumnWriter) => void;
}

function planNumbers(runs: PointRuns<Float64Array>): SectionPlan {
  const { values } = runs;
  const writeValues = (columns: ColumnWriter) => columns.doubles(values);
  return { runs, times: planTimes(runs.times), encoding: utf8, valueBytes: values.byteLength, writeValues };
}

function planStrings(runs: PointRuns<readonly string[]>): SectionPlan {
  const { values } = runs;
  const encoding = values.every((text) => text.isWellFormed()) ? utf8 : wide;
  const lengths = Uint32Array.from(values, (text) => Buffer.byteLength(text, encodings[encoding]));
  const textBytes = lengths.reduce((sum, length) => sum + length, 0);
  const writeValues = (columns: ColumnWriter) => {
    columns.words(lengths);
    columns.texts(values, encodings[encoding]!);
  };
  const valueBytes = padded(lengths.byteLength) + padded(textBytes);
  return { runs, times: planTimes(runs.times), encoding, valueBytes, writeValues };
}

function sizeOfSection(plan: SectionPlan | undefined): number {
  if (plan === undefined) return sectionBytes;
  const { runs, times, valueBytes } = plan;
  const count = runs.series.length;
  return sectionBytes + count * 8 + padded(count * 4) + padded(times.width * runs.times.length) + valueBytes;
}

function writeSection(columns: ColumnWriter, plan: SectionPlan | undefined): void {
  if (plan === undefined) {
    columns.words(new Uint32Array(sectionBytes / 4));
    return;
  }
  const { runs, times, encoding, writeValues } = plan;
  columns.words(Uint32Array.of(runs.series.length, runs.times.length, times.mode, encoding));
  columns.doubles(Float64Array.of(times.base, times.step));
  columns.doubles(runs.series);
  columns.words(runs.ends);
  if (times.mode === timesVerbatim) columns.doubles(runs.times);
  else if (times.mode === timesOffsets) columns.offsets(runs.times, times.base);
  writeValues(columns);
}

function readAppend(reader: ColumnReader, isWanted: (series: number) => boolean): Change {
  const numbers = readSection(reader, (count) => reader.doubles(count));
  const strings = readSection(reader, (count, encoding, { series, ends }) => {
    const isSkipped = new Uint8Array(count);
    for (let run = 0; run < series.length; run++)
      if (!isWanted(series[run]!)) isSkipped.fill(1, run === 0 ? 0 : ends[run - 1], ends[run]);
    return reader.texts(isSkipped, encoding);
  });
  return { kind: "append", batch: { ...(numbers && { numbers }), ...(strings && { strings }) } };
}

function readSection<Values>(
  reader: ColumnReader,
  readValues: (count: number, encoding: number, runs: Pick<PointRuns<never>, "series" | "ends">) => Values,
): PointRuns<Values> | undefined {
  const [runs, points, mode, encoding] = reader.words(4) as unknown as [number, number, number, number];
  const [base, step] = reader.doubles(2) as unknown as [number, number];
  if (runs === 0) return undefined;
  if (points * 4 > reader.left) throw new RangeError("more points than bytes");
  const series = reader.doubles(runs);
  const ends = reader.words(runs);
  const times = readTimes(reader, { mode, points, base, step });
  return { series, ends, times, values: readValues(points, encoding, { series, ends }) };
}

/** How a column of times is written: as start and step, as offsets from the earliest, or as it is. */
interface TimesPlan {
  readonly mode: number;
  readonly base: number;
  readonly step: number;
  /** Bytes of each. */
  readonly width: number;
}

function planTimes(times: Float64Array): TimesPlan {
  const base = times[0] ?? 0;
  const step = times.length > 1 ? times[1]! - base : 0;
  let regular = 0;
  while (regular < times.length && times[regular] === base + regular * step) regular++;
  if (regular === times.length) return { mode: timesRegular, base, step, width: 0 };
  let [least, greatest] = [base, base];
  for (let i = 0; i < times.length; i++) {
    const timeMs = times[i]!;
    if (timeMs < least) least = timeMs;
    if (timeMs > greatest) greatest = timeMs;
  }
  if (greatest - least >= 2 ** 32) return { mode: timesVerbatim, base: 0, step: 0, width: 8 };
  return { mode: timesOffsets, base: least, step: 0, width: 4 };
}

function readTimes(
  reader: ColumnReader,
  { mode, points, base, step }: { mode: number; points: number; base: number; step: number },
): Float64Array {
  if (mode === timesVerbatim) return reader.doubles(points);
  const times = new Float64Array(points);
  const offsets = mode === timesOffsets ? reader.words(points) : undefined;
  for (let i = 0; i < points; i++) times[i] = base + (offsets === undefined ? i * step : offsets[i]!);
  return times;
}

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Writes columns one after the other, each filled up with zeros to a multiple of 8 bytes. */
class ColumnWriter {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  doubles(column: Float64Array): void {
    new Float64Array(this.#bytes.buffer, this.#take(column.byteLength), column.length).set(column);
  }

  words(column: Uint32Array): void {
    new Uint32Array(this.#bytes.buffer, this.#take(column.byteLength), column.length).set(column);
  }

  /** What each time is later than `base`, in 4 bytes. */
  offsets(times: Float64Array, base: number): void {
    const offsets = new Uint32Array(this.#bytes.buffer, this.#take(times.length * 4), times.length);
    for (let i = 0; i < times.length; i++) offsets[i] = times[i]! - base;
  }

  texts(column: readonly string[], encoding: (typeof encodings)[number]): void {
    const { buffer } = this.#bytes;
    const from = this.#bytes.byteOffset + this.#at;
    const free = Buffer.from(buffer as ArrayBuffer, from, this.#bytes.byteLength - this.#at);
    let length = 0;
    for (const text of column) length += free.write(text, length, encoding);
    this.#take(length);
  }

  /** Moves on by as many bytes; the offset in the buffer where they begin. */
  #take(length: number): number {
    const at = this.#at;
    this.#at += padded(length);
    this.#bytes.fill(0, at + length, this.#at);
    return this.#bytes.byteOffset + at;
  }
}

/**
 * Reads columns one after the other, each from the next multiple of 8. Throws `RangeError` behind the end. As
 * views they live as long as the bytes do, which begin at a multiple of 8.
 */
class ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #isView: boolean;
  #at = 0;

  constructor(bytes: Uint8Array, { isView }: { isView: boolean }) {
    this.#bytes = bytes;
    this.#isView = isView;
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  doubles(count: number): Float64Array {
    const { buffer, offset } = this.#take(count * 8);
    return new Float64Array(buffer, offset, count);
  }

  words(count: number): Uint32Array {
    const { buffer, offset } = this.#take(count * 4);
    return new Uint32Array(buffer, offset, count);
  }

  /** A text for each; those that are skipped are empty. */
  texts(isSkipped: Uint8Array, encoding: number): string[] {
    const lengths = this.words(isSkipped.length);
    const { buffer, offset } = this.#take(lengths.reduce((sum, length) => sum + length, 0));
    const bytes = Buffer.from(buffer, offset);
    let at = 0;
    return Array.from(lengths, (length, index) => {
      at += length;
      return isSkipped[index] === 1 ? "" : bytes.toString(encodings[encoding], at - length, at);
    });
  }

  #take(length: number): { buffer: ArrayBuffer; offset: number } {
    if (length > this.left) throw new RangeError("a column is longer than its frame");
    const offset = this.#bytes.byteOffset + this.#at;
    this.#at += padded(length);
    const buffer = this.#bytes.buffer as ArrayBuffer;
    return this.#isView ? { buffer, offset } : { buffer: buffer.slice(offset, offset + length), offset: 0 };
  }
}
