// The loop over the points of an insert in JSON, compiled to WebAssembly: `npm run kernels` writes it to
// src/resources/datapoints/inserts/insert-kernel-binary.ts.
//
// src/resources/datapoints/inserts/insert-kernel.ts calls it, and writes these records to its memory:
//
// | Record | Content |
// |---|---|
// | gap: the bytes between two numbers or names | its length (u32, 0 without one); from byte 16 on, for each 16 bytes: the bytes, and a mask of those that count |
// | name of a series in JSON, with its quotes | its length (u32); from byte 8 on, the bytes, padded to words of eight; then the next name |
//
// The gaps are, one after the other: from a value to the next time, from a time to its value, from a value to
// the next name, from a name to the next time.
import { bytesBefore, eightDigits, firstDigits, isSame, noDigits } from "./digits";

const gapBytes: usize = 272;
const nameAt: usize = 8;

const minus: u8 = 45;
const dot: u8 = 46;
const zero: u8 = 48;
const smallE: u8 = 101;

/** A double is each integer of so many digits, and its quotient by a power of ten is rounded only once. */
const exactDigits: usize = 15;
/** An integer of 64 bits holds each number of so many digits, and the power of ten of as many decimals. */
const digitsMax: usize = 19;

/** Whether the bytes at `at` are those of the gap, which is not empty. */
function isGap(at: usize, gap: usize): bool {
  const length = load<u32>(gap) as usize;
  let block = gap + 16;
  for (let done: usize = 0; done < length; done += 16, block += 32) {
    const different = v128.xor(v128.load(at + done), v128.load(block));
    if (v128.any_true(v128.and(different, v128.load(block, 16)))) return false;
  }
  return length !== 0;
}

function lengthOf(gap: usize): usize {
  return load<u32>(gap) as usize;
}

/**
 * Reads the number at `from` into `value`: up to 19 digits without an exponent, the same double as
 * `JSON.parse`. Returns the place after it, or 0 for anything else.
 */
function scanNumber(from: usize, powers: usize, value: usize): usize {
  const isNegative = load<u8>(from) === minus;
  const first = isNegative ? from + 1 : from;
  const word = load<u64>(first);
  const ends = noDigits(word);
  const whole = bytesBefore(ends);
  if (whole === 0 || (whole > 1 && load<u8>(first) === zero)) return 0;
  if (whole === 8) return scanLongNumber(first, isNegative, powers, value);
  if (load<u8>(first + whole) !== dot)
    return endNumber(first + whole, isNegative, firstDigits(word, whole) as f64, value);
  // Without the point.
  const rest = ends & (ends - 1);
  if (rest === 0) return scanLongNumber(first, isNegative, powers, value);
  const length = bytesBefore(rest);
  const decimals = length - whole - 1;
  if (decimals === 0) return 0;
  const mask = ((1 as u64) << ((whole << 3) as u64)) - 1;
  const sum = firstDigits((word & mask) | ((word >> 8) & ~mask), length - 1);
  return endNumber(first + length, isNegative, (sum as f64) / load<f64>(powers + (decimals << 3)), value);
}

/** As `scanNumber`, which is faster, for digits of any length that start at `first`. */
function scanLongNumber(first: usize, isNegative: bool, powers: usize, value: usize): usize {
  let at = first;
  let sum: u64 = 0;
  let digit: u32 = (load<u8>(at) as u32) ^ 48;
  for (; digit <= 9; digit = (load<u8>(++at) as u32) ^ 48) sum = sum * 10 + (digit as u64);
  let digits = at - first;
  let decimals: usize = 0;
  if (load<u8>(at) === dot) {
    const point = at + 1;
    digit = (load<u8>(++at) as u32) ^ 48;
    for (; digit <= 9; digit = (load<u8>(++at) as u32) ^ 48) sum = sum * 10 + (digit as u64);
    decimals = at - point;
    if (decimals === 0) return 0;
    digits += decimals;
  }
  if (digits > digitsMax) return 0;
  const power = load<f64>(powers + (decimals << 3));
  const size =
    decimals === 0
      ? (sum as f64)
      : digits <= exactDigits
        ? (sum as f64) / power
        : quotient(sum, power as u64);
  return endNumber(at, isNegative, size, value);
}

/** Stores the number, whose digits end at `at`. Returns the place after it, or 0 if an exponent follows. */
function endNumber(at: usize, isNegative: bool, size: f64, value: usize): usize {
  if ((load<u8>(at) | 32) === smallE) return 0;
  store<f64>(value, isNegative ? -size : size);
  return at;
}

/**
 * The double that is nearest to the quotient. It is rounded once, when 63 or 64 exact bits of the quotient, of
 * which the last one also says whether there is a remainder, become a double.
 */
function quotient(dividend: u64, divisor: u64): f64 {
  if (dividend === 0) return 0;
  const shift = clz(divisor) - clz(dividend);
  const high = dividend << clz(dividend);
  const by = divisor << clz(divisor);
  // Long division with digits of 32 bits: the first half of `by` gives an estimate, at most two too large.
  const byHigh = by >> 32;
  const byLow = by & 0xffff_ffff;
  let rest = high >> 1;
  let next = high << 63;
  let result: u64 = 0;
  for (let i = 0; i < 2; i++) {
    let digit = rest / byHigh;
    let left = rest - digit * byHigh;
    while (digit >> 32 !== 0 || digit * byLow > ((left << 32) | (next >> 32))) {
      digit--;
      left += byHigh;
      if (left >> 32 !== 0) break;
    }
    rest = ((rest << 32) | (next >> 32)) - digit * by;
    next <<= 32;
    result = (result << 32) | digit;
  }
  if (rest !== 0) result |= 1;
  // 2^(shift - 63): neither operand has more than 64 bits, so the exponent is that of a normal number.
  const scale = reinterpret<f64>((1023 + (shift as i64) - 63) << 52);
  return (result as f64) * scale;
}

/**
 * Scans points from `from`, the end of a value. Each is a time of 9 to 15 digits, not later than `latest`, and
 * a number, after the gaps of a point of the same series, or after those of the next series and its name in the
 * list of `names` names at `name`. Each value ends before `end`. Stops at the first other byte, or when the
 * columns are full.
 *
 * The columns have `capacity` rows: times and values as f64, then the ends of runs as u32. Results as u32: the
 * end of the last value, the counts of points and of ended runs.
 */
export function scanPoints(
  results: usize,
  from: usize,
  end: usize,
  gaps: usize,
  firstName: usize,
  firstNames: u32,
  latest: f64,
  powers: usize,
  columns: usize,
  capacity: u32,
  most: u32,
): void {
  const timeToValue = gaps + gapBytes;
  const valueToName = timeToValue + gapBytes;
  const nameToTime = valueToName + gapBytes;
  const values = columns + ((capacity as usize) << 3);
  const ends = values + ((capacity as usize) << 3);
  let at = from;
  let name = firstName;
  let names = firstNames;
  let count: u32 = 0;
  let runs: u32 = 0;
  // Times that follow each other have as many digits, and mostly the same first ones.
  let usualEight: u64 = 0;
  let usualRest: usize = 0;
  let usualTime: u64 = 0;
  while (count < most) {
    let to = at;
    let nameLength: usize = 0;
    if (isGap(to, gaps)) to += lengthOf(gaps);
    else {
      if (names === 0 || !isGap(to, valueToName)) break;
      to += lengthOf(valueToName);
      nameLength = load<u32>(name) as usize;
      if (!isSame(to, name + nameAt, nameLength)) break;
      to += nameLength;
      if (!isGap(to, nameToTime)) break;
      to += lengthOf(nameToTime);
    }
    const firstEight = load<u64>(to);
    const nextEight = load<u64>(to + 8);
    const rest = bytesBefore(noDigits(nextEight));
    if (rest === 0 || rest === 8) break;
    if (firstEight !== usualEight || rest !== usualRest) {
      if (noDigits(firstEight) !== 0 || load<u8>(to) === zero) break;
      usualEight = firstEight;
      usualRest = rest;
      usualTime = eightDigits(firstEight) * (load<f64>(powers + (rest << 3)) as u64);
    }
    const time = (usualTime + firstDigits(nextEight, rest)) as f64;
    if (time > latest) break;
    to += 8 + rest;
    if (!isGap(to, timeToValue)) break;
    to = scanNumber(to + lengthOf(timeToValue), powers, values + ((count as usize) << 3));
    if (to === 0 || to >= end) break;
    if (nameLength !== 0) {
      store<u32>(ends + ((runs as usize) << 2), count);
      runs++;
      name += nameAt + ((nameLength + 7) & ~7);
      names--;
    }
    store<f64>(columns + ((count as usize) << 3), time);
    count++;
    at = to;
  }
  store<u32>(results, at as u32);
  store<u32>(results, count, 4);
  store<u32>(results, runs, 8);
}
