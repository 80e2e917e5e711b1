// A summary as it lies in the table of blocks: with a checksum that also covers where the block lies
// (FORMAT.md).
//
// An aggregate over a year reads thousands of summaries and nothing else, so the checksum is one that costs
// nanoseconds; each of its steps is reversible, so that no single changed word goes unseen.
import { DamagedBlock } from "./block.ts";
import { decodeSummary, encodeSummary, type Summary, summaryBytes } from "./summary.ts";

export interface Place {
  readonly id: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** The bytes of a summary with the checksum of them and of the place of its block. */
export function sealSummary(place: Place, summary: Summary): Uint8Array {
  const sealed = new Uint8Array(summaryBytes + 4);
  sealed.set(encodeSummary(summary));
  const words = new Uint32Array(sealed.buffer);
  words[summaryBytes / 4] = checksumOf(place, words);
  return sealed;
}

/** Throws `DamagedBlock`. */
export function openSummary(place: Place, sealed: Uint8Array): Summary {
  if (sealed.byteLength !== summaryBytes + 4) {
    throw new DamagedBlock(`a summary of ${summaryBytes + 4} bytes`, `${sealed.byteLength}`);
  }
  const aligned = sealed.byteOffset % 4 === 0 ? sealed : sealed.slice();
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, summaryBytes / 4 + 1);
  const found = checksumOf(place, words);
  const expected = words[summaryBytes / 4]!;
  if (found !== expected) throw new DamagedBlock(`a summary with checksum ${expected}`, `${found}`);
  return decodeSummary(aligned.subarray(0, summaryBytes));
}

/**
 * FNV-1a over 32-bit words: those of the summary, then both halves of id, first and last time, and the
 * count.
 */
function checksumOf({ id, firstMs, lastMs, count }: Place, words: Uint32Array): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < summaryBytes / 4; i++) sum = step(sum, words[i]!);
  for (const whole of [id, firstMs, lastMs, count]) {
    sum = step(step(sum, whole), Math.floor(whole / 2 ** 32));
  }
  return sum >>> 0;
}

const step = (sum: number, word: number): number => Math.imul(sum ^ word, 0x01000193);
