// The loop over repeated lines of line protocol, compiled to WebAssembly: `npm run kernels` writes it to
// src/influx/line-kernel-binary.ts. The language is AssemblyScript, TypeScript with the types of WebAssembly.
//
// src/influx/line-kernel.ts calls it, and writes these records to its memory, in words of four bytes:
//
// | Record | Words |
// |---|---|
// | head: measurement and tags | head of the line that followed last, first field |
// | field of a head | next field, name, number of bytes; then the bytes, padded to words of eight |
// | name of a series | slice that numbered it last, its number there, its index |
//
// The bytes of a field are those before its value: `cpu,host=a load=` or `,load=`. The place 0 is no record.
import { bytesBefore, eightDigits, firstDigits, isSame, noDigits } from "./digits";

const bytesAt: usize = 12;

const minus: u8 = 45;
const dot: u8 = 46;
const comma: u8 = 44;
const space: u8 = 32;
const newline: u8 = 10;
const smallI: u8 = 105;
const smallU: u8 = 117;

/** A double is each integer of so many digits, and its quotient by a power of ten is rounded only once. */
const exactDigits: usize = 15;
/** An integer of 64 bits holds each number of so many digits. */
const timeDigitsMax: usize = 19;

/**
 * Reads the value at `from` into `value`: up to 15 digits without an exponent, as `-1.5`, `3`, `3i` or `3u`.
 * Returns the place after it, or 0 for a value of another form. A byte that is no digit follows the input.
 */
function scanValue(from: usize, powers: usize, value: usize): usize {
  const isNegative = load<u8>(from) === minus;
  const first = isNegative ? from + 1 : from;
  const word = load<u64>(first);
  const ends = noDigits(word);
  const whole = bytesBefore(ends);
  if (whole === 0) return scanLongValue(from, powers, value);
  if (whole < 8 && load<u8>(first + whole) !== dot)
    return endValue(first + whole, true, isNegative, firstDigits(word, whole) as f64, value);
  // Without the point.
  const rest = ends & (ends - 1);
  if (rest === 0) return scanLongValue(from, powers, value);
  const length = bytesBefore(rest);
  const mask = ((1 as u64) << ((whole << 3) as u64)) - 1;
  const sum = firstDigits((word & mask) | ((word >> 8) & ~mask), length - 1);
  const decimals = length - whole - 1;
  const size = decimals === 0 ? (sum as f64) : (sum as f64) / load<f64>(powers + (decimals << 3));
  return endValue(first + length, false, isNegative, size, value);
}

/** As `scanValue`, which is faster, for values of any length. */
function scanLongValue(from: usize, powers: usize, value: usize): usize {
  const isNegative = load<u8>(from) === minus;
  const first = isNegative ? from + 1 : from;
  let at = first;
  let sum: u64 = 0;
  let digit: u32 = (load<u8>(at) as u32) ^ 48;
  for (; digit <= 9; digit = (load<u8>(++at) as u32) ^ 48) sum = sum * 10 + (digit as u64);
  const whole = at - first;
  let decimals: usize = 0;
  const isWhole = load<u8>(at) !== dot;
  if (!isWhole) {
    const point = at + 1;
    digit = (load<u8>(++at) as u32) ^ 48;
    for (; digit <= 9; digit = (load<u8>(++at) as u32) ^ 48) sum = sum * 10 + (digit as u64);
    decimals = at - point;
  }
  const digits = whole + decimals;
  if (digits === 0 || digits > exactDigits) return 0;
  const size = decimals === 0 ? (sum as f64) : (sum as f64) / load<f64>(powers + (decimals << 3));
  return endValue(at, isWhole, isNegative, size, value);
}

/** Stores the value, of which the digits end at `at`. Returns the place after it. */
function endValue(at: usize, isWhole: bool, isNegative: bool, size: f64, value: usize): usize {
  const suffix = load<u8>(at);
  const isInteger = isWhole && (suffix === smallI || (suffix === smallU && !isNegative));
  const signed = isNegative ? -size : size;
  // An integer has no negative zero.
  store<f64>(value, isInteger ? signed + 0.0 : signed);
  return isInteger ? at + 1 : at;
}

/** The place after the digits at `from`. Stops after 24 digits; longer times are refused anyway. */
function timeEnd(from: usize): usize {
  const first = bytesBefore(noDigits(load<u64>(from)));
  if (first < 8) return from + first;
  const second = bytesBefore(noDigits(load<u64>(from + 8)));
  if (second < 8) return from + 8 + second;
  return from + 16 + bytesBefore(noDigits(load<u64>(from + 16)));
}

/** The number of 1 to 19 digits. */
function wholeNumber(from: usize, to: usize, powers: usize): u64 {
  let sum: u64 = 0;
  let at = from;
  for (; at + 8 <= to; at += 8) sum = sum * 100_000_000 + eightDigits(load<u64>(at));
  const rest = to - at;
  if (rest === 0) return sum;
  return sum * (load<f64>(powers + (rest << 3)) as u64) + firstDigits(load<u64>(at), rest);
}

/**
 * Scans lines that follow the head as they did before, with numbers and a time. Lines start before `starts`,
 * and end before `end`, unless the body ends there (`isLast`). Stops at the first other line, after `most`
 * points and lines, or when the columns are full.
 *
 * The columns have `capacity` rows: times and values as f64, then lines, series and new names as u32. A name
 * without a number in the slice gets the next number, and its index becomes a new name. A time is divided by
 * `divisor`, 10^cutDigits, then multiplied by `factor`. Results as u32: the place and the number of the next
 * line, the last head, the counts of points, of new names and of points with a cut time, the rest of `most`.
 */
export function scanLines(
  results: usize,
  from: usize,
  starts: usize,
  end: usize,
  isLast: bool,
  firstHead: usize,
  firstLine: u32,
  slice: u32,
  firstNumber: u32,
  most: i32,
  cutDigits: usize,
  divisor: u32,
  factor: f64,
  timeMsMax: f64,
  powers: usize,
  columns: usize,
  capacity: u32,
): void {
  const times = columns;
  const values = times + ((capacity as usize) << 3);
  const lines = values + ((capacity as usize) << 3);
  const series = lines + ((capacity as usize) << 2);
  const newNames = series + ((capacity as usize) << 2);
  let at = from;
  let head = firstHead;
  let line = firstLine;
  let left = most;
  let number = firstNumber;
  let count: u32 = 0;
  let names: u32 = 0;
  let cutPoints: u32 = 0;
  // Times of lines that follow each other have as many digits, and mostly the same first ones.
  let usualEight: u64 = 0;
  let usualRest: usize = 0;
  let usualMask: u64 = 0;
  let usualEnd: u64 = 1;
  let usualTime: u64 = 0;
  while (at < starts && left > 0) {
    const next = load<u32>(head) as usize;
    if (next === 0) break;
    let field = load<u32>(next, 4) as usize;
    let to = at;
    let points = count;
    while (field !== 0 && points < capacity) {
      const length = load<u32>(field, 8) as usize;
      if (to + length > end || !isSame(to, field + bytesAt, length)) break;
      to = scanValue(to + length, powers, values + ((points as usize) << 3));
      if (to === 0 || to >= end) break;
      // The record, until the line is known to be whole: only series with points have a number.
      store<u32>(series + ((points as usize) << 2), load<u32>(field, 4));
      points++;
      field = load<u32>(field) as usize;
      if (load<u8>(to) !== comma) break;
    }
    if (field !== 0 || points === count || to === 0 || to >= end || load<u8>(to) !== space) break;
    const timeFrom = to + 1;
    const firstEight = load<u64>(timeFrom);
    const nextEight = load<u64>(timeFrom + 8);
    const isUsual = firstEight === usualEight && (noDigits(nextEight) & usualMask) === usualEnd;
    const timeTo = isUsual ? timeFrom + 8 + usualRest : timeEnd(timeFrom);
    const digits = timeTo - timeFrom;
    if (digits <= cutDigits || digits - cutDigits > exactDigits || digits > timeDigitsMax) break;
    if (timeTo < end ? load<u8>(timeTo) !== newline : !isLast || timeTo > end) break;
    const time = isUsual
      ? usualTime + firstDigits(nextEight, usualRest)
      : wholeNumber(timeFrom, timeTo, powers);
    if (!isUsual && digits > 8 && digits < 16) {
      usualEight = firstEight;
      usualRest = digits - 8;
      usualEnd = (0x80 as u64) << ((usualRest << 3) as u64);
      usualMask = (usualEnd << 1) - 1;
      usualTime = time - firstDigits(nextEight, usualRest);
    }
    const whole = divisor === 1 ? time : time / (divisor as u64);
    const timeMs = (whole as f64) * factor;
    if (!(timeMs <= timeMsMax)) break;
    if (whole * (divisor as u64) !== time) cutPoints += points - count;
    left -= 1 + points - count;
    for (; count < points; count++) {
      store<f64>(times + ((count as usize) << 3), timeMs);
      store<u32>(lines + ((count as usize) << 2), line);
      const place = series + ((count as usize) << 2);
      const name = load<u32>(place) as usize;
      if (load<u32>(name) !== slice) {
        store<u32>(name, slice);
        store<u32>(name, number, 4);
        store<u32>(newNames + ((names as usize) << 2), load<u32>(name, 8));
        number++;
        names++;
      }
      store<u32>(place, load<u32>(name, 4));
    }
    at = timeTo + 1;
    line++;
    head = next;
  }
  store<u32>(results, at as u32);
  store<u32>(results, line, 4);
  store<u32>(results, head as u32, 8);
  store<u32>(results, count, 12);
  store<u32>(results, names, 16);
  store<u32>(results, cutPoints, 20);
  store<i32>(results, left, 24);
}
