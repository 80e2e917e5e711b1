// Encodes and decodes a block: consecutive points of one series, compressed, with a checksum (FORMAT.md,
// "Block").
import { crc32 } from "node:zlib";
import { invariant } from "../../lib/invariant.ts";
import type { Kernels } from "../kernels.ts";
import { firstAtOrAfter } from "../point-columns.ts";
import type { PointColumns } from "../points.ts";
import { ByteReader, ByteWriter, MalformedBlock } from "./codec/bytes.ts";
import { integerMax } from "./codec/column.ts";
import { type BlockSection, decompressSection } from "./codec/compress.ts";
import { readNumbers, writeNumbers } from "./codec/numbers.ts";
import { isStrings, readStrings, writeStrings } from "./codec/strings.ts";
import { readTimes, type TimeBounds, writeTimes } from "./codec/times.ts";

/** The largest block that the format allows. The store writes far smaller ones. */
export const blockPointsMax = 2 ** 20;

const version = 1;
const checksumBytes = 4;
const headerBytes = 36;
/** The place of the number of points. */
const countAt = 8;
const noQuality = 0;
/** Greater than `first` of every predictor. */
const wantedMin = 8;
/** A block has at most four columns with residuals, times, and values of ordinals with their low bits. */
const kernelBytesPerPoint = 2 * 8 + 4 * (8 + 1 + 3 * 4) + 4;
/** For each column with residuals: the tables of its symbols, and padding between the parts in memory. */
const kernelTableBytes = 4 * 2 ** 16;

/** The bytes of a block or of its row are not those that were written. */
export class DamagedBlock extends Error {
  readonly expected: string;
  readonly found: string;
  constructor(expected: string, found: string) {
    super(`damaged block: expected ${expected}, found ${found}`);
    this.name = "DamagedBlock";
    this.expected = expected;
    this.found = found;
  }
}

/**
 * Encodes 1 to `blockPointsMax` points without loss. The times are integers, ascending and unique, within
 * 2^50 ms of each other and of 1970. There are as many values.
 */
export function encodeBlock(times: Float64Array, values: Float64Array | readonly string[]): Uint8Array {
  const count = times.length;
  invariant(count >= 1 && count <= blockPointsMax && values.length === count, "a block has times and values");
  checkTimes(times);
  const timeSection = writeTimes(times);
  const valueSection = values instanceof Float64Array ? writeNumbers(values) : writeStrings(values);
  const writer = new ByteWriter();
  writer.u32(0);
  writer.u8(version);
  writer.u8(timeSection.codec);
  writer.u8(valueSection.codec);
  writer.u8(noQuality);
  writer.u32(count);
  writer.f64(times[0]!);
  writer.f64(times[count - 1]!);
  writer.u32(timeSection.bytes.length);
  writer.u32(valueSection.bytes.length);
  writer.bytes(timeSection.bytes);
  writer.bytes(valueSection.bytes);
  const block = writer.finish().slice();
  new DataView(block.buffer).setUint32(0, checksumOf(block), true);
  return block;
}

/**
 * The reverse of `encodeBlock`. The columns of numbers may be in the memory of `kernels`, until these decode
 * another block. After the first number at or after `endMs`, the times alone are sure to be there. Throws
 * `DamagedBlock` for other bytes.
 */
export function decodeBlock(bytes: Uint8Array, kernels: Kernels, endMs?: number): PointColumns {
  verifyBlock(bytes);
  return decodeVerified(bytes, kernels, endMs);
}

/** As `decodeBlock`, of a block that was verified. */
export function decodeVerified(bytes: Uint8Array, kernels: Kernels, endMs = Infinity): PointColumns {
  const { times, values } = decodeAtOnce(bytes, kernels, endMs) ?? {};
  if (times !== undefined && values !== undefined) return { times, values };
  return orDamaged(() => read(new ByteReader(bytes), { kernels, endMs, times }));
}

/** As `decodeVerified`, without the kernel for whole blocks. */
export const decodeInParts = (bytes: Uint8Array, kernels: Kernels, endMs = Infinity): PointColumns =>
  orDamaged(() => read(new ByteReader(bytes), { kernels, endMs }));

/**
 * The columns that the kernel for whole blocks can decode, of codecs that most series have. A new process
 * takes half of the time for its first blocks that it takes to read them part by part, which is more code to
 * compile.
 */
export function decodeAtOnce(bytes: Uint8Array, kernels: Kernels, endMs: number) {
  if (bytes.length < headerBytes) return undefined;
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(countAt, true);
  if (count === 0 || count > blockPointsMax) return undefined;
  // The bits that the kernels for parts of a block unpack are copies.
  kernels.begin(count * kernelBytesPerPoint + 2 * bytes.length + kernelTableBytes);
  return kernels.decodeBlock(bytes, count, endMs);
}

/** The times of a block, as `decodeVerified`. The values are not decoded. */
export const decodeTimes = (bytes: Uint8Array, kernels: Kernels): Float64Array =>
  orDamaged(() => readTimesOf(sectionsOf(new ByteReader(bytes)), kernels));

/** The times, if they begin and end as the row of the block says. Throws `DamagedBlock`. */
export function checkedTimes(
  times: Float64Array,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Float64Array {
  if (times[0] === firstMs && times.at(-1) === lastMs) return times;
  throw new DamagedBlock(`points from ${firstMs} to ${lastMs}`, "other points");
}

/** Verifies the checksum of a block. Throws `DamagedBlock`. */
export function verifyBlock(bytes: Uint8Array): void {
  if (bytes.length < checksumBytes) throw new DamagedBlock("a header", `${bytes.length} bytes`);
  const expected = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const found = checksumOf(bytes);
  if (found !== expected) throw new DamagedBlock(`checksum ${hex(expected)}`, `checksum ${hex(found)}`);
}

/** As the checksum is right, another program or another version has written a block that cannot be read. */
function orDamaged<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new DamagedBlock(
      "contents as in FORMAT.md",
      error instanceof Error ? error.message : String(error),
    );
  }
}

function checkTimes(times: Float64Array): void {
  invariant(
    Math.abs(times[0]!) <= integerMax && times.at(-1)! - times[0]! <= integerMax,
    "the times of a block are within 2^50 ms",
  );
  const count = times.length;
  let isAscending = true;
  let last = -Infinity;
  for (let index = 0; index < count; index++) {
    const time = times[index]!;
    if (!(time > last) || Math.floor(time) !== time) isAscending = false;
    last = time;
  }
  invariant(isAscending, "the times of a block are integers in ascending order");
}

interface Sections {
  readonly bounds: TimeBounds;
  readonly times: BlockSection;
  /** Still compressed. */
  readonly values: BlockSection;
}

function sectionsOf(reader: ByteReader): Sections {
  reader.u32();
  const found = reader.u8();
  if (found !== version) throw new MalformedBlock(`version ${found}, which is not ${version}`);
  const timeCodec = reader.u8();
  const valueCodec = reader.u8();
  if (reader.u8() !== noQuality) throw new MalformedBlock("quality codes of an unknown kind");
  const count = reader.u32();
  if (count === 0 || count > blockPointsMax) throw new MalformedBlock(`${count} points`);
  const bounds = { count, firstMs: reader.f64(), lastMs: reader.f64() };
  checkBounds(bounds);
  const timeBytes = reader.u32();
  const valueBytes = reader.u32();
  const times = decompressSection({ codec: timeCodec, bytes: reader.bytes(timeBytes) });
  const values = { codec: valueCodec, bytes: reader.bytes(valueBytes) };
  reader.end();
  return { bounds, times, values };
}

/** Refuses bounds that `encodeBlock` never writes. If the last time is NaN, a read decodes too few values. */
function checkBounds({ firstMs, lastMs }: TimeBounds): void {
  const areIntegers = Number.isInteger(firstMs) && Number.isInteger(lastMs);
  const lengthMs = lastMs - firstMs;
  if (!areIntegers || Math.abs(firstMs) > integerMax || lengthMs < 0 || lengthMs > integerMax)
    throw new MalformedBlock(`times from ${firstMs} to ${lastMs}`);
}

/** Begins a block of the kernels, with space for so many bytes of values. */
function readTimesOf({ bounds, times }: Sections, kernels: Kernels, valueBytes = 0): Float64Array {
  const sectionBytes = times.bytes.length + valueBytes;
  kernels.begin(bounds.count * kernelBytesPerPoint + sectionBytes + kernelTableBytes);
  return readTimes(times, bounds, kernels);
}

interface PartsToRead {
  readonly kernels: Kernels;
  readonly endMs: number;
  /** They are decoded already, from sections that are not compressed. */
  readonly times?: Float64Array | undefined;
}

function read(reader: ByteReader, { kernels, endMs, times: decoded }: PartsToRead): PointColumns {
  const sections = sectionsOf(reader);
  const { count, lastMs } = sections.bounds;
  const values = decompressSection(sections.values);
  const times = decoded ?? readTimesOf(sections, kernels, values.bytes.length);
  if (isStrings(values.codec)) return { times, values: readStrings(values, count, kernels) };
  const isWhole = endMs > lastMs || count <= wantedMin;
  const wanted = isWhole ? count : Math.max(wantedMin, firstAtOrAfter(times, endMs) + 1);
  return { times, values: readNumbers(values, { count, wanted }, kernels) };
}

/** CRC-32 of all bytes after the checksum. */
const checksumOf = (block: Uint8Array): number => crc32(block.subarray(checksumBytes));

const hex = (checksum: number): string => checksum.toString(16).padStart(8, "0");
