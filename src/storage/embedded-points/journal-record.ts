// Encodes a change as a record of the journal, and decodes it (FORMAT.md, "Journal").
import { crc32 } from "node:zlib";
import type { PointRuns } from "../points.ts";
import type { Change } from "./change.ts";

const magic = 0x524a524d; // "MRJR"
const headerBytes = 32;
const sectionBytes = 32;
const deletionBytes = 32;
const timesVerbatim = 0;
const timesRegular = 1;
const timesOffsets = 2;
/** Strings are UTF-8, or UTF-16 when one of them has half of a surrogate pair. */
const encodings = ["utf8", "utf16le"] as const;
const utf8 = 0;
const utf16 = 1;
const kindAppend = 1;
const kindDelete = 2;
const kindMark = 3;

export interface JournalRecord {
  /** Number of the change; changes are counted from 1. */
  readonly sequence: number;
  /** The last change that was on disk when the record was written. */
  readonly durableSequence: number;
  readonly change: Change;
  /** The encoded record, a view of the segment it was read from. */
  readonly bytes: Uint8Array;
}

/** A record without a change: it only records that all changes up to `durableSequence` are on disk. */
export interface DurabilityMark extends Pick<JournalRecord, "sequence" | "durableSequence" | "bytes"> {
  readonly change: undefined;
}

/** Size of a mark. Every record with a change is larger. */
export const markBytes = headerBytes;

/** The layout of a record before it is written, so that its size is known. */
export interface RecordPlan {
  readonly change: Change;
  readonly bytes: number;
  readonly numbers?: SectionPlan | undefined;
  readonly strings?: SectionPlan | undefined;
}

export function planRecord(change: Change): RecordPlan {
  if (change.kind === "delete") return { change, bytes: headerBytes + deletionBytes };
  const numbers = change.batch.numbers && planNumbers(change.batch.numbers);
  const strings = change.batch.strings && planStrings(change.batch.strings);
  const bytes = headerBytes + sizeOfSection(numbers) + sizeOfSection(strings);
  return { change, bytes, numbers, strings };
}

/** Writes the record to `into`, which has the planned size and starts at a multiple of 8. */
export function writeRecord(
  { change, numbers, strings }: RecordPlan,
  { sequence, durableSequence }: Pick<JournalRecord, "sequence" | "durableSequence">,
  into: Uint8Array,
): void {
  const columns = new ColumnWriter(into, headerBytes);
  if (change.kind === "delete") columns.doubles(columnOfDeletion(change));
  else for (const section of [numbers, strings]) writeSection(columns, section);
  writeHeader(into, { sequence, durableSequence, kind: change.kind === "append" ? kindAppend : kindDelete });
}

export function encodeMark(durableSequence: number): Uint8Array {
  const bytes = new Uint8Array(markBytes);
  writeHeader(bytes, { sequence: durableSequence, durableSequence, kind: kindMark });
  return bytes;
}

function writeHeader(
  into: Uint8Array,
  { sequence, durableSequence, kind }: { sequence: number; durableSequence: number; kind: number },
): void {
  const header = new DataView(into.buffer, into.byteOffset, headerBytes);
  header.setUint32(0, magic, true);
  header.setFloat64(8, sequence, true);
  header.setFloat64(16, durableSequence, true);
  header.setUint32(24, into.byteLength - headerBytes, true);
  header.setUint32(28, kind, true);
  header.setUint32(4, crc32(into.subarray(8)), true);
}

/** A fast test: a torn end of many megabytes is searched for records in steps of 8 bytes. */
export const hasRecordMagic = (segment: DataView, offset: number): boolean =>
  offset + headerBytes <= segment.byteLength && segment.getUint32(offset, true) === magic;

/**
 * Decodes the record at `offset` of a segment, a multiple of 8. The change has arrays of its own. Returns
 * `undefined` when there is no whole record.
 */
export function decodeRecord(
  segment: Uint8Array<ArrayBuffer>,
  offset: number,
): JournalRecord | DurabilityMark | undefined {
  if (offset + headerBytes > segment.byteLength) return undefined;
  const header = new DataView(segment.buffer, segment.byteOffset + offset, headerBytes);
  const payloadBytes = header.getUint32(24, true);
  const end = offset + headerBytes + payloadBytes;
  if (header.getUint32(0, true) !== magic || payloadBytes % 8 !== 0) return undefined;
  if (end > segment.byteLength) return undefined;
  if (crc32(segment.subarray(offset + 8, end)) !== header.getUint32(4, true)) return undefined;
  const kind = header.getUint32(28, true);
  const record = {
    sequence: header.getFloat64(8, true),
    durableSequence: header.getFloat64(16, true),
    bytes: segment.subarray(offset, end),
  };
  if (kind === kindMark) return { ...record, change: undefined };
  const change = decodeChange(segment.subarray(offset + headerBytes, end), kind);
  return change && { ...record, change };
}

/**
 * Reads the change of a record that `writeRecord` has written. Its columns are views of `record`, valid as
 * long as the caller keeps those bytes. Strings of other series than those `isWanted` accepts are left empty.
 */
export function readRecord(record: Uint8Array, isWanted: (series: number) => boolean): Change {
  const kind = new DataView(record.buffer, record.byteOffset).getUint32(28, true);
  const reader = new ColumnReader(record.subarray(headerBytes), { isView: true });
  return kind === kindDelete ? readDeletion(reader) : readAppend(reader, isWanted);
}

/**
 * Undefined for a payload that is not a change. As the checksum is right, another program has written it:
 * then it is no whole record, but no reason to refuse the start.
 */
function decodeChange(payload: Uint8Array<ArrayBuffer>, kind: number): Change | undefined {
  const reader = new ColumnReader(payload, { isView: false });
  try {
    const change = kind === kindDelete ? readDeletion(reader) : readAppend(reader, () => true);
    return reader.left === 0 ? change : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function columnOfDeletion({ series, range }: Change & { kind: "delete" }): Float64Array {
  const start = range?.startMs ?? -Infinity;
  return Float64Array.of(series, range === undefined ? 0 : 1, start, range?.endMs ?? Infinity);
}

function readDeletion(reader: ColumnReader): Change {
  const [series, hasRange, startMs, endMs] = reader.doubles(4) as unknown as [number, number, number, number];
  return hasRange === 0 ? { kind: "delete", series } : { kind: "delete", series, range: { startMs, endMs } };
}

interface SectionPlan {
  readonly runs: PointRuns<unknown>;
  readonly times: TimesPlan;
  readonly encoding: number;
  /** Size of the values, padded to a multiple of 8. */
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
  const encoding = values.every((value) => value.isWellFormed()) ? utf8 : utf16;
  const lengths = Uint32Array.from(values, (value) => Buffer.byteLength(value, encodings[encoding]));
  const stringBytes = lengths.reduce((sum, length) => sum + length, 0);
  const writeValues = (columns: ColumnWriter) => {
    columns.words(lengths);
    columns.strings(values, encodings[encoding]!);
  };
  const valueBytes = padded(lengths.byteLength) + padded(stringBytes);
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
    return reader.strings(isSkipped, encoding);
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

/** Encoding of a column of times: start and step, offsets from the earliest time, or verbatim. */
interface TimesPlan {
  readonly mode: number;
  readonly base: number;
  readonly step: number;
  /** Bytes of each time. */
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

/** Writes columns one after another, each padded with zeros to a multiple of 8 bytes. */
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

  /** Writes each time as its difference from `base`, in 4 bytes. */
  offsets(times: Float64Array, base: number): void {
    const offsets = new Uint32Array(this.#bytes.buffer, this.#take(times.length * 4), times.length);
    for (let i = 0; i < times.length; i++) offsets[i] = times[i]! - base;
  }

  strings(column: readonly string[], encoding: (typeof encodings)[number]): void {
    const { buffer } = this.#bytes;
    const from = this.#bytes.byteOffset + this.#at;
    const free = Buffer.from(buffer as ArrayBuffer, from, this.#bytes.byteLength - this.#at);
    let length = 0;
    for (const value of column) length += free.write(value, length, encoding);
    this.#take(length);
  }

  /** Returns the offset of the next column in the buffer, and advances past the column and its padding. */
  #take(length: number): number {
    const at = this.#at;
    this.#at += padded(length);
    this.#bytes.fill(0, at + length, this.#at);
    return this.#bytes.byteOffset + at;
  }
}

/**
 * Reads columns one after another, each from the next multiple of 8. Throws `RangeError` past the end. With
 * `isView`, columns are views of the bytes, which must start at a multiple of 8; else they are copies.
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

  /** Reads as many strings as `isSkipped` has items; a skipped one is empty. */
  strings(isSkipped: Uint8Array, encoding: number): string[] {
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
    if (length > this.left) throw new RangeError("a column is longer than its record");
    const offset = this.#bytes.byteOffset + this.#at;
    this.#at += padded(length);
    const buffer = this.#bytes.buffer as ArrayBuffer;
    return this.#isView ? { buffer, offset } : { buffer: buffer.slice(offset, offset + length), offset: 0 };
  }
}
