// The loops over the points of a block, compiled to WebAssembly: `npm run kernels` writes them to
// src/storage/embedded-points/codec/kernels-binary.ts. The language is AssemblyScript, TypeScript with the
// types of WebAssembly.
//
// Arguments that are places in memory have the type usize. The caller (codec/kernels.ts) passes places with
// enough memory; eight bytes before and after packed bits may be read, too. Results have the bits that
// FORMAT.md defines: no calculation is reordered.

/** The results of `decodeSymbols`. */
const decoded: i32 = 0;
const endsEarly: i32 = 1;
const endsElsewhere: i32 = 2;
const malformedLevels: i32 = 3;

/** Of the arguments of `decodeSymbols` that are places of tables. */
const stepsAt: usize = 256 * 4;
const spreadAt: usize = stepsAt + 4096 * 4;
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

/** Replaces the levels of symbols by their frequencies, `size` in all. Returns false without symbols. */
function frequenciesOf(levels: usize, kinds: u32, size: u32): bool {
  let weight: u32 = 0;
  let present: u32 = 0;
  let heaviest: u32 = 0;
  let most: u32 = 0;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const level = load<u32>(levels + (symbol << 2));
    if (level === 0) continue;
    present++;
    weight += weightOf(level);
    if (level > most) {
      most = level;
      heaviest = symbol;
    }
  }
  if (present === 0) return false;
  let rest = size;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    const place = levels + (symbol << 2);
    const level = load<u32>(place);
    if (level === 0) continue;
    const frequency = 1 + (weightOf(level) * (size - present)) / weight;
    store<u32>(place, frequency);
    rest -= frequency;
  }
  const place = levels + (heaviest << 2);
  store<u32>(place, load<u32>(place) + rest);
  return true;
}

/**
 * The step of each state of a coder: its symbol, then in 4 bits the number of bits to take, then the number
 * to add to these bits. Overwrites the frequencies.
 */
function fillSteps(frequencies: usize, kinds: u32, log: u32, spread: usize, steps: usize): void {
  const size: u32 = 1 << log;
  const apart: u32 = (size >> 1) + (size >> 3) + 3;
  let at: u32 = 0;
  for (let symbol: u32 = 0; symbol < kinds; symbol++) {
    for (let times = load<u32>(frequencies + (symbol << 2)); times > 0; times--) {
      store<u8>(spread + at, symbol);
      at = (at + apart) & (size - 1);
    }
  }
  for (let state: u32 = 0; state < size; state++) {
    const symbol = load<u8>(spread + state) as u32;
    const number = frequencies + (symbol << 2);
    const next = load<u32>(number);
    store<u32>(number, next + 1);
    const bits = log - (31 - clz(next));
    store<u32>(steps + (state << 2), symbol | (bits << 8) | (((next << bits) - size) << 12));
  }
}

/** At most 56 bits before bit `at`, at the top of the word. */
function bitsBefore(bits: usize, at: i32): u64 {
  const byte = (at + 7) >> 3;
  return load<u64>(bits + byte - 8) << (((byte << 3) - at) as u64);
}

/** The top `count` bits of a word. JavaScript shifts by 0 instead of 64, and so does WebAssembly. */
function top(word: u64, count: u32): u32 {
  return ((word >> 1) >> ((63 - count) as u64)) as u32;
}

function bitsOf(step: u32): u32 {
  return (step >> 8) & 15;
}

/**
 * Decodes `count` symbols of `kinds` kinds from `end` bits, with one coder or with four. `tables` has space
 * for the tables above.
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
): i32 {
  const steps = tables + stepsAt;
  const start = readLevels(bits, end, tables, kinds);
  if (start < 0 || !frequenciesOf(tables, kinds, 1 << log)) return malformedLevels;
  fillSteps(tables, kinds, log, tables + spreadAt, steps);
  let at = end;
  let a: u32 = 0;
  let b: u32 = 0;
  let c: u32 = 0;
  let d: u32 = 0;
  if (at - coders * (log as i32) < start) return endsEarly;
  a = top(bitsBefore(bits, at), log);
  at -= log;
  let index = 0;
  if (coders === 4) {
    b = top(bitsBefore(bits, at), log);
    at -= log;
    c = top(bitsBefore(bits, at), log);
    at -= log;
    d = top(bitsBefore(bits, at), log);
    at -= log;
    // A processor overlaps the steps of four coders, which do not wait for each other.
    for (const last = count - 4; index <= last && at >= start; index += 4) {
      const stepA = load<u32>(steps + (a << 2));
      const stepB = load<u32>(steps + (b << 2));
      const stepC = load<u32>(steps + (c << 2));
      const stepD = load<u32>(steps + (d << 2));
      const four = (stepA & 255) | ((stepB & 255) << 8) | ((stepC & 255) << 16) | (stepD << 24);
      store<u32>(symbols + index, four);
      // Four steps take at most 48 bits.
      const word = bitsBefore(bits, at);
      const bitsA = bitsOf(stepA);
      const bitsAB = bitsA + bitsOf(stepB);
      const bitsABC = bitsAB + bitsOf(stepC);
      a = (stepA >> 12) + top(word, bitsA);
      b = (stepB >> 12) + top(word << (bitsA as u64), bitsOf(stepB));
      c = (stepC >> 12) + top(word << (bitsAB as u64), bitsOf(stepC));
      d = (stepD >> 12) + top(word << (bitsABC as u64), bitsOf(stepD));
      at -= bitsABC + bitsOf(stepD);
    }
  }
  for (; index < count && at >= start; index++) {
    const step = load<u32>(steps + (a << 2));
    store<u8>(symbols + index, step);
    const next = (step >> 12) + top(bitsBefore(bits, at), bitsOf(step));
    at -= bitsOf(step);
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

/** Residuals of 32 bits: base + symbol * 2^rawBits + raw bits; `low` are u32, unused with `rawBits` 0. */
export function fillResiduals(
  symbols: usize,
  low: usize,
  rawBits: u32,
  base: i32,
  residuals: usize,
  count: i32,
): void {
  if (rawBits === 0)
    for (let index = 0; index < count; index++)
      store<i32>(residuals + (index << 2), base + (load<u8>(symbols + index) as i32));
  else
    for (let index = 0; index < count; index++) {
      const high = (load<u8>(symbols + index) as i32) << rawBits;
      store<i32>(residuals + (index << 2), base + high + load<i32>(low + (index << 2)));
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

/**
 * The first 8 of the doubles of `summarise`, with the same bits: those that need no mean. Takes a quarter of
 * its time.
 */
export function summariseValues(times: usize, values: usize, count: i32, summary: usize): void {
  const first = load<f64>(values);
  let min = first;
  let max = first;
  let sum: f64 = 0.0 + first;
  let last = first;
  for (let index = 1; index < count; index++) {
    last = load<f64>(values + (index << 3));
    min = last < min ? last : min;
    max = last > max ? last : max;
    sum += last;
  }
  store<f64>(summary, count as f64);
  store<f64>(summary, load<f64>(times), 8);
  store<f64>(summary, first, 16);
  store<f64>(summary, load<f64>(times + ((count - 1) << 3)), 24);
  store<f64>(summary, last, 32);
  store<f64>(summary, min, 40);
  store<f64>(summary, max, 48);
  store<f64>(summary, sum, 56);
}

/**
 * The summary of `count` points (1 or more): 15 doubles in the order of FORMAT.md, "Summary". Each sum is
 * added in the order of the points.
 */
export function summarise(times: usize, values: usize, count: i32, summary: usize): void {
  const firstMs = load<f64>(times);
  const base = load<f64>(values);
  let min = base;
  let max = base;
  let sum: f64 = 0.0 + base;
  let variation: f64 = 0;
  let above: f64 = 0;
  let lineAbove: f64 = 0;
  let stepAbove: f64 = 0;
  let lastMs = firstMs;
  let last = base;
  let lastAbove: f64 = 0;
  for (let index = 1; index < count; index++) {
    const timeMs = load<f64>(times + (index << 3));
    const value = load<f64>(values + (index << 3));
    const stepMs = timeMs - lastMs;
    const valueAbove = value - base;
    min = value < min ? value : min;
    max = value > max ? value : max;
    sum += value;
    variation += abs<f64>(value - last);
    above += valueAbove;
    lineAbove += (lastAbove * 0.5 + valueAbove * 0.5) * stepMs;
    stepAbove += lastAbove * stepMs;
    lastMs = timeMs;
    last = value;
    lastAbove = valueAbove;
  }
  const ms = lastMs - firstMs;
  const mean = base + above / (count as f64);
  const lineMean = count > 1 ? base + lineAbove / ms : base;
  const stepMean = count > 1 ? base + stepAbove / ms : base;
  let squares = (base - mean) * (base - mean);
  let lineSquares: f64 = 0;
  let stepSquares: f64 = 0;
  let lastFromLine = base - lineMean;
  let lastFromStep = base - stepMean;
  let beforeMs = firstMs;
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
  store<f64>(summary, count as f64);
  store<f64>(summary, firstMs, 8);
  store<f64>(summary, base, 16);
  store<f64>(summary, lastMs, 24);
  store<f64>(summary, last, 32);
  store<f64>(summary, min, 40);
  store<f64>(summary, max, 48);
  store<f64>(summary, sum, 56);
  store<f64>(summary, mean, 64);
  store<f64>(summary, squares, 72);
  store<f64>(summary, variation, 80);
  store<f64>(summary, lineMean, 88);
  store<f64>(summary, lineSquares / 3.0, 96);
  store<f64>(summary, stepMean, 104);
  store<f64>(summary, stepSquares, 112);
}
