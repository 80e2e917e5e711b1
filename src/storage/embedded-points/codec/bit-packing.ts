// Packs integers of a fixed width in bits into 32-bit words, the first integer in the lowest bits.
import type { ByteReader } from "./bytes.ts";

/** Number of words for `count` numbers of `width` bits. */
export const packedWords = (count: number, width: number): number => Math.ceil((count * width) / 32);

/**
 * Writes `count` numbers of `width` (0 to 32) bits to `words` from `at`. Higher bits of the numbers must be
 * 0.
 */
export function pack(
  numbers: Uint32Array,
  count: number,
  width: number,
  out: { words: Uint32Array; at: number },
): void {
  if (width === 0) return;
  const { words } = out;
  let at = out.at;
  let word = 0;
  let filled = 0;
  for (let index = 0; index < count; index++) {
    const number = numbers[index]!;
    word |= number << filled;
    filled += width;
    if (filled < 32) continue;
    words[at++] = word;
    filled -= 32;
    // JavaScript shifts by 0 instead of 32, so the case without a rest is separate.
    word = filled === 0 ? 0 : number >>> (width - filled);
  }
  if (filled > 0) words[at] = word;
}

/** The first `wanted` of `count` numbers of `width` bits that `pack` wrote; none when the width is 0. */
export function readPacked(
  reader: ByteReader,
  { count, wanted }: { readonly count: number; readonly wanted: number },
  width: number,
): Uint32Array {
  if (width === 0) return new Uint32Array(0);
  const bytes = reader.bytes(packedWords(count, width) * 4);
  return reader.kernels.unpack(bytes.subarray(0, packedWords(wanted, width) * 4), wanted, width);
}
