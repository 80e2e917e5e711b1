// What a row of the table of blocks says beside its keys: the summary and the checksum of its block, and a
// seal over all of it (FORMAT.md, "Shards").
//
// An aggregate over a year reads thousands of summaries and nothing else, so the seal is a checksum that
// costs nanoseconds; each of its steps is reversible, so that no single changed word goes unseen.
import { DamagedBlock } from "./block.ts";
import { decodeSummary, encodeSummary, type Summary, summaryBytes } from "./summary.ts";

/** The keys of a row: whose block it is, and where it lies. */
export interface Place {
  readonly series: number;
  readonly kind: number;
  readonly id: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** What is sealed. Strings have no summary. */
export interface RowContent {
  readonly summary: Summary | undefined;
  /** The checksum that stands at the beginning of the block. */
  readonly blockSum: number;
}

export interface SealedRow extends RowContent {
  readonly seal: number;
}

const tailBytes = 8;

export function sealRow(
  place: Place,
  { summary, blockSum }: RowContent,
): { sealed: Uint8Array; seal: number } {
  const length = summary === undefined ? 0 : summaryBytes;
  const sealed = new Uint8Array(length + tailBytes);
  if (summary !== undefined) sealed.set(encodeSummary(summary));
  const words = new Uint32Array(sealed.buffer);
  words[length / 4] = blockSum;
  const seal = checksumOf(place, words);
  words[length / 4 + 1] = seal;
  return { sealed, seal };
}

/** Throws `DamagedBlock`. */
export function openRow(place: Place, sealed: Uint8Array): SealedRow {
  const words = checkedWords(place, sealed);
  const [blockSum, seal] = [words.at(-2)!, words.at(-1)!];
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength - tailBytes);
  return { summary: bytes.length === 0 ? undefined : decodeSummary(bytes), blockSum, seal };
}

/** The seal that a row bears and deserves; throws `DamagedBlock`. */
export const checkedSeal = (place: Place, sealed: Uint8Array): number => checkedWords(place, sealed).at(-1)!;

function checkedWords(place: Place, sealed: Uint8Array): Uint32Array {
  const length = sealed.byteLength - tailBytes;
  if (length !== 0 && length !== summaryBytes)
    throw new DamagedBlock(
      `a row of ${tailBytes} or ${summaryBytes + tailBytes} bytes`,
      `${sealed.byteLength}`,
    );
  const aligned = sealed.byteOffset % 4 === 0 ? sealed : sealed.slice();
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, sealed.byteLength / 4);
  const found = checksumOf(place, words);
  const seal = words.at(-1)!;
  if (found !== seal) throw new DamagedBlock(`a row with seal ${seal}`, `${found}`);
  return words;
}

/** The checksum that a block begins with. */
export const blockSumOf = (block: Uint8Array): number =>
  new DataView(block.buffer, block.byteOffset).getUint32(0, true);

/** The seal that a row bears, right or not. */
export const bornSeal = (sealed: Uint8Array): number =>
  sealed.byteLength < tailBytes ? 0 : blockSumOf(sealed.subarray(sealed.byteLength - 4));

/** Sums of seals stay exact, and below what SQLite and a double hold. */
const sumsEnd = 2 ** 48;

/** Of the seals of all rows, in any order; a row that is taken out is added with a minus. */
export const addSeal = (sum: number, seal: number): number => (sum + seal + sumsEnd) % sumsEnd;

/**
 * FNV-1a over 32-bit words: all but the last, then both halves of the keys. NaN where a key is no whole
 * number: a damaged page may have a null in the place of a zero, which no search finds.
 */
function checksumOf({ series, kind, id, firstMs, lastMs, count }: Place, words: Uint32Array): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < words.length - 1; i++) sum = step(sum, words[i]!);
  for (const key of [id, firstMs, lastMs, count, series, kind]) {
    if (!Number.isSafeInteger(key)) return Number.NaN;
    sum = step(step(sum, key), Math.floor(key / 2 ** 32));
  }
  return sum >>> 0;
}

const step = (sum: number, word: number): number => Math.imul(sum ^ word, 0x01000193);
