// The sizes of the parts of a file in a multipart upload. They depend on the position only, so every server
// divides a file in the same way. A store accepts 10,000 parts, each of at least 5 MiB except the last.
import { invariant } from "../../lib/invariant.ts";
import { limits } from "../../limits.ts";

export interface Part {
  /** The number of the part in the store; the first is 1. */
  readonly number: number;
  /** The offset of its first byte in the file. */
  readonly start: number;
  readonly bytes: number;
}

const mebibyte = 2 ** 20;

/** Small parts first: most files are small, and bytes after the last whole part are stored separately. */
const groups = [
  { parts: 1_000, bytes: 8 * mebibyte },
  { parts: 1_500, bytes: 32 * mebibyte },
  { parts: 7_500, bytes: 144 * mebibyte },
] as const;

const bytesMax = groups.reduce((sum, { parts, bytes }) => sum + parts * bytes, 0);
invariant(bytesMax >= limits.fileBytesMax, "the parts of a multipart upload hold the largest file");

/** The part with the byte at `offset`. */
export function partAt(offset: number): Part {
  let number = 1;
  let start = 0;
  for (const { parts, bytes } of groups) {
    const index = Math.floor((offset - start) / bytes);
    if (index < parts) return { number: number + index, start: start + index * bytes, bytes };
    number += parts;
    start += parts * bytes;
  }
  return { number, start, bytes: Number.POSITIVE_INFINITY };
}
