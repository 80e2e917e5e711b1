// The header of a block in the table of blocks: the block's summaries and checksum, and a checksum over the
// whole row (FORMAT.md, "Shards").
//
// An aggregate over a year reads thousands of these and nothing else, so the row checksum costs nanoseconds.
// Each of its steps is reversible, so any change of a single word is detected.

import { decodeSummary, encodeSummary, type Summary, summaryFields } from "../summary.ts";
import { DamagedBlock } from "./block.ts";

/** The other columns of the row, which its checksum covers. */
export interface RowKeys {
  readonly series: number;
  readonly kind: number;
  readonly id: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

export interface RowContent {
  /** Of consecutive points, all of the block's together. Blocks of strings have none. */
  readonly summaries: readonly Summary[];
  /** The checksum at the start of the block. */
  readonly blockChecksum: number;
}

export interface ChecksummedRow extends RowContent {
  readonly checksum: number;
}

const summaryBytes = summaryFields * 8;
/**
 * One of several summaries has its count and times as u32. A row of four summaries then fits into a page of
 * 2 KB with others; a larger one would take overflow pages.
 */
const partBytes = summaryBytes - 3 * 8 + 3 * 4;
const partFields = summaryFields - 3;
/** The checksums of the block and of the row, after the summaries. */
const checksumsBytes = 8;

export function encodeRow(
  keys: RowKeys,
  { summaries, blockChecksum }: RowContent,
): { header: Uint8Array; checksum: number } {
  const [one] = summaries;
  const length = summaries.length > 1 ? summaries.length * partBytes : one === undefined ? 0 : summaryBytes;
  const header = new Uint8Array(length + checksumsBytes);
  if (summaries.length > 1) encodeParts(header, keys, summaries);
  else if (one !== undefined) new Float64Array(header.buffer, 0, summaryFields).set(encodeSummary(one));
  const words = new Uint32Array(header.buffer);
  words[length / 4] = blockChecksum;
  const checksum = checksumOf(keys, words);
  words[length / 4 + 1] = checksum;
  return { header, checksum };
}

/** The f64 of all parts, then the u32 of all parts. */
function encodeParts(header: Uint8Array, { firstMs }: RowKeys, parts: readonly Summary[]): void {
  const integers = new Uint32Array(header.buffer, parts.length * partFields * 8, parts.length * 3);
  for (const [index, part] of parts.entries()) {
    const [count, first, firstValue, last, ...others] = encodeSummary(part) as Iterable<number>;
    const fields = new Float64Array(header.buffer, index * partFields * 8, partFields);
    fields.set([firstValue!, ...others]);
    integers.set([count!, first! - firstMs, last! - firstMs], index * 3);
  }
}

/** Decodes a row and verifies its checksum. Throws `DamagedBlock`. */
export function decodeRow(keys: RowKeys, header: Uint8Array): ChecksummedRow {
  const words = verifiedWords(keys, header);
  const [blockChecksum, checksum] = [words.at(-2)!, words.at(-1)!];
  const length = header.byteLength - checksumsBytes;
  const { buffer, byteOffset } = words;
  if (length === 0) return { summaries: [], blockChecksum, checksum };
  const summaries =
    length === summaryBytes
      ? [decodeSummary(new Float64Array(buffer, byteOffset, summaryFields))]
      : decodeParts(words, keys, length / partBytes);
  return { summaries, blockChecksum, checksum };
}

function decodeParts(words: Uint32Array<ArrayBuffer>, { firstMs }: RowKeys, parts: number): Summary[] {
  const { buffer, byteOffset } = words;
  const integers = new Uint32Array(buffer, byteOffset + parts * partFields * 8, parts * 3);
  const values = new Float64Array(buffer, byteOffset, parts * partFields);
  const fields = new Float64Array(summaryFields);
  return Array.from({ length: parts }, (_, part) => {
    fields[0] = integers[part * 3]!;
    fields[1] = firstMs + integers[part * 3 + 1]!;
    fields[2] = values[part * partFields]!;
    fields[3] = firstMs + integers[part * 3 + 2]!;
    for (let field = 1; field < partFields; field++) fields[field + 3] = values[part * partFields + field]!;
    return decodeSummary(fields);
  });
}

/** The verified checksum of a row. Throws `DamagedBlock`. */
export const verifiedChecksum = (keys: RowKeys, header: Uint8Array): number =>
  verifiedWords(keys, header).at(-1)!;

/** The header as aligned words. Throws `DamagedBlock` when its checksum is wrong. */
function verifiedWords(keys: RowKeys, header: Uint8Array): Uint32Array<ArrayBuffer> {
  const length = header.byteLength - checksumsBytes;
  if (length !== 0 && length !== summaryBytes && (length < 2 * partBytes || length % partBytes !== 0))
    throw new DamagedBlock(
      `a header of ${checksumsBytes}, ${summaryBytes + checksumsBytes} or parts of ${partBytes} bytes`,
      `${header.byteLength}`,
    );
  const aligned = header.byteOffset % 8 === 0 ? header : header.slice();
  const words = new Uint32Array(aligned.buffer as ArrayBuffer, aligned.byteOffset, header.byteLength / 4);
  const expected = words.at(-1)!;
  const found = checksumOf(keys, words);
  if (found !== expected) throw new DamagedBlock(`a row with checksum ${expected}`, `${found}`);
  return words;
}

/** The checksum at the start of a block. */
export const blockChecksumOf = (block: Uint8Array): number =>
  new DataView(block.buffer, block.byteOffset).getUint32(0, true);

/** The stored checksum of a row, right or wrong. */
export const storedChecksum = (header: Uint8Array): number =>
  header.byteLength < checksumsBytes ? 0 : blockChecksumOf(header.subarray(header.byteLength - 4));

/** Sums of checksums stay exact, in SQLite and in a double. */
const sumsEnd = 2 ** 48;

/**
 * Adds a row's checksum to the sum over all rows, which does not depend on their order; negative to remove.
 */
export const addChecksum = (sum: number, checksum: number): number => (sum + checksum + sumsEnd) % sumsEnd;

/**
 * FNV-1a over 32-bit words: all but the last, then both halves of each key. NaN when a key is not an integer:
 * a damaged page may have a null instead of a zero, which no search finds.
 */
function checksumOf({ series, kind, id, firstMs, lastMs, count }: RowKeys, words: Uint32Array): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < words.length - 1; i++) sum = addWord(sum, words[i]!);
  for (const key of [id, firstMs, lastMs, count, series, kind]) {
    if (!Number.isSafeInteger(key)) return Number.NaN;
    sum = addWord(addWord(sum, key), Math.floor(key / 2 ** 32));
  }
  return sum >>> 0;
}

const addWord = (sum: number, word: number): number => Math.imul(sum ^ word, 0x01000193);
