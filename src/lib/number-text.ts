// Writes numbers as decimal strings into bytes. Responses with many points spend most of their time here.
//
// Digits come from tables, three at a time, and are stored as words of four bytes. A word may extend up to
// three bytes beyond its digits; the next write overwrites these.

/** No number takes more bytes, and no write goes beyond them. */
export const numberBytesMax = 25;

const [zero, minus, dot] = [48, 45, 46];
const below1000 = Array.from({ length: 1000 }, (_, value) => String(value));
const wordsOf = (texts: readonly string[]) =>
  Int32Array.from(texts, (text) => Buffer.from(text.padEnd(4, " ")).readInt32LE());
const plain = wordsOf(below1000);
const padded = wordsOf(below1000.map((text) => text.padStart(3, "0")));
const fractions = below1000.map((text) => `.${text.padStart(3, "0")}`.replace(/\.?0+$/, ""));
const fractionWords = wordsOf(fractions);
const fractionLengths = Uint8Array.from(fractions, (text) => text.length);

/**
 * Writes a finite number at `at` so that reading it gives the same double, and returns its end. Integers and
 * numbers with up to six decimals are written by digits, ten times as fast as by `String`. A decimal with at
 * most 15 digits identifies one double, so if the quotient equals the number, the digits are right.
 */
export function writeNumber(view: DataView, at: number, value: number): number {
  const size = Math.abs(value);
  const scaled = Math.round(size * 1e3);
  if (size >= 2e6 || scaled / 1e3 !== size) return writeRarer(view, at, value);
  const thousandths = scaled | 0;
  const whole = (thousandths / 1000) | 0;
  const rest = thousandths - whole * 1000;
  const point = writeWhole(view, writeSign(view, at, value), whole);
  view.setInt32(point, fractionWords[rest]!, true);
  return point + fractionLengths[rest]!;
}

/** Like `writeNumber`, for integers such as times. */
export function writeInteger(view: DataView, at: number, value: number): number {
  const size = Math.abs(value);
  if (size >= 1e15) return writeText(view, at, value);
  const start = writeSign(view, at, value);
  const millions = Math.floor(size / 1e6);
  const rest = (size - millions * 1e6) | 0;
  return millions === 0
    ? writeWhole(view, start, rest)
    : writeSix(view, writeWhole(view, start, millions), rest);
}

/** Writes an integer from 0 to 999,999 as six digits. */
function writeSix(view: DataView, at: number, value: number): number {
  const thousands = (value / 1000) | 0;
  view.setInt32(at, padded[thousands]!, true);
  view.setInt32(at + 3, padded[value - thousands * 1000]!, true);
  return at + 6;
}

function writeRarer(view: DataView, at: number, value: number): number {
  if (Number.isInteger(value)) return writeInteger(view, at, value);
  const size = Math.abs(value);
  const millionths = Math.round(size * 1e6);
  if (size >= 1e9 || millionths / 1e6 !== size) return writeText(view, at, value);
  const whole = Math.floor(size);
  const point = writeWhole(view, writeSign(view, at, value), whole);
  view.setUint8(point, dot);
  let end = writeSix(view, point + 1, millionths - whole * 1e6);
  while (view.getUint8(end - 1) === zero) end -= 1;
  return end;
}

function writeSign(view: DataView, at: number, value: number): number {
  if (value > 0 || (value === 0 && 1 / value > 0)) return at;
  view.setUint8(at, minus);
  return at + 1;
}

/** Writes an integer from 0 to 999,999,999 without leading zeros. */
function writeWhole(view: DataView, at: number, value: number): number {
  if (value < 1e3) return writePlain(view, at, value);
  if (value < 1e6) {
    const thousands = (value / 1e3) | 0;
    const end = writePlain(view, at, thousands);
    view.setInt32(end, padded[value - thousands * 1e3]!, true);
    return end + 3;
  }
  const millions = (value / 1e6) | 0;
  return writeSix(view, writePlain(view, at, millions), value - millions * 1e6);
}

/** Writes an integer from 0 to 999. */
function writePlain(view: DataView, at: number, value: number): number {
  view.setInt32(at, plain[value]!, true);
  return at + (value < 10 ? 1 : value < 100 ? 2 : 3);
}

function writeText(view: DataView, at: number, value: number): number {
  const text = String(value);
  for (let i = 0; i < text.length; i += 1) view.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
}
