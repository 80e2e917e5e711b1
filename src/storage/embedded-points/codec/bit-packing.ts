// Packs integers of a fixed width in bits into 32-bit words, the first integer in the lowest bits.

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

/** The reverse of `pack`: `count` numbers of `width` bits from `words` at `at`. */
export function unpack(
  words: Uint32Array,
  at: number,
  width: number,
  out: { numbers: Uint32Array; count: number },
): void {
  const { numbers, count } = out;
  if (width === 0) {
    numbers.fill(0, 0, count);
    return;
  }
  const mask = width === 32 ? 0xffffffff : (1 << width) - 1;
  let next = at;
  let word = 0;
  let left = 0;
  for (let index = 0; index < count; index++) {
    if (left >= width) {
      numbers[index] = word & mask;
      word >>>= width;
      left -= width;
      continue;
    }
    // `left` bits remain of the last word. The others are the lowest bits of the next one.
    const low = left === 0 ? 0 : word;
    word = words[next++]!;
    numbers[index] = (low | (word << left)) & mask;
    const used = width - left;
    word = used === 32 ? 0 : word >>> used;
    left = 32 - used;
  }
}
