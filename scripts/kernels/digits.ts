// Reads digits and compares bytes in words of eight, for the kernels that scan text. Little-endian.

/** A word of eight bytes with the same four bytes twice: a literal of 64 bits would be rounded. */
function twice(half: u32): u64 {
  return ((half as u64) << 32) | (half as u64);
}

/**
 * The first bit that is set is in the first of the eight bytes that is no digit; 0 if all are digits. The bits
 * after it are right if that byte is ASCII.
 */
export function noDigits(word: u64): u64 {
  const digits = word ^ twice(0x3030_3030);
  return ((digits + twice(0x7676_7676)) | digits) & twice(0x8080_8080);
}

/** The number of bytes before the first bit that is set; 8 without one. */
export function bytesBefore(bits: u64): usize {
  return (ctz(bits) >> 3) as usize;
}

/** Each product adds neighbours: digits, then pairs, then fours. */
export function eightDigits(word: u64): u64 {
  const pairs = ((word & twice(0x0f0f_0f0f)) * (10 * 2 ** 8 + 1)) >> 8;
  const fours = ((pairs & twice(0x00ff_00ff)) * (100 * 2 ** 16 + 1)) >> 16;
  return ((fours & twice(0x0000_ffff)) * (10_000 * 2 ** 32 + 1)) >> 32;
}

/** The number of the first `count` (1 to 8) bytes, which are digits: zeros come before them. */
export function firstDigits(word: u64, count: usize): u64 {
  return eightDigits(word << ((64 - (count << 3)) as u64));
}

/** Whether both places have the same `length` bytes. At least 7 more bytes can be read. */
export function isSame(one: usize, other: usize, length: usize): bool {
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(one + at) !== load<u64>(other + at)) return false;
  if (at === length) return true;
  const different = load<u64>(one + at) ^ load<u64>(other + at);
  return different << ((64 - ((length - at) << 3)) as u64) === 0;
}
