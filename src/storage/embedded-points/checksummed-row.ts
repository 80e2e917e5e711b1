// The header of a block in the table of blocks: the block's summary and checksum, and a checksum over the
// whole row (FORMAT.md, "Shards").
//
// An aggregate over a year reads thousands of these and nothing else, so the row checksum costs nanoseconds.
// Each of its steps is reversible, so any change of a single word is detected.
import { DamagedBlock } from "./block.ts";
import { decodeSummary, encodeSummary, type Summary, summaryFields } from "./summary.ts";

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
  /** Undefined for blocks of strings. */
  readonly summary: Summary | undefined;
  /** The checksum at the start of the block. */
  readonly blockChecksum: number;
}

export interface ChecksummedRow extends RowContent {
  readonly checksum: number;
}

const summaryBytes = summaryFields * 8;
/** The checksums of the block and of the row, after the summary. */
const checksumsBytes = 8;

export function encodeRow(
  keys: RowKeys,
  { summary, blockChecksum }: RowContent,
): { header: Uint8Array; checksum: number } {
  const length = summary === undefined ? 0 : summaryBytes;
  const header = new Uint8Array(length + checksumsBytes);
  if (summary !== undefined) new Float64Array(header.buffer, 0, summaryFields).set(encodeSummary(summary));
  const words = new Uint32Array(header.buffer);
  words[length / 4] = blockChecksum;
  const checksum = checksumOf(keys, words);
  words[length / 4 + 1] = checksum;
  return { header, checksum };
}

/** Throws `DamagedBlock`. */
export function decodeRow(keys: RowKeys, header: Uint8Array): ChecksummedRow {
  const words = verifiedWords(keys, header);
  const [blockChecksum, checksum] = [words.at(-2)!, words.at(-1)!];
  const summary =
    header.byteLength === checksumsBytes
      ? undefined
      : decodeSummary(new Float64Array(words.buffer, words.byteOffset, summaryFields));
  return { summary, blockChecksum, checksum };
}

/** The verified checksum of a row. Throws `DamagedBlock`. */
export const verifiedChecksum = (keys: RowKeys, header: Uint8Array): number =>
  verifiedWords(keys, header).at(-1)!;

/** The header as aligned words. Throws `DamagedBlock` when its checksum is wrong. */
function verifiedWords(keys: RowKeys, header: Uint8Array): Uint32Array<ArrayBuffer> {
  const length = header.byteLength - checksumsBytes;
  if (length !== 0 && length !== summaryBytes)
    throw new DamagedBlock(
      `a header of ${checksumsBytes} or ${summaryBytes + checksumsBytes} bytes`,
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
