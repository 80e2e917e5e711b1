// The loops over the points of a block, compiled to WebAssembly: `npm run kernels` writes them to
// src/storage/kernels-binary.ts. The language is AssemblyScript, TypeScript with the
// types of WebAssembly.
//
// Arguments that are places in memory have the type usize. The caller (src/storage/kernels.ts) passes places
// with enough memory; eight bytes before and after packed bits may be read, too. Results have the bits that
// FORMAT.md defines: no calculation is reordered.

export { decodeBlock } from "./blocks";

/** The results of `decodeSymbols`. */
const decoded: i32 = 0;
const endsEarly: i32 = 1;
const endsElsewhere: i32 = 2;
const malformedLevels: i32 = 3;

/** Of the arguments of `decodeSymbols` that are places of tables. */
const stepsAt: usize = 256 * 4;
const runsAt: usize = stepsAt + 4096 * 8;
const levelMax: i32 = 25;
const zerosMax: u32 = 16;

/**
 * Reads the levels of the symbols as u32, which begin with the first bit. Returns the number of their bits,
 * or -1 when they are not levels.
 */
function readLevels(bits: usize, end: i32, levels: usize, kinds: u32): i32 {
  let at: i32 = 0;
  let level: i32 = 0;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const word = load<u64>(bits + (at >> 3)) >> ((at & 7) as u64);
    const zeros = ctz(word) as u32;
    if (zeros > zerosMax) return -1;
    const low = ((word >> ((zeros + 1) as u64)) as u32) & ((1 << zeros) - 1);
    const change = ((1 << zeros) + low - 1) as i32;
    at += (2 * zeros + 1) as i32;
    level += (change & 1) === 1 ? -((change + 1) >> 1) : change >> 1;
    if (at > end || level < 0 || level > levelMax) return -1;
    store<i32>(levels + (symbol << 2), level);
  }
  return at;
}

function weightOf(level: u32): u32 {
  return sqrt<f64>(((1 as u64) << ((level + 7) as u64)) as f64) as u32;
}

/**
 * Replaces the levels of symbols by their frequencies, `size` in all. Returns false without symbols. `shares`
 * has space for a number for each level: symbols of one level have one frequency.
 */
function frequenciesOf(levels: usize, kinds: u32, size: u32, shares: usize): bool {
  for (let level: u32 = 1; level <= (levelMax as u32); level++)
    store<u32>(shares + (level << 2), weightOf(level));
  store<u32>(shares, 0);
  let weight: u32 = 0;
  let present: u32 = 0;
  let heaviest: u32 = 0;
  let most: u32 = 0;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const level = load<u32>(levels + (symbol << 2));
    present += level === 0 ? 0 : 1;
    weight += load<u32>(shares + (level << 2));
    if (level > most) {
      most = level;
      heaviest = symbol;
    }
  }
  if (present === 0) return false;
  for (let level: u32 = 1; level <= most; level++) {
    const place = shares + (level << 2);
    store<u32>(place, 1 + (load<u32>(place) * (size - present)) / weight);
  }
  let rest = size;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const place = levels + (symbol << 2);
    const frequency = load<u32>(shares + (load<u32>(place) << 2));
    store<u32>(place, frequency);
    rest -= frequency;
  }
  const place = levels + (heaviest << 2);
  store<u32>(place, load<u32>(place) + rest);
  return true;
}

/** The smallest and the largest coder. */
const logMin: u32 = 5;
const logMax: u32 = 12;

/**
 * The steps without symbols, of coders of all sizes: those of 2^log states begin after 2^(log + 1) others, in the
 * order of the numbers from which `fillSteps` makes them.
 */
export function fillNumbers(numbers: usize): void {
  for (let log = logMin; log <= logMax; log++) {
    const size: u32 = 1 << log;
    for (let number: u32 = 1; number < 2 * size; number++) {
      const bits = log - 31 + clz(number);
      const low = ((0 - bits) & 63) | (((number << bits) - size) << 16);
      store<u64>(numbers + ((2 * size + number) << 3), (low as u64) | ((((1 << bits) - 1) as u64) << 32));
    }
  }
}

/**
 * The step of each state of a coder, in eight bytes: -b modulo 64, with b the number of bits to take; the
 * symbol; in 16 bits the number to add to these bits; and the mask of b bits. Shifts are modulo 64, too, so
 * shifting bits at the top of a word by -b leaves b of them. Overwrites the frequencies.
 */
function fillSteps(
  frequencies: usize,
  kinds: u32,
  log: u32,
  runs: usize,
  steps: usize,
  numbers: usize,
): void {
  const size: u32 = 1 << log;
  let end = runs;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const next = end + load<u32>(frequencies + (symbol << 2));
    const sixteen = i8x16.splat(symbol as i8);
    // The next symbol overwrites the bytes beyond the run.
    for (; end < next; end += 16) v128.store(end, sixteen);
    end = next;
  }
  // States follow each other in steps of `apart` along the runs, so runs do in steps of its inverse along states.
  const apart: u32 = (size >> 1) + (size >> 3) + 3;
  let inverse = apart;
  for (let digits = 3; digits < 12; digits *= 2) inverse *= 2 - apart * inverse;
  const ofSize = numbers + (size << 4);
  let at: u32 = 0;
  for (let state: u32 = 0; state < size; state++) {
    const symbol = load<u8>(runs + at) as u32;
    at = (at + inverse) & (size - 1);
    const number = frequencies + (symbol << 2);
    const next = load<u32>(number);
    store<u32>(number, next + 1);
    store<u64>(steps + (state << 3), load<u64>(ofSize + (next << 3)) | ((symbol << 8) as u64));
  }
}

/** At most 56 bits before bit `at`, at the top of the word. */
function bitsBefore(bits: usize, at: i32): u64 {
  const byte = (at + 7) >> 3;
  return load<u64>(bits + byte - 8) << (((byte << 3) - at) as u64);
}

/** The state after a step, which takes the bits of a word that remain after `shift`. */
function stateAfter(step: u64, mask: u64, word: u64, shift: u64): u32 {
  return ((step >> 16) + ((word >> shift) & mask)) as u32;
}

/**
 * Decodes `count` symbols of `kinds` kinds from `end` bits, with one coder or with four. `tables` has space
 * for the tables above, and `numbers` those of `fillNumbers`.
 */
export function decodeSymbols(
  bits: usize,
  end: i32,
  kinds: u32,
  log: u32,
  coders: i32,
  tables: usize,
  symbols: usize,
  count: i32,
  numbers: usize,
): i32 {
  const steps = tables + stepsAt;
  const start = readLevels(bits, end, tables, kinds);
  if (start < 0 || !frequenciesOf(tables, kinds, 1 << log, steps)) return malformedLevels;
  fillSteps(tables, kinds, log, tables + runsAt, steps, numbers);
  let at = end;
  let a: u32 = 0;
  let b: u32 = 0;
  let c: u32 = 0;
  let d: u32 = 0;
  if (at - coders * (log as i32) < start) return endsEarly;
  const first = 64 - (log as u64);
  a = (bitsBefore(bits, at) >> first) as u32;
  at -= log;
  let index = 0;
  if (coders === 4) {
    b = (bitsBefore(bits, at) >> first) as u32;
    at -= log;
    c = (bitsBefore(bits, at) >> first) as u32;
    at -= log;
    d = (bitsBefore(bits, at) >> first) as u32;
    at -= log;
    // A processor overlaps the steps of four coders, which do not wait for each other.
    for (const last = count - 4; index <= last && at >= start; index += 4) {
      const placeA = steps + (a << 3);
      const placeB = steps + (b << 3);
      const placeC = steps + (c << 3);
      const placeD = steps + (d << 3);
      // Four steps take at most 48 bits.
      const word = bitsBefore(bits, at);
      const stepA = load<u32>(placeA) as u64;
      const stepB = load<u32>(placeB) as u64;
      const stepC = load<u32>(placeC) as u64;
      const stepD = load<u32>(placeD) as u64;
      const shiftB = stepA + stepB;
      const shiftC = shiftB + stepC;
      const shiftD = shiftC + stepD;
      a = stateAfter(stepA, load<u32>(placeA, 4) as u64, word, stepA);
      b = stateAfter(stepB, load<u32>(placeB, 4) as u64, word, shiftB);
      c = stateAfter(stepC, load<u32>(placeC, 4) as u64, word, shiftC);
      d = stateAfter(stepD, load<u32>(placeD, 4) as u64, word, shiftD);
      store<u8>(symbols + index, stepA >> 8);
      store<u8>(symbols + index, stepB >> 8, 1);
      store<u8>(symbols + index, stepC >> 8, 2);
      store<u8>(symbols + index, stepD >> 8, 3);
      at -= ((0 - shiftD) & 63) as i32;
    }
  }
  for (; index < count && at >= start; index++) {
    const place = steps + (a << 3);
    const step = load<u32>(place) as u64;
    store<u8>(symbols + index, step >> 8);
    const next = stateAfter(step, load<u32>(place, 4) as u64, bitsBefore(bits, at), step);
    at -= ((0 - step) & 63) as i32;
    if (coders === 4) {
      // The next coder takes its turn.
      a = b;
      b = c;
      c = d;
      d = next;
    } else a = next;
  }
  if (at < start) return endsEarly;
  return at === start && (a | b | c | d) === 0 ? decoded : endsElsewhere;
}

/** Unpacks `count` numbers of `width` (1 to 32) bits to u32. */
export function unpack(bits: usize, count: i32, width: u32, numbers: usize): void {
  const mask: u64 = ((1 as u64) << (width as u64)) - 1;
  let at: u64 = 0;
  for (let index = 0; index < count; index++) {
    const word = load<u64>(bits + ((at >> 3) as usize)) >> (at & 7);
    store<u32>(numbers + (index << 2), (word & mask) as u32);
    at += width;
  }
}

/** Four bytes as integers. */
function fourBytes(at: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at)));
}

/** Residuals of 32 bits: base + symbol * 2^rawBits + raw bits; `low` are u32, unused with `rawBits` 0. */
export function fillResiduals(
  symbols: usize,
  low: usize,
  rawBits: u32,
  base: i32,
  residuals: usize,
  count: i32,
): void {
  const bases = i32x4.splat(base);
  const last = count - 4;
  let index = 0;
  if (rawBits === 0)
    for (; index <= last; index += 4)
      v128.store(residuals + (index << 2), i32x4.add(bases, fourBytes(symbols + index)));
  else
    for (; index <= last; index += 4) {
      const high = i32x4.add(bases, i32x4.shl(fourBytes(symbols + index), rawBits));
      v128.store(residuals + (index << 2), i32x4.add(high, v128.load(low + (index << 2))));
    }
  for (; index < count; index++) {
    const high = base + ((load<u8>(symbols + index) as i32) << rawBits);
    store<i32>(residuals + (index << 2), rawBits === 0 ? high : high + load<i32>(low + (index << 2)));
  }
}

/** Two integers as doubles, each divided by the lanes of `divisor`. */
function quotients(first: i32, second: i32, divisor: v128): v128 {
  const both = i32x4.replace_lane(i32x4.splat(first), 1, second);
  return f64x2.div(f64x2.convert_low_i32x4_s(both), divisor);
}

/** Predictor 0 of FORMAT.md, "Columns". */
export function restoreNothing(residuals: usize, count: i32, divisor: f64, column: usize): void {
  const divisors = f64x2.splat(divisor);
  let index = 0;
  for (const last = count - 2; index <= last; index += 2) {
    const two = v128.load64_zero(residuals + (index << 2));
    v128.store(column + (index << 3), f64x2.div(f64x2.convert_low_i32x4_s(two), divisors));
  }
  for (; index < count; index++)
    store<f64>(column + (index << 3), (load<i32>(residuals + (index << 2)) as f64) / divisor);
}

/** Predictor 1: the integers after `first`. */
export function restorePrevious(residuals: usize, count: i32, first: i32, divisor: f64, column: usize): void {
  const divisors = f64x2.splat(divisor);
  let number = first;
  let index = 0;
  for (const last = count - 2; index <= last; index += 2) {
    const before = number + load<i32>(residuals + (index << 2));
    number = before + load<i32>(residuals + (index << 2) + 4);
    v128.store(column + (index << 3), quotients(before, number, divisors));
  }
  for (; index < count; index++) {
    number += load<i32>(residuals + (index << 2));
    store<f64>(column + (index << 3), (number as f64) / divisor);
  }
}

/** Predictors 3 and 4: the integers after `first`; the moving average has 2^bits parts. */
export function restoreSmoothed(
  residuals: usize,
  count: i32,
  first: i32,
  bits: i32,
  divisor: f64,
  column: usize,
): void {
  const divisors = f64x2.splat(divisor);
  const half = (1 << bits) >> 1;
  // In parts.
  let mean = first << bits;
  let index = 0;
  for (const last = count - 2; index <= last; index += 2) {
    const residual = load<i32>(residuals + (index << 2));
    const before = ((mean + half) >> bits) + residual;
    mean += residual;
    const next = load<i32>(residuals + (index << 2) + 4);
    v128.store(column + (index << 3), quotients(before, ((mean + half) >> bits) + next, divisors));
    mean += next;
  }
  for (; index < count; index++) {
    const residual = load<i32>(residuals + (index << 2));
    store<f64>(column + (index << 3), ((((mean + half) >> bits) + residual) as f64) / divisor);
    mean += residual;
  }
}

/** `count` doubles: start + index * step. */
export function fillTimes(column: usize, count: i32, start: f64, step: f64): void {
  const starts = f64x2.splat(start);
  const steps = f64x2.splat(step);
  const two = f64x2.splat(2);
  let indexes = f64x2.replace_lane(f64x2.splat(0), 1, 1);
  let index = 0;
  for (const last = count - 2; index <= last; index += 2) {
    v128.store(column + (index << 3), f64x2.add(starts, f64x2.mul(indexes, steps)));
    indexes = f64x2.add(indexes, two);
  }
  for (; index < count; index++) store<f64>(column + (index << 3), start + (index as f64) * step);
}

/** The place of the summary that was calculated last. */
export const summaryAt: usize = 16;
const summaryBytes: usize = 15 * 8;

function sumOf(two: v128): f64 {
  return f64x2.extract_lane(two, 0) + f64x2.extract_lane(two, 1);
}

/**
 * The mean of the lines between points, from the sums of the distances of their ends and of their starts from
 * `first`, each by its time.
 */
function lineMean(first: f64, starts: f64, ends: f64, ms: f64): f64 {
  return first + (starts * 0.5 + ends * 0.5) / ms;
}

/** Stores the fields of a summary that need no mean; `min` and `max` are of the lanes. */
function storeValues(
  summary: usize,
  times: usize,
  values: usize,
  count: i32,
  mins: v128,
  maxs: v128,
  sum: f64,
): void {
  const last = ((count - 1) as usize) << 3;
  const min = f64x2.pmin(mins, v128.shuffle<f64>(mins, mins, 1, 0));
  const max = f64x2.pmax(maxs, v128.shuffle<f64>(maxs, maxs, 1, 0));
  store<f64>(summary, count as f64);
  store<f64>(summary, load<f64>(times), 8);
  store<f64>(summary, load<f64>(values), 16);
  store<f64>(summary, load<f64>(times + last), 24);
  store<f64>(summary, load<f64>(values + last), 32);
  store<f64>(summary, f64x2.extract_lane(min, 0), 40);
  store<f64>(summary, f64x2.extract_lane(max, 0), 48);
  store<f64>(summary, sum, 56);
}

/** The first 8 of the doubles of `summarise`, with the same bits: those that need no mean. */
export function summariseValues(times: usize, values: usize, count: i32, summary: usize): void {
  const first = load<f64>(values);
  const end = values + ((count as usize) << 3);
  let min = f64x2.splat(first);
  let max = min;
  let sums = f64x2.splat(0);
  let at = values + 8;
  for (; at + 8 < end; at += 16) {
    const two = v128.load(at);
    min = f64x2.pmin(min, two);
    max = f64x2.pmax(max, two);
    sums = f64x2.add(sums, two);
  }
  let sum = 0.0 + first + sumOf(sums);
  if (at < end) {
    const last = f64x2.splat(load<f64>(at));
    min = f64x2.pmin(min, last);
    max = f64x2.pmax(max, last);
    sum += f64x2.extract_lane(last, 0);
  }
  storeValues(summary, times, values, count, min, max, sum);
}

/**
 * As `summarise`, but without the squares, which are NaN, and a second pass over the points. Two points at a
 * time: sums are those of the points with odd indexes plus those with even ones.
 */
function summariseMeans(times: usize, values: usize, count: i32, summary: usize): void {
  const first = load<f64>(values);
  const toValues = values - times;
  const end = times + ((count as usize) << 3);
  const base = f64x2.splat(first);
  let min = base;
  let max = base;
  const zero = f64x2.splat(0);
  let sums = zero;
  let variations = zero;
  let aboves = zero;
  // Each distance from the base, by the time to the point before, and by that to the point after.
  let ends = zero;
  let starts = zero;
  let at = times + 8;
  for (; at + 8 < end; at += 16) {
    const two = v128.load(at + toValues);
    const before = v128.load(at + toValues - 8);
    const ms = f64x2.sub(v128.load(at), v128.load(at - 8));
    const above = f64x2.sub(two, base);
    min = f64x2.pmin(min, two);
    max = f64x2.pmax(max, two);
    sums = f64x2.add(sums, two);
    aboves = f64x2.add(aboves, above);
    variations = f64x2.add(variations, f64x2.abs(f64x2.sub(two, before)));
    ends = f64x2.add(ends, f64x2.mul(above, ms));
    starts = f64x2.add(starts, f64x2.mul(f64x2.sub(before, base), ms));
  }
  let sum = 0.0 + first + sumOf(sums);
  let variation = sumOf(variations);
  let above = sumOf(aboves);
  let endAbove = sumOf(ends);
  let stepAbove = sumOf(starts);
  if (at < end) {
    const value = load<f64>(at + toValues);
    const before = load<f64>(at + toValues - 8);
    const ms = load<f64>(at) - load<f64>(at - 8);
    const last = f64x2.splat(value);
    min = f64x2.pmin(min, last);
    max = f64x2.pmax(max, last);
    sum += value;
    variation += abs<f64>(value - before);
    above += value - first;
    endAbove += (value - first) * ms;
    stepAbove += (before - first) * ms;
  }
  storeValues(summary, times, values, count, min, max, sum);
  const ms = load<f64>(summary, 24) - load<f64>(summary, 8);
  store<f64>(summary, first + above / (count as f64), 64);
  store<f64>(summary, NaN, 72);
  store<f64>(summary, variation, 80);
  store<f64>(summary, count > 1 ? lineMean(first, stepAbove, endAbove, ms) : first, 88);
  store<f64>(summary, NaN, 96);
  store<f64>(summary, count > 1 ? first + stepAbove / ms : first, 104);
  store<f64>(summary, NaN, 112);
}

/**
 * The summary of `count` points (1 or more): 15 doubles in the order of FORMAT.md, "Summary".
 */
export function summarise(times: usize, values: usize, count: i32, summary: usize): void {
  summariseMeans(times, values, count, summary);
  const base = load<f64>(values);
  const mean = load<f64>(summary, 64);
  const lineMean = load<f64>(summary, 88);
  const stepMean = load<f64>(summary, 104);
  let squares = (base - mean) * (base - mean);
  let lineSquares: f64 = 0;
  let stepSquares: f64 = 0;
  let lastFromLine = base - lineMean;
  let lastFromStep = base - stepMean;
  let beforeMs = load<f64>(times);
  for (let index = 1; index < count; index++) {
    const timeMs = load<f64>(times + (index << 3));
    const value = load<f64>(values + (index << 3));
    const stepMs = timeMs - beforeMs;
    const distance = value - mean;
    const fromLine = value - lineMean;
    squares += distance * distance;
    lineSquares += (lastFromLine * lastFromLine + lastFromLine * fromLine + fromLine * fromLine) * stepMs;
    stepSquares += lastFromStep * lastFromStep * stepMs;
    beforeMs = timeMs;
    lastFromLine = fromLine;
    lastFromStep = value - stepMean;
  }
  store<f64>(summary, squares, 72);
  store<f64>(summary, lineSquares / 3.0, 96);
  store<f64>(summary, stepSquares, 112);
}

/** Bits of `Aggregation.wants`. */
const isStep: i32 = 1;
const wantsValues: i32 = 2;
const wantsValueSquares: i32 = 4;
const wantsTime: i32 = 8;
const wantsTimeSquares: i32 = 16;
const wantsVariation: i32 = 32;
const wantsLine: i32 = 64;
const wantsStep: i32 = 128;

/**
 * The state of an aggregation, which src/storage/aggregation.ts describes: it sets the first fields. The
 * numbers of the functions follow it, in four bytes each.
 */
@unmanaged
class Aggregation {
  startMs: f64;
  endMs: f64;
  bucketMs: f64;
  wants: i32;
  /** Number of functions. */
  functions: i32;
  /** The place of the rows of this call, and their number. A column has space for `capacity`. */
  rowsAt: i32;
  capacity: i32;
  rows: i32;
  hasLast: i32;
  isOpen: i32;
  lastMs: f64;
  lastValue: f64;
  completedByMs: f64;
  nextMs: f64;
  bucketStartMs: f64;
  count: f64;
  variation: f64;
  interpolation: f64;
  stepInterpolation: f64;
  firstMs: f64;
  firstValue: f64;
  // Of the values of the open bucket.
  valueCount: f64;
  min: f64;
  max: f64;
  sum: f64;
  mean: f64;
  squares: f64;
  // Of the interpolated series in it.
  ms: f64;
  timeMean: f64;
  timeSquares: f64;
}

function isWanted(all: Aggregation, bit: i32): bool {
  return (all.wants & bit) !== 0;
}

/** The first column has the times, and the others follow it. */
function storeCell(all: Aggregation, column: i32, value: f64): void {
  store<f64>((all.rowsAt as usize) + (((column * all.capacity + all.rows) as usize) << 3), value);
}

function functionAt(all: Aggregation, index: i32): i32 {
  return load<i32>(changetype<usize>(all) + offsetof<Aggregation>() + ((index as usize) << 2));
}

/** As `TimeStats.add`. */
function addTime(all: Aggregation, ms: f64, mean: f64, squares: f64): void {
  if (ms <= 0) return;
  if (all.ms === 0) {
    all.ms = ms;
    all.timeMean = mean;
    all.timeSquares = squares;
    return;
  }
  const whole = all.ms + ms;
  const distance = mean - all.timeMean;
  all.timeSquares += squares + distance * distance * ((all.ms / whole) * ms);
  all.timeMean += distance * (ms / whole);
  all.ms = whole;
}

/** As `ValueStats.add`. */
function addValues(
  all: Aggregation,
  count: f64,
  min: f64,
  max: f64,
  sum: f64,
  mean: f64,
  squares: f64,
): void {
  if (all.valueCount === 0) {
    all.valueCount = count;
    all.min = min;
    all.max = max;
    all.sum = sum;
    all.mean = mean;
    all.squares = squares;
    return;
  }
  if (min < all.min) all.min = min;
  if (max > all.max) all.max = max;
  const whole = all.valueCount + count;
  const distance = mean - all.mean;
  all.squares += squares + distance * distance * ((all.valueCount / whole) * count);
  all.mean += distance * (count / whole);
  all.sum += sum;
  all.valueCount = whole;
}

/** Adds a segment of the interpolated series to the open bucket: a line, or for a step series `from`. */
function addSegment(all: Aggregation, ms: f64, from: f64, to: f64): void {
  if (isWanted(all, isStep)) {
    addTime(all, ms, from, 0);
    return;
  }
  const change = to - from;
  addTime(all, ms, from / 2 + to / 2, ((change * change) / 12) * ms);
  all.variation += abs<f64>(change);
}

function interpolate(all: Aggregation, atMs: f64, nextMs: f64, nextValue: f64): f64 {
  if (atMs === nextMs) return nextValue;
  if (isWanted(all, isStep)) return all.lastValue;
  const share = (atMs - all.lastMs) / (nextMs - all.lastMs);
  return all.lastValue + (nextValue - all.lastValue) * share;
}

/** By the order of src/storage/points.ts. */
function functionValue(all: Aggregation, code: i32): f64 {
  switch (code) {
    case 0:
      // Without a length, the interpolated series has only the one point.
      return all.ms > 0 ? all.timeMean : all.lastValue;
    case 1:
      return all.max;
    case 2:
      return all.min;
    case 3:
      return all.count;
    case 4:
      return all.sum;
    case 5:
      return all.interpolation;
    case 6:
      return all.stepInterpolation;
    case 7:
      return all.ms > 0 ? all.timeSquares / all.ms : 0;
    case 8:
      return all.squares / all.valueCount;
    case 9:
      return all.variation;
    case 10:
      return all.firstMs;
    case 11:
      return all.firstValue;
    case 12:
      return all.lastMs;
    case 13:
      return all.lastValue;
    default:
      return all.ms;
  }
}

function closeBucket(all: Aggregation): void {
  all.isOpen = 0;
  let hasValue = false;
  for (let index = 0; index < all.functions; index++) {
    const value = functionValue(all, functionAt(all, index));
    storeCell(all, index + 1, value);
    hasValue = hasValue || value - value === 0;
  }
  if (!hasValue) return;
  storeCell(all, 0, all.bucketStartMs);
  all.rows++;
}

function addEmptyRow(all: Aggregation, interpolation: f64): void {
  storeCell(all, 0, all.nextMs);
  for (let index = 0; index < all.functions; index++) {
    const code = functionAt(all, index);
    storeCell(all, index + 1, code === 5 ? interpolation : code === 6 ? all.lastValue : NaN);
  }
  all.rows++;
  all.nextMs += all.bucketMs;
}

/** Completes the buckets before `untilMs`, or some of them, with the interpolation to the next point. */
function completeBuckets(all: Aggregation, untilMs: f64, nextMs: f64, nextValue: f64): void {
  if (all.isOpen !== 0) {
    const endMs = all.bucketStartMs + all.bucketMs;
    addSegment(all, endMs - all.lastMs, all.lastValue, interpolate(all, endMs, nextMs, nextValue));
    closeBucket(all);
  }
  if (!isWanted(all, wantsLine | wantsStep)) return;
  while (all.nextMs < untilMs && all.rows < all.capacity)
    addEmptyRow(all, interpolate(all, all.nextMs, nextMs, nextValue));
}

function openBucket(all: Aggregation, startMs: f64, timeMs: f64, value: f64): void {
  all.isOpen = 1;
  all.bucketStartMs = startMs;
  all.nextMs = startMs + all.bucketMs;
  all.count = 0;
  all.variation = 0;
  all.valueCount = 0;
  all.min = NaN;
  all.max = NaN;
  all.sum = 0;
  all.mean = 0;
  all.squares = 0;
  all.ms = 0;
  all.timeMean = 0;
  all.timeSquares = 0;
  all.firstMs = timeMs;
  all.firstValue = value;
  const isAtStart = timeMs === startMs;
  all.interpolation = isAtStart ? value : NaN;
  all.stepInterpolation = isAtStart ? value : all.lastValue;
  if (isAtStart || all.hasLast === 0) return;
  all.interpolation = interpolate(all, startMs, timeMs, value);
  addSegment(all, timeMs - startMs, all.interpolation, value);
  if (isWanted(all, isStep)) all.variation += abs<f64>(value - all.lastValue);
}

/**
 * Advances along the interpolated series from the last point to this one. Completes the buckets before it and
 * opens its own. Returns false when there is no space for more rows: then call it again.
 */
function advanceTo(all: Aggregation, timeMs: f64, value: f64): bool {
  all.completedByMs = timeMs;
  if (all.isOpen !== 0 && timeMs < all.bucketStartMs + all.bucketMs) {
    addSegment(all, timeMs - all.lastMs, all.lastValue, value);
    // The step happens at the point itself, which is inside the bucket.
    if (isWanted(all, isStep)) all.variation += abs<f64>(value - all.lastValue);
    return true;
  }
  const startMs = all.startMs + floor<f64>((timeMs - all.startMs) / all.bucketMs) * all.bucketMs;
  if (all.hasLast !== 0) completeBuckets(all, startMs, timeMs, value);
  if (all.rows >= all.capacity) return false;
  openBucket(all, startMs, timeMs, value);
  return true;
}

function remember(all: Aggregation, timeMs: f64, value: f64): void {
  all.hasLast = 1;
  all.lastMs = timeMs;
  all.lastValue = value;
}

/**
 * Adds the lines between the points up to `last`, without their squares. The mean has the same bits as that of
 * `summariseMeans`: a bucket gives one result, whether it is read by its points or by a summary of them.
 */
function addLines(all: Aggregation, times: usize, values: usize, last: usize): void {
  const first = load<f64>(values);
  const toValues = values - times;
  const base = f64x2.splat(first);
  let ends = f64x2.splat(0);
  let starts = ends;
  let at = times + 8;
  for (; at + 8 < last; at += 16) {
    const two = v128.load(at + toValues);
    const before = v128.load(at + toValues - 8);
    const ms = f64x2.sub(v128.load(at), v128.load(at - 8));
    ends = f64x2.add(ends, f64x2.mul(f64x2.sub(two, base), ms));
    starts = f64x2.add(starts, f64x2.mul(f64x2.sub(before, base), ms));
  }
  let endAbove = sumOf(ends);
  let startAbove = sumOf(starts);
  if (at < last) {
    const ms = load<f64>(at) - load<f64>(at - 8);
    endAbove += (load<f64>(at + toValues) - first) * ms;
    startAbove += (load<f64>(at + toValues - 8) - first) * ms;
  }
  const ms = load<f64>(last - 8) - load<f64>(times);
  if (ms > 0) addTime(all, ms, lineMean(first, startAbove, endAbove, ms), 0);
}

/** Adds the extremes and the sum of the points up to `last`. */
function addExtremes(all: Aggregation, times: usize, values: usize, last: usize): void {
  summariseValues(times, values, ((last - times) >> 3) as i32, summaryAt);
  addValues(
    all,
    load<f64>(summaryAt),
    load<f64>(summaryAt, 40),
    load<f64>(summaryAt, 48),
    load<f64>(summaryAt, 56),
    0,
    0,
  );
}

/** Adds everything of the points up to `last`, but only the squares that are wanted. */
function addAll(all: Aggregation, times: usize, values: usize, last: usize): void {
  summariseMeans(times, values, ((last - times) >> 3) as i32, summaryAt);
  const mean = load<f64>(summaryAt, 64);
  if (isWanted(all, wantsValueSquares))
    store<f64>(summaryAt, valueSquares(values, values + (last - times), mean), 72);
  if (isWanted(all, wantsTimeSquares)) {
    if (isWanted(all, isStep))
      store<f64>(summaryAt, stepSquares(times, values, last, load<f64>(summaryAt, 104)), 112);
    else store<f64>(summaryAt, lineSquares(times, values, last, load<f64>(summaryAt, 88)), 96);
  }
  addFields(all, summaryAt);
}

/** Adds all of a summary but its ends. */
function addFields(all: Aggregation, summary: usize): void {
  all.variation += load<f64>(summary, 80);
  addValues(
    all,
    load<f64>(summary),
    load<f64>(summary, 40),
    load<f64>(summary, 48),
    load<f64>(summary, 56),
    load<f64>(summary, 64),
    load<f64>(summary, 72),
  );
  const ms = load<f64>(summary, 24) - load<f64>(summary, 8);
  const integral = summary + (isWanted(all, isStep) ? 104 : 88);
  addTime(all, ms, load<f64>(integral), load<f64>(integral, 8));
}

function valueSquares(values: usize, last: usize, mean: f64): f64 {
  let squares: f64 = 0;
  for (let at = values; at < last; at += 8) {
    const distance = load<f64>(at) - mean;
    squares += distance * distance;
  }
  return squares;
}

function lineSquares(times: usize, values: usize, last: usize, mean: f64): f64 {
  let squares: f64 = 0;
  let lastMs = load<f64>(times);
  let before = load<f64>(values) - mean;
  for (let at = times + 8; at < last; at += 8) {
    const timeMs = load<f64>(at);
    const next = load<f64>(values + (at - times)) - mean;
    squares += (before * before + before * next + next * next) * (timeMs - lastMs);
    lastMs = timeMs;
    before = next;
  }
  return squares / 3;
}

function stepSquares(times: usize, values: usize, last: usize, mean: f64): f64 {
  let squares: f64 = 0;
  let lastMs = load<f64>(times);
  let before = load<f64>(values) - mean;
  for (let at = times + 8; at < last; at += 8) {
    const timeMs = load<f64>(at);
    squares += before * before * (timeMs - lastMs);
    lastMs = timeMs;
    before = load<f64>(values + (at - times)) - mean;
  }
  return squares;
}

/**
 * The end of the points before `endMs`, of which the first one is. Buckets of regular points have as many as
 * the one before, so `likely` of them are tried first.
 */
function endOfBucket(times: usize, last: usize, endMs: f64, likely: usize): usize {
  let low = times + 8;
  let high = last;
  const guess = times + likely;
  if (guess >= low && guess < last) {
    if (load<f64>(guess) < endMs) low = guess + 8;
    else high = guess;
    if (guess > times + 8 && low < guess && load<f64>(guess - 8) < endMs) return guess;
  }
  // The first time in [low, high) that is not before the end, in steps that grow.
  for (let step: usize = 8; low + step < high; step <<= 1) {
    if (load<f64>(low + step) >= endMs) {
      high = low + step;
      break;
    }
    low += step + 8;
  }
  while (low < high) {
    const middle = low + (((high - low) >> 4) << 3);
    if (load<f64>(middle) < endMs) low = middle + 8;
    else high = middle;
  }
  return low;
}

/** Adds the points to the aggregation. Returns how many: fewer than `count` when it has no space for rows. */
export function aggregatePoints(state: usize, times: usize, values: usize, count: i32): i32 {
  const all = changetype<Aggregation>(state);
  const last = times + ((count as usize) << 3);
  const needsTime = isWanted(all, wantsTime);
  const needsValues = isWanted(all, wantsValues);
  const needsSquares = isWanted(all, wantsValueSquares | wantsTimeSquares);
  const needsAll =
    needsSquares || isWanted(all, wantsVariation) || (needsTime && (needsValues || isWanted(all, isStep)));
  let at = times;
  let likely: usize = 8;
  while (at < last && all.rows < all.capacity) {
    const from = values + (at - times);
    if (!advanceTo(all, load<f64>(at), load<f64>(from))) break;
    const end = endOfBucket(at, last, all.bucketStartMs + all.bucketMs, likely);
    likely = end - at;
    if (needsAll) addAll(all, at, from, end);
    else if (needsTime) addLines(all, at, from, end);
    else if (needsValues) addExtremes(all, at, from, end);
    all.count += (likely >> 3) as f64;
    remember(all, load<f64>(end - 8), load<f64>(values + (end - 8 - times)));
    at = end;
  }
  return ((at - times) >> 3) as i32;
}

/**
 * Stores the summaries of the points in each bucket, of at most `most` buckets, one after the other. Returns how
 * many. One of the buckets starts at `startMs`. Without squares, these are NaN.
 */
export function summariseBuckets(
  times: usize,
  values: usize,
  count: i32,
  startMs: f64,
  bucketMs: f64,
  needsSquares: bool,
  summaries: usize,
  most: i32,
): i32 {
  const last = times + ((count as usize) << 3);
  let at = times;
  let likely: usize = 8;
  let stored = 0;
  while (at < last && stored < most) {
    const from = values + (at - times);
    const endMs = startMs + (floor<f64>((load<f64>(at) - startMs) / bucketMs) + 1) * bucketMs;
    const end = endOfBucket(at, last, endMs, likely);
    const summary = summaries + (stored as usize) * summaryBytes;
    likely = end - at;
    if (needsSquares) summarise(at, from, (likely >> 3) as i32, summary);
    else summariseMeans(at, from, (likely >> 3) as i32, summary);
    at = end;
    stored++;
  }
  return stored;
}

/** Adds summaries, each of points in one bucket. Returns how many: fewer when it has no space for rows. */
export function aggregateSummaries(state: usize, summaries: usize, count: i32): i32 {
  const all = changetype<Aggregation>(state);
  let added = 0;
  while (added < count && addSummary(all, summaries + (added as usize) * summaryBytes)) added++;
  return added;
}

/** Returns whether there was space for the rows before it. */
function addSummary(all: Aggregation, summary: usize): bool {
  const firstMs = load<f64>(summary, 8);
  const lastMs = load<f64>(summary, 24);
  if (!advanceTo(all, firstMs, load<f64>(summary, 16))) return false;
  all.count += load<f64>(summary);
  addFields(all, summary);
  remember(all, lastMs, load<f64>(summary, 32));
  return true;
}

/**
 * Completes the buckets, with the first point after the range if there is one. Call it again when there was
 * no space for more rows.
 */
export function finishAggregation(state: usize, hasAfter: bool, afterMs: f64, afterValue: f64): void {
  const all = changetype<Aggregation>(state);
  if (all.hasLast === 0) return;
  if (hasAfter) completeBuckets(all, all.endMs, afterMs, afterValue);
  else if (isWanted(all, isStep)) completeBuckets(all, all.endMs, Infinity, all.lastValue);
  else {
    // The interpolated series ends at the last point.
    if (all.isOpen !== 0) closeBucket(all);
    while (isWanted(all, wantsStep) && all.nextMs < all.endMs && all.rows < all.capacity)
      addEmptyRow(all, NaN);
  }
}
