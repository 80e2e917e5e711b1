// Decodes a block of FORMAT.md in one call, if it has the codecs of most series. Part of kernels.ts.
import {
  decodeSymbols,
  fillResiduals,
  fillTimes,
  restoreNothing,
  restorePrevious,
  restoreSmoothed,
  unpack,
} from "./kernels";

const headerBytes: usize = 36;
const version: u32 = 1;
const pointsMax: u32 = 1 << 20;
/** Integers of the format are within this, and exact in a double. */
const integerMax: f64 = 1125899906842624;
/** Values that are decoded at least. */
const wantedMin: i32 = 8;
/** Codecs of times and of values, and the bit of a compressed section. */
const regularTimes: u32 = 0;
const gridOfTimes: u32 = 1;
const beatOfTimes: u32 = 2;
const constantValues: u32 = 0;
const rawValues: u32 = 1;
const decimals: u32 = 2;
const roundedDecimals: u32 = 3;
const compressed: u32 = 0x80;
/** Added to the exponent of values in single precision. */
const single: u32 = 0x80;
const exponentMax: u32 = 22;
/** A column that starts within this and whose residuals sum up to no more is calculated with 32 bits. */
const smallFirstMax: f64 = 67108864;
const smallSumMax: f64 = 536870912;
const symbolsMax: f64 = 256;
/** More raw bits leave residuals that are not small. */
const smallRawBits: u32 = 21;
const logOfZeros: u32 = 1;
const fourCoders: u32 = 16;
const logMin: u32 = 5;
const logMax: u32 = 12;
/** The results of `decodeSymbols`. */
const exact: i32 = 0;
const endsElsewhere: i32 = 2;
/** The results of `decodeBlock` without values. */
const nothing: i32 = 0;
const timesOnly: i32 = -1;

/** Where the next byte is, and the end of the section. */
let at: usize = 0;
let end: usize = 0;
/** The bytes are malformed, or encoded in another way. All later results are arbitrary. */
let hasFailed: bool = false;
/** The place of symbols, raw bits, residuals and tables, each with space for all points. */
let scratch: usize = 0;
let numbers: usize = 0;

function fail(): void {
  hasFailed = true;
}

function u8Next(): u32 {
  if (at >= end) {
    fail();
    return 0;
  }
  return load<u8>(at++);
}

function f64Next(): f64 {
  if (end - at < 8) {
    fail();
    return 0;
  }
  at += 8;
  return load<f64>(at - 8);
}

/** At most 2^53. */
function varint(): i64 {
  let value: i64 = 0;
  for (let bits: i64 = 0; bits < 56; bits += 7) {
    const byte = u8Next() as i64;
    value |= (byte & 0x7f) << bits;
    if (byte >= 0x80) continue;
    if (value > 0x20000000000000) fail();
    return value;
  }
  fail();
  return 0;
}

function zigzag(): f64 {
  const value = varint();
  return ((value >> 1) ^ -(value & 1)) as f64;
}

/** A number of things of which there are at most `most`. */
function countUpTo(most: i32): i32 {
  const count = varint();
  if (count > most) fail();
  return hasFailed ? 0 : (count as i32);
}

/** The index that is so much after another one, or `most`. */
function indexAfter(index: i32, most: i32): i32 {
  const next = (index as i64) + varint();
  return next < most ? (next as i32) : most;
}

/** The place of the next bytes. */
function take(bytes: i64): usize {
  if (bytes > ((end - at) as i64)) {
    fail();
    return at;
  }
  at += bytes as usize;
  return at - (bytes as usize);
}

/** The first `wanted` symbols of `count`. */
function readSymbols(symbols: usize, tables: usize, count: i32, wanted: i32): void {
  const form = u8Next();
  if (form === logOfZeros) {
    memory.fill(symbols, 0, wanted);
    return;
  }
  const coders: i32 = form < fourCoders ? 1 : 4;
  const log = coders === 1 ? form : form - fourCoders;
  const kinds = u8Next() + 1;
  if (log < logMin || log > logMax || kinds * 2 > 1 << log) fail();
  const bits = varint();
  const place = take(((bits + 31) >> 5) << 2);
  if (hasFailed) return;
  const outcome = decodeSymbols(place, bits as i32, kinds, log, coders, tables, symbols, wanted, numbers);
  if (outcome !== exact && (wanted === count || outcome !== endsElsewhere)) fail();
}

/** The place of the first `wanted` residuals of `count`, in 32 bits. */
function readResiduals(count: i32, wanted: i32): usize {
  const rawBits = u8Next();
  const base = zigzag();
  if (rawBits > smallRawBits) fail();
  let largest = max(abs<f64>(base), abs<f64>(base + symbolsMax * ((1 << rawBits) as f64)));
  const outside = countUpTo(count);
  const outsideAt = at;
  let index = 0;
  for (let number = 0; number < outside && !hasFailed; number++) {
    index = indexAfter(index, count);
    const residual = abs<f64>(zigzag());
    if (index < wanted) largest = max(largest, residual);
  }
  if ((wanted as f64) * largest > smallSumMax) fail();
  const aligned = ((wanted as usize) + 31) & ~15;
  const low = scratch + aligned;
  const residuals = low + 4 * aligned;
  readSymbols(scratch, residuals + 4 * aligned, count, wanted);
  const packed = take((((count as i64) * (rawBits as i64) + 31) >> 5) << 2);
  if (hasFailed) return residuals;
  if (rawBits > 0) unpack(packed, wanted, rawBits, low);
  fillResiduals(scratch, low, rawBits, base as i32, residuals, wanted);
  const after = at;
  at = outsideAt;
  index = 0;
  for (let number = 0; number < outside; number++) {
    index = indexAfter(index, count);
    const residual = zigzag();
    if (index < wanted) store<i32>(residuals + ((index as usize) << 2), residual as i32);
  }
  at = after;
  return residuals;
}

/**
 * The first numbers of a column of `count`, each divided by `divisor`. Returns how many: `wanted` or more.
 */
function readColumn(column: usize, count: i32, wanted: i32, divisor: f64): i32 {
  const predictor = u8Next();
  if (predictor > 4 || predictor === 2) fail();
  const unpredicted = predictor === 0 ? 0 : 1;
  const first = unpredicted === 0 ? 0.0 : zigzag();
  const length = min(count, max(wanted, unpredicted + 1));
  if (abs<f64>(first) > smallFirstMax) fail();
  if (hasFailed) return length;
  store<f64>(column, first / divisor);
  if (count === unpredicted) return length;
  const used = length - unpredicted;
  const residuals = readResiduals(count - unpredicted, used);
  if (hasFailed) return length;
  if (predictor === 0) restoreNothing(residuals, used, divisor, column);
  else if (predictor === 1) restorePrevious(residuals, used, first as i32, divisor, column + 8);
  else restoreSmoothed(residuals, used, first as i32, predictor === 3 ? 2 : 4, divisor, column + 8);
  return length;
}

/** The times that are a step apart, but for jumps and deviations; `columns` has space for two columns. */
function readGrid(times: usize, count: i32, firstMs: f64, columns: usize): void {
  const stepMs = varint() as f64;
  const jumps = countUpTo(count);
  let index = 0;
  let fromMs = firstMs;
  for (let number = 0; number < jumps && !hasFailed; number++) {
    const next = indexAfter(index, count);
    if (next === count) fail();
    fillTimes(times + ((index as usize) << 3), next - index, fromMs, stepMs);
    fromMs += ((next - index) as f64) * stepMs + zigzag();
    index = next;
  }
  fillTimes(times + ((index as usize) << 3), count - index, fromMs, stepMs);
  const deviations = countUpTo(count);
  if (deviations === 0) return;
  const offs = columns + ((count as usize) << 3);
  readColumn(columns, deviations, deviations, 1);
  if (!hasFailed) readColumn(offs, deviations, deviations, 1);
  let deviating: f64 = 0;
  for (let number: usize = 0; number < (deviations as usize) && !hasFailed; number++) {
    deviating += load<f64>(columns + (number << 3));
    if (!(deviating >= 0 && deviating < (count as f64))) {
      fail();
      return;
    }
    const time = times + ((deviating as usize) << 3);
    store<f64>(time, load<f64>(time) + load<f64>(offs + (number << 3)));
  }
}

function readTimes(codec: u32, times: usize, count: i32, firstMs: f64, lastMs: f64, columns: usize): void {
  if (codec === regularTimes) {
    const stepMs = count === 1 ? 0.0 : (lastMs - firstMs) / ((count - 1) as f64);
    fillTimes(times, count, firstMs, stepMs);
  } else if (codec === gridOfTimes) readGrid(times, count, firstMs, columns);
  else if (codec === beatOfTimes) {
    const stepMs = varint() as f64;
    readColumn(times, count, count, 1);
    if (hasFailed) return;
    for (let index = 0; index < count; index++) {
      const time = times + ((index as usize) << 3);
      store<f64>(time, firstMs + (index as f64) * stepMs + load<f64>(time));
    }
  } else fail();
}

function readDecimals(values: usize, count: i32, wanted: i32, isRounded: bool): i32 {
  const head = u8Next();
  // Other rounded decimals have a second column.
  if (isRounded && head < single) fail();
  const exponent = isRounded ? head - single : head;
  if (exponent > exponentMax) fail();
  let power: f64 = 1;
  for (let digits: u32 = 0; digits < exponent && !hasFailed; digits++) power *= 10;
  const exceptions = countUpTo(count);
  const exceptionsAt = at;
  for (let number = 0; number < exceptions && !hasFailed; number++) {
    varint();
    f64Next();
  }
  const length = readColumn(values, count, wanted, power);
  if (hasFailed) return length;
  if (isRounded)
    for (let index = 0; index < length; index++) {
      const value = values + ((index as usize) << 3);
      store<f64>(value, load<f64>(value) as f32 as f64);
    }
  at = exceptionsAt;
  let index = 0;
  for (let number = 0; number < exceptions; number++) {
    index = indexAfter(index, count);
    const value = f64Next();
    if (index < wanted) store<f64>(values + ((index as usize) << 3), value);
  }
  return length;
}

/** Returns how many values there are: `wanted` or more. */
function readValues(codec: u32, values: usize, count: i32, wanted: i32): i32 {
  if (codec === constantValues) {
    const value = f64Next();
    for (let index = 0; index < wanted; index++) store<f64>(values + ((index as usize) << 3), value);
    return wanted;
  }
  if (codec === rawValues) {
    const bytes = take((count as i64) << 3);
    if (!hasFailed) memory.copy(values, bytes, (wanted as usize) << 3);
    return wanted;
  }
  if (codec !== decimals && codec !== roundedDecimals) fail();
  return hasFailed ? 0 : readDecimals(values, count, wanted, codec === roundedDecimals);
}

/** How many values a read up to `endMs` needs. */
function valuesUntil(times: usize, count: i32, endMs: f64): i32 {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<f64>(times + ((middle as usize) << 3)) < endMs) low = middle + 1;
    else high = middle;
  }
  if (low === count) fail();
  return max(wantedMin, low + 1);
}

/**
 * Decodes a block of `length` bytes whose checksum is right: all of its times, and at least the values up to
 * the first one at or after `endMs`. Returns the number of values. For other codecs and malformed bytes, it
 * returns `timesOnly` or `nothing`, and src/storage/embedded-points/block.ts decodes or refuses the rest.
 *
 * After `space` are 25 free bytes a point, and those of the tables of symbols.
 */
export function decodeBlock(
  block: usize,
  length: usize,
  endMs: f64,
  times: usize,
  values: usize,
  space: usize,
  numbersAt: usize,
): i32 {
  if (length < headerBytes || load<u8>(block, 4) !== version || load<u8>(block, 7) !== 0) return nothing;
  const points = load<u32>(block, 8);
  const firstMs = load<f64>(block, 12);
  const lastMs = load<f64>(block, 20);
  const timeBytes = load<u32>(block, 28) as u64;
  const valueBytes = load<u32>(block, 32) as u64;
  if (points === 0 || points > pointsMax) return nothing;
  if (timeBytes + valueBytes !== ((length - headerBytes) as u64)) return nothing;
  const lengthMs = lastMs - firstMs;
  if (floor<f64>(firstMs) !== firstMs || floor<f64>(lastMs) !== lastMs) return nothing;
  if (!(abs<f64>(firstMs) <= integerMax && lengthMs >= 0 && lengthMs <= integerMax)) return nothing;
  const valueCodec = load<u8>(block, 6);
  // Decompressed values may need more memory than there is.
  if (valueCodec >= compressed) return nothing;
  const count = points as i32;
  hasFailed = false;
  numbers = numbersAt;
  scratch = space + 16 * (count as usize);
  at = block + headerBytes;
  end = at + (timeBytes as usize);
  readTimes(load<u8>(block, 5), times, count, firstMs, lastMs, space);
  if (hasFailed) return nothing;
  const isWhole = endMs > lastMs || count <= wantedMin;
  const wanted = isWhole ? count : valuesUntil(times, count, endMs);
  if (hasFailed) return nothing;
  at = block + headerBytes + (timeBytes as usize);
  end = at + (valueBytes as usize);
  const decoded = readValues(valueCodec, values, count, wanted);
  return hasFailed ? timesOnly : decoded;
}
