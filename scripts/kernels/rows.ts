// Rows of times and numbers as text, compiled to WebAssembly: `npm run kernels` writes it to
// src/lib/number-rows-binary.ts. The language is AssemblyScript, TypeScript with the types of WebAssembly.
//
// src/lib/number-rows.ts calls it. Most averages have 16 or 17 digits. The shortest digits that identify a
// double are found as in Raffaello Giulietti, "The Schubfach way to render doubles" (2021). An integer `s`
// and an exponent `k` are a decimal s * 10^k. Words of eight bytes are stored: a write may change up to eight
// bytes after its end, and the next write overwrites these.

const minus: u8 = 45;
const plus: u8 = 43;
const dot: u8 = 46;
const zero: u8 = 48;
const smallE: u8 = 101;

/** The words of the integers below 1000, each as three digits. */
const triplesAt: usize = 64;
/** 10^0 to 10^18 as u64. */
const powersAt: usize = triplesAt + 1000 * 4;
/** 10^-292 to 10^324, each divided by a power of two: 128 bits, rounded up. The caller stores them. */
export const scalesAt: usize = powersAt + 19 * 8;
const scaleMin: i32 = -292;
/** Memory from here on is free. */
export const freeAt: usize = scalesAt + 617 * 16;

const digitsMax: i32 = 18;
const mask32: u64 = 0xffffffff;

/** Fills the tables but for the scales. */
export function fillTables(): void {
  for (let number: u32 = 0; number < 1000; number++) {
    const word = (number / 100) | (((number / 10) % 10) << 8) | ((number % 10) << 16);
    store<u32>(triplesAt + (number << 2), word + 0x30303030);
  }
  let power: u64 = 1;
  for (let index: usize = 0; index <= (digitsMax as usize); index++, power *= 10)
    store<u64>(powersAt + (index << 3), power);
}

function powerOfTen(exponent: i32): u64 {
  return load<u64>(powersAt + ((exponent as usize) << 3));
}

function triple(number: u32): u32 {
  return load<u32>(triplesAt + (number << 2));
}

/** An integer below 2^63 as a double: processors convert only signed words with a single instruction. */
function signed(number: u64): f64 {
  return number as i64 as f64;
}

/** The number of digits of 1 to 10^18 - 1. */
function digitsOf(number: u64): i32 {
  // Most averages have 15 to 17 digits, and a processor cannot predict how many.
  if (number >= powerOfTen(14))
    return 15 + i32(number >= powerOfTen(15)) + i32(number >= powerOfTen(16)) + i32(number >= powerOfTen(17));
  let digits = number >= 100_000_000 ? 14 : 8;
  while (digits > 1 && number < powerOfTen(digits - 1)) digits--;
  return digits;
}

/** Writes a number of so many digits, at most 18. */
function writeDigits(at: usize, number: u64, digits: i32): usize {
  const left = number * powerOfTen(digitsMax - digits);
  let high = (signed(left) * 1e-9) as u32;
  let low = (left - (high as u64) * 1_000_000_000) as i32;
  if (low < 0) {
    high--;
    low += 1_000_000_000;
  } else if (low >= 1_000_000_000) {
    high++;
    low -= 1_000_000_000;
  }
  store<u32>(at, triple(high / 1_000_000));
  store<u32>(at + 3, triple((high / 1000) % 1000));
  store<u32>(at + 6, triple(high % 1000));
  if (digits > 9) {
    store<u32>(at + 9, triple((low as u32) / 1_000_000));
    store<u32>(at + 12, triple(((low as u32) / 1000) % 1000));
    store<u32>(at + 15, triple((low as u32) % 1000));
  }
  return at + digits;
}

/** Writes an integer below 10^18. */
function writeInteger(at: usize, number: u64): usize {
  if (number >= 1000) return writeDigits(at, number, digitsOf(number));
  const skipped: usize = number < 10 ? 2 : number < 100 ? 1 : 0;
  store<u32>(at, triple(number as u32) >> ((skipped << 3) as u32));
  return at + 3 - skipped;
}

/** Writes an integer below 10^6 as six digits. */
function writeSix(at: usize, number: u32): usize {
  store<u32>(at, triple(number / 1000));
  store<u32>(at + 3, triple(number % 1000));
  return at + 6;
}

/** Writes a number of thousandths below 2^32. */
function writeThousandths(at: usize, thousandths: u32): usize {
  const rest = thousandths % 1000;
  const point = writeInteger(at, (thousandths / 1000) as u64);
  if (rest === 0) return point;
  store<u32>(point, (triple(rest) << 8) | (dot as u32));
  return point + (rest % 10 !== 0 ? 4 : rest % 100 !== 0 ? 3 : 2);
}

/** The upper half of a product. */
function upper(one: u64, other: u64): u64 {
  const low = (one & mask32) * (other & mask32);
  const crossed = (one >> 32) * (other & mask32) + (low >> 32);
  const other2 = (one & mask32) * (other >> 32) + (crossed & mask32);
  return (one >> 32) * (other >> 32) + (crossed >> 32) + (other2 >> 32);
}

/** The upper 64 of 192 bits. Sets the lowest bit if a bit of `middle` but its last one is set. */
function rounded(high: u64, middle: u64): u64 {
  return high | (middle > 1 ? 1 : 0);
}

/** A tenth of an integer below 2^62, rounded down. A division of 64 bits takes several times as long. */
function tenthOf(number: u64): u64 {
  const near = (signed(number) * 0.1) as i64 as u64;
  // Within 100 of zero.
  const rest = (number - near * 10) as i32;
  return near + (((rest + 1000) / 10 - 100) as i64 as u64);
}

/** Of the decimal that `shortest` found. */
let exponentOfTen: i32 = 0;

/** The shortest decimal that is nearest to this double, a positive one. Its digits may end with zeros. */
function shortest(bits: u64): u64 {
  const fraction = bits & (((1 as u64) << 52) - 1);
  const biased = ((bits >> 52) & 2047) as i32;
  const mantissa = biased === 0 ? fraction : fraction | ((1 as u64) << 52);
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  const isPower = fraction === 0 && biased > 1;
  // The logarithms of powers of two and of ten, as fractions.
  const k = (exponent * 1262611 - (isPower ? 524031 : 0)) >> 22;
  const shift = (exponent + ((-k * 1741647) >> 19) + 1) as u64;
  const scale = scalesAt + (((-k - scaleMin) as usize) << 4);
  const scaleLow = load<u64>(scale);
  const scaleHigh = load<u64>(scale, 8);
  // The double in quarters, and half the distances to its neighbours: products of 192 bits.
  const quarters = (4 * mantissa) << shift;
  const low = scaleLow * quarters;
  const carried = upper(scaleLow, quarters);
  const middle = scaleHigh * quarters + carried;
  const high = upper(scaleHigh, quarters) + (middle < carried ? 1 : 0);
  const value = rounded(high, middle);
  const up = shift + 1;
  const upLow = scaleLow << up;
  const upMiddle = (scaleHigh << up) | (scaleLow >> (64 - up));
  const sumMiddle = middle + upMiddle;
  const sumCarried = sumMiddle + (low + upLow < low ? 1 : 0);
  const upCarry: u64 = (sumMiddle < middle ? 1 : 0) + (sumCarried < sumMiddle ? 1 : 0);
  const above = rounded(high + (scaleHigh >> (64 - up)) + upCarry, sumCarried);
  const down = isPower ? shift : up;
  const downMiddle = (scaleHigh << down) | (scaleLow >> (64 - down));
  const difference = middle - downMiddle;
  const borrowed: u64 = low < scaleLow << down ? 1 : 0;
  const downBorrow: u64 = (middle < downMiddle ? 1 : 0) + (difference < borrowed ? 1 : 0);
  const below = rounded(high - (scaleHigh >> (64 - down)) - downBorrow, difference - borrowed);
  // Readers round a middle to the even mantissa.
  const odd = mantissa & 1;
  const least = below + odd;
  const most = above - odd;
  const whole = value >> 2;
  const tens = tenthOf(whole);
  const isTensLower = least <= 40 * tens;
  const isTensUpper = 40 * tens + 40 <= most;
  const hasTens = i32(whole >= 10) & i32(isTensLower !== isTensUpper);
  const isLower = least <= 4 * whole;
  const isUpper = 4 * whole + 4 <= most;
  const half = 4 * whole + 2;
  const isNearUpper = u64(value > half) | (u64(value === half) & whole);
  // Without jumps, which a processor could not predict.
  const more = select<u64>(u64(isUpper), isNearUpper & 1, isLower !== isUpper);
  exponentOfTen = k + hasTens;
  return select<u64>(tens + u64(isTensUpper), whole + more, hasTens !== 0);
}

/** Removes zeros from the end of the digits, and counts them in `exponentOfTen`. */
function withoutZeros(number: u64): u64 {
  let digits = number;
  if (digits - 10 * tenthOf(digits) !== 0) return digits;
  if (digits % 100_000_000 === 0) {
    digits /= 100_000_000;
    exponentOfTen += 8;
  }
  while (digits % 10 === 0) {
    digits /= 10;
    exponentOfTen++;
  }
  return digits;
}

/** Moves the first digits to `at` from the place after it, and writes a dot after them. */
function insertDot(at: usize, before: i32): void {
  for (let index: usize = 0; index < (before as usize); index++)
    store<u8>(at + index, load<u8>(at + index + 1));
  store<u8>(at + before, dot);
}

function writeExponent(at: usize, exponent: i32): usize {
  store<u8>(at, smallE);
  store<u8>(at + 1, exponent < 0 ? minus : plus);
  return writeInteger(at + 2, abs<i32>(exponent) as u64);
}

/** Writes the digits in the form that ECMAScript defines for `Number.prototype.toString`. */
function writeDecimal(at: usize, number: u64): usize {
  const digits = digitsOf(number);
  /** Digits before the dot. */
  const before = digits + exponentOfTen;
  if (before > 0 && before < digits) {
    const end = writeDigits(at + 1, number, digits);
    insertDot(at, before);
    return end;
  }
  if (before >= digits && before <= 21) {
    for (let end = writeDigits(at, number, digits); end < at + before; end++) store<u8>(end, zero);
    return at + before;
  }
  if (before > -6 && before <= 0) {
    // "0.000000"
    store<u32>(at, 0x30302e30);
    store<u32>(at + 4, 0x30303030);
    return writeDigits(at + 2 - before, number, digits);
  }
  if (digits === 1) return writeExponent(writeDigits(at, number, 1), before - 1);
  const end = writeDigits(at + 1, number, digits);
  insertDot(at, 1);
  return writeExponent(end, before - 1);
}

/** Writes a finite number as JSON does, minus zero as `-0`. Returns its end. */
function writeNumber(at: usize, value: f64): usize {
  const size = abs<f64>(value);
  if (reinterpret<u64>(value) >> 63 !== 0) store<u8>(at++, minus);
  if (size < 2e6) {
    // A decimal of at most 15 digits identifies one double, so if the quotient equals the number, it is
    // right.
    const thousandths = nearest<f64>(size * 1e3);
    if (thousandths / 1e3 === size) return writeThousandths(at, thousandths as u32);
  } else if (size < 1e15 && floor<f64>(size) === size) return writeInteger(at, size as u64);
  return writeDecimal(at, withoutZeros(shortest(reinterpret<u64>(size))));
}

/** Writes a text of so many bytes, in words of eight. */
function writeText(at: usize, text: usize, length: usize): usize {
  for (let index: usize = 0; index < length; index += 8) store<u64>(at + index, load<u64>(text + index));
  return at + length;
}

/** Of a layout, in words of four bytes. The places of its strings are from its start on. */
const isTable: usize = 0;
const cellCount: usize = 4;
const stringsAt: usize = 8;
/** Of a text: its place and its length. */
const textBytes: usize = 8;

/** The times of 13 digits: from 2001 to 2286. */
const thirteenFrom: f64 = 1e12;
const thirteenTo: f64 = 1e13;
const stemMs: f64 = 1e6;

/**
 * Writes a row for each of `count` times: its start, the time, the cells and its end. `columns` are the
 * places of their numbers, of four bytes each. A cell without a finite number is left out, or in a table has
 * its label alone. Returns the end.
 */
export function writeRows(layout: usize, times: usize, columns: usize, count: i32, at: usize): usize {
  const start = layout + (load<u32>(layout, stringsAt) as usize);
  const startLength = load<u32>(layout, stringsAt + 4) as usize;
  const end = layout + (load<u32>(layout, stringsAt + textBytes) as usize);
  const endLength = load<u32>(layout, stringsAt + textBytes + 4) as usize;
  const keepsLabels = load<u32>(layout, isTable) !== 0;
  const labels = layout + stringsAt + 2 * textBytes;
  const lastLabel = labels + (load<u32>(layout, cellCount) as usize) * textBytes;
  // The start of a row and all digits of its time but six are mostly the same as before.
  let stem: usize = at;
  let stemFromMs: f64 = NaN;
  for (let row: usize = 0; row < (count as usize); row++) {
    const timeMs = load<f64>(times + (row << 3));
    const restMs = timeMs - stemFromMs;
    if (restMs >= 0 && restMs < stemMs) at = writeSix(writeText(at, stem, startLength + 7), restMs as u32);
    else {
      stem = at;
      stemFromMs = timeMs >= thirteenFrom && timeMs < thirteenTo ? floor<f64>(timeMs / stemMs) * stemMs : NaN;
      at = writeNumber(writeText(at, start, startLength), timeMs);
    }
    let column = columns;
    for (let label = labels; label < lastLabel; label += textBytes, column += 4) {
      const value = load<f64>((load<u32>(column) as usize) + (row << 3));
      const hasNumber = value - value === 0;
      if (hasNumber || keepsLabels)
        at = writeText(at, layout + (load<u32>(label) as usize), load<u32>(label, 4) as usize);
      if (hasNumber) at = writeNumber(at, value);
    }
    at = writeText(at, end, endLength);
  }
  return at;
}
