// Numbers as decimal text, written into bytes: what answers with many points spend their time on.

/** No number takes more bytes than this. */
export const numberBytesMax = 25;

const zero = 48;
const minus = 45;
const dot = 46;
/** The two digits of 0 to 99. */
const pairs = Uint8Array.from({ length: 200 }, (_, i) => zero + (i % 2 ? (i >> 1) % 10 : Math.floor(i / 20)));

/**
 * Writes a finite number at `at` so that reading it gives the same double, and returns where it ends.
 * Integers and numbers with up to six decimals go digit by digit (about five times as fast as `String`): a
 * decimal with at most 15 digits names one double, so that a quotient equal to the number is that number.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  const size = Math.abs(value);
  if (size >= 1e9)
    return Number.isInteger(value) ? writeInteger(bytes, at, value) : writeText(bytes, at, value);
  const thousandths = Math.round(size * 1e3);
  if (thousandths / 1e3 === size) return writeDecimal(bytes, writeSign(bytes, at, value), thousandths, 3);
  const millionths = Math.round(size * 1e6);
  if (millionths / 1e6 === size) return writeDecimal(bytes, writeSign(bytes, at, value), millionths, 6);
  return writeText(bytes, at, value);
}

/** The same for numbers known to be integers, such as times. */
export function writeInteger(bytes: Uint8Array, at: number, value: number): number {
  const size = Math.abs(value);
  if (size >= 2e15) return writeText(bytes, at, value);
  const start = writeSign(bytes, at, value);
  const millions = Math.floor(size / 1e6);
  const rest = size - millions * 1e6;
  return millions === 0
    ? writeDigits(bytes, start, rest)
    : writeSix(bytes, writeDigits(bytes, start, millions), rest);
}

function writeSign(bytes: Uint8Array, at: number, value: number): number {
  if (value > 0 || (value === 0 && !Object.is(value, -0))) return at;
  bytes[at] = minus;
  return at + 1;
}

/** `scaled` / 10^`decimals`, without trailing zeros; the whole part is below 2^31. */
function writeDecimal(bytes: Uint8Array, at: number, scaled: number, decimals: 3 | 6): number {
  const scale = decimals === 3 ? 1e3 : 1e6;
  const whole = Math.floor(scaled / scale);
  const fraction = scaled - whole * scale;
  const point = writeDigits(bytes, at, whole);
  if (fraction === 0) return point;
  bytes[point] = dot;
  let end = decimals === 3 ? writeThree(bytes, point + 1, fraction) : writeSix(bytes, point + 1, fraction);
  while (bytes[end - 1] === zero) end -= 1;
  return end;
}

/** A whole number from 0 to 2^31 - 1, without leading zeros. */
function writeDigits(bytes: Uint8Array, at: number, value: number): number {
  let rest = value | 0;
  let length = 1;
  for (let bound = 10; length < 10 && rest >= bound; bound *= 10) length += 1;
  let place = at + length;
  while (rest >= 100) {
    const next = (rest / 100) | 0;
    const pair = (rest - next * 100) * 2;
    bytes[--place] = pairs[pair + 1]!;
    bytes[--place] = pairs[pair]!;
    rest = next;
  }
  bytes[--place] = pairs[rest * 2 + 1]!;
  if (rest >= 10) bytes[--place] = pairs[rest * 2]!;
  return at + length;
}

function writeSix(bytes: Uint8Array, at: number, value: number): number {
  const thousands = (value / 1000) | 0;
  return writeThree(bytes, writeThree(bytes, at, thousands), value - thousands * 1000);
}

function writeThree(bytes: Uint8Array, at: number, value: number): number {
  const hundreds = (value / 100) | 0;
  const pair = ((value | 0) - hundreds * 100) * 2;
  bytes[at] = zero + hundreds;
  bytes[at + 1] = pairs[pair]!;
  bytes[at + 2] = pairs[pair + 1]!;
  return at + 3;
}

function writeText(bytes: Uint8Array, at: number, value: number): number {
  const text = String(value);
  for (let i = 0; i < text.length; i += 1) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}
