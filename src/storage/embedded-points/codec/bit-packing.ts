// Whole numbers of a fixed width in bits, side by side in 32-bit words, the first in the lowest bits.

/** Words that `count` numbers of `width` bits take. */
export const packedWords = (count: number, width: number): number => Math.ceil((count * width) / 32);

/** Writes `count` numbers of `width` (0 to 32) bits, the bits above clear, to `words` from `at`. */
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
    // A shift by 32 would be a shift by 0: with nothing left over, the next word starts empty.
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
    // With `left` bits of the last word in hand, the others come from the low end of the next.
    const low = left === 0 ? 0 : word;
    word = words[next++]!;
    numbers[index] = (low | (word << left)) & mask;
    const used = width - left;
    word = used === 32 ? 0 : word >>> used;
    left = 32 - used;
  }
}
