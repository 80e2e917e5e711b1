// Reads JSON piece by piece straight from bytes, for the few shapes that come by the million.

import type { StringCache } from "./string-cache.ts";
import { textOf } from "./utf8.ts";

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code("\\");
const colon = code(":");
const minus = code("-");
const plus = code("+");
const dot = code(".");
const zero = code("0");
const smallE = code("e");
const space = code(" ");

export const comma = code(",");
export const openBrace = code("{");
export const closeBrace = code("}");
export const openBracket = code("[");
export const closeBracket = code("]");

/** A member's name as it stands in JSON, for `member`. */
export const memberName = (name: string): Uint8Array => Uint8Array.from(Buffer.from(`"${name}"`));

/** Of a number of nine digits, with its sign and point, and of what follows it. */
const numberBytesMax = 12;
/** Of milliseconds from 2001-09-09 to 2286-11-20. */
const momentDigits = 13;

const powersOfTen = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** Bytes between two numbers or names, as they stood in a body where they were read piece by piece. */
export interface Gap {
  from: number;
  /** 0: none was read yet. */
  length: number;
}

/** Columns of pairs, `count` of them filled; more are added as far as there is room. */
export interface Pairs {
  readonly times: Float64Array;
  readonly values: Float64Array;
  count: number;
}

/** Whether a text stands in JSON as it is, a byte each of its characters. */
export const isPlain = (text: string): boolean => /^[ !#-[\]-~]*$/.test(text);

/**
 * Stands at a place in a body. Each method passes one piece, blanks before it included, and says when
 * that piece is not there; the caller then turns to `JSON.parse`, which finds the words for what is
 * wrong, if anything is.
 */
export class JsonBytes {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #names: StringCache;
  at = 0;
  /** Where the number or name last read begins. */
  start = 0;
  /** Where a time of 13 digits stands, and the value of its leading eight; negative: none was read yet. */
  #momentAt = -1;
  #momentHead = 0;

  /** `names` remembers the strings that `name` reads. */
  constructor(bytes: Buffer, names: StringCache) {
    this.#bytes = bytes;
    this.#names = names;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  take(expected: number): boolean {
    const found = this.#bytes[this.at];
    if (found !== expected && (found! > space || this.#blank() !== expected)) return false;
    this.at += 1;
    return true;
  }

  /** Nothing but blanks follows. */
  end(): boolean {
    return this.#blank() === undefined;
  }

  /** A member's name and its colon; stays where it is when another name stands there. */
  member(name: Uint8Array): boolean {
    const bytes = this.#bytes;
    if (bytes[this.at]! <= space) this.#blank();
    const at = this.at;
    for (let i = 0; i < name.length; i += 1) if (bytes[at + i] !== name[i]) return false;
    this.at = at + name.length;
    return this.take(colon);
  }

  /** A text without escapes; `undefined` when it is not one, or not UTF-8. */
  text(): string | undefined {
    if (!this.take(quote)) return undefined;
    const bytes = this.#bytes;
    const from = this.at;
    let to = from;
    let seen = 0;
    for (;;) {
      const found = bytes[to];
      if (found === quote) break;
      if (found === undefined || found === backslash || found < space) return undefined;
      seen |= found;
      to += 1;
    }
    this.at = to + 1;
    return seen < 128 ? bytes.toString("latin1", from, to) : textOf(bytes, from, to);
  }

  /**
   * As `text`, for texts that come again and again, such as names; fastest for the one that is `expected`,
   * which is as `isPlain` says.
   */
  name(expected?: string): string | undefined {
    if (!this.take(quote)) return undefined;
    const bytes = this.#bytes;
    const from = this.at;
    this.start = from - 1;
    if (expected !== undefined && this.#passes(expected)) return expected;
    let to = from;
    let hash = 0;
    for (;;) {
      const found = bytes[to];
      if (found === quote) break;
      if (found === undefined || found === backslash || found < space || found > 127) {
        this.at = from - 1;
        return this.text();
      }
      hash = Math.imul(hash ^ found, 0x01000193);
      to += 1;
    }
    this.at = to + 1;
    return this.#names.stringOf(bytes, { from, to, hash });
  }

  /**
   * A number, the same double as `JSON.parse` finds; NaN when it is not one. Up to nine digits gather in one
   * integer, wherever the point stands among them; its quotient by an exact power of ten is rounded just
   * once.
   */
  number(): number {
    const bytes = this.#bytes;
    if (bytes[this.at]! <= space) this.#blank();
    const start = this.at;
    this.start = start;
    const first = bytes[start] === minus ? start + 1 : start;
    let at = first;
    let sum = 0;
    let digit = bytes[at]! ^ zero;
    for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
    const wholeEnd = at;
    let decimals = 0;
    if (bytes[at] === dot) {
      digit = bytes[++at]! ^ zero;
      for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
      decimals = at - wholeEnd - 1;
      if (decimals === 0) return Number.NaN;
    }
    const whole = wholeEnd - first;
    const isShort = whole + decimals <= 9 && (bytes[at]! | 32) !== smallE;
    if (whole === 0 || !isShort || (bytes[first] === zero && whole > 1))
      return this.#longNumber(start, first);
    this.at = at;
    const size = decimals === 0 ? sum : sum / powersOfTen[decimals]!;
    return first === start ? size : -size;
  }

  /**
   * A number with more digits, or with an exponent. At most 15 digits are an exact integer; they gather in
   * two integers of at most nine digits, as that arithmetic is faster than with doubles.
   */
  #longNumber(start: number, first: number): number {
    const bytes = this.#bytes;
    let at = first;
    let high = 0;
    let low = 0;
    let digit = bytes[at]! ^ zero;
    for (const full = first + 9; digit <= 9 && at < full; digit = bytes[++at]! ^ zero)
      low = (Math.imul(low, 10) + digit) | 0;
    if (digit <= 9) {
      high = low;
      low = 0;
      for (; digit <= 9; digit = bytes[++at]! ^ zero) low = (Math.imul(low, 10) + digit) | 0;
    }
    const digits = at - first;
    if (digits === 0 || (digits > 1 && bytes[first] === zero)) return Number.NaN;
    if (digits > 15 || bytes[at] === dot || (bytes[at]! | 32) === smallE) return this.#fraction(start, at);
    this.at = at;
    const whole = digits <= 9 ? low : high * powersOfTen[digits - 9]! + low;
    if (digits === momentDigits && first === start) this.#noteMoment(start, whole);
    return first === start ? whole : -whole;
  }

  #noteMoment(at: number, value: number): void {
    this.#momentAt = at;
    this.#momentHead = value - (value % 1e5);
  }

  /**
   * As `number`, for times in milliseconds: of those between 2001 and 2286 that follow each other the leading
   * eight of 13 digits are mostly the same, and are compared at once.
   */
  moment(): number {
    const bytes = this.#bytes;
    const at = this.at;
    const known = this.#momentAt;
    if (known < 0 || at + momentDigits >= bytes.length || !isSame(this.#view, at, known, 8))
      return this.number();
    const low = fiveDigits(bytes, at + 8);
    const after = bytes[at + momentDigits]!;
    if (low < 0 || (after ^ zero) <= 9 || after === dot || (after | 32) === smallE) return this.number();
    this.start = at;
    this.at = at + momentDigits;
    return this.#momentHead + low;
  }

  /** Passes a gap, if the same bytes stand here again. */
  repeat({ from, length }: Gap): boolean {
    const at = this.at;
    if (length === 0 || at + length > this.#bytes.length || !isSame(this.#view, at, from, length))
      return false;
    this.at = at + length;
    return true;
  }

  /**
   * Adds pairs of a time and a number, as `moment` and `number` read them, as long as they come between the
   * same gaps, are of the usual kind, and the times not later than `latest`. A single loop over local
   * variables, because by the million the calls cost more than the reading.
   */
  pairs(toTime: Gap, toValue: Gap, pairs: Pairs, latest: number): void {
    const { times, values } = pairs;
    const bytes = this.#bytes;
    const view = this.#view;
    const known = this.#momentAt;
    const head = this.#momentHead;
    const lengthMin = toTime.length + momentDigits + toValue.length + numberBytesMax;
    if (known < 0 || toTime.length === 0) return;
    let next = this.at;
    for (let { count } = pairs; count < times.length && next + lengthMin <= bytes.length; ) {
      const timeAt = next + toTime.length;
      if (!isSame(view, next, toTime.from, toTime.length) || !isSame(view, timeAt, known, 8)) return;
      const low = fiveDigits(bytes, timeAt + 8);
      const timeEnd = timeAt + momentDigits;
      if (low < 0 || head + low > latest || !isSame(view, timeEnd, toValue.from, toValue.length)) return;
      const start = timeEnd + toValue.length;
      const first = bytes[start] === minus ? start + 1 : start;
      let at = first;
      let sum = 0;
      let digit = bytes[at]! ^ zero;
      for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
      const whole = at - first;
      let decimals = 0;
      if (bytes[at] === dot) {
        digit = bytes[++at]! ^ zero;
        for (; digit <= 9; digit = bytes[++at]! ^ zero) sum = (Math.imul(sum, 10) + digit) | 0;
        decimals = at - first - whole - 1;
        if (decimals === 0) return;
      }
      const isShort = whole > 0 && whole + decimals <= 9 && (bytes[at]! | 32) !== smallE;
      if (!isShort || (bytes[first] === zero && whole > 1)) return;
      const size = decimals === 0 ? sum : sum / powersOfTen[decimals]!;
      times[count] = head + low;
      values[count] = first === start ? size : -size;
      next = at;
      this.at = at;
      pairs.count = ++count;
    }
  }

  /** Passes a plain text and the quote behind it. */
  #passes(text: string): boolean {
    const bytes = this.#bytes;
    const at = this.at;
    const { length } = text;
    if (bytes[at + length] !== quote) return false;
    for (let i = 0; i < length; i += 1) if (text.charCodeAt(i) !== bytes[at + i]) return false;
    this.at = at + length + 1;
    return true;
  }

  /** The rest of a number whose whole part ends at `wholeEnd`. */
  #fraction(start: number, wholeEnd: number): number {
    const bytes = this.#bytes;
    let at = wholeEnd;
    if (bytes[at] === dot) {
      const first = ++at;
      while ((bytes[at]! ^ zero) <= 9) at += 1;
      if (at === first) return Number.NaN;
    }
    this.at = (bytes[at]! | 32) === smallE ? this.#afterExponent(at) : at;
    return Number(bytes.toString("latin1", start, this.at));
  }

  /**
   * Where the exponent that begins at `at` ends; `at` itself when it has no digits, where nothing fits
   * then.
   */
  #afterExponent(at: number): number {
    const sign = this.#bytes[at + 1];
    const first = sign === plus || sign === minus ? at + 2 : at + 1;
    let end = first;
    while (this.#bytes[end]! >= zero && this.#bytes[end]! <= zero + 9) end += 1;
    return end === first ? at : end;
  }

  /** Passes blanks; the byte that then stands there, `undefined` at the end. */
  #blank(): number | undefined {
    for (;;) {
      const found = this.#bytes[this.at];
      if (found !== space && found !== 10 && found !== 13 && found !== 9) return found;
      this.at += 1;
    }
  }
}

/**
 * Whether the same bytes stand at both places, of which those at the second are known to be text in JSON: as
 * doubles, eight at a time, these are neither NaN nor zero.
 */
function isSame(view: DataView, at: number, known: number, length: number): boolean {
  const last = length - 8;
  if (last < 0) {
    for (let i = 0; i < length; i += 1) if (view.getUint8(at + i) !== view.getUint8(known + i)) return false;
    return true;
  }
  for (let i = 0; i < last; i += 8)
    if (view.getFloat64(at + i, true) !== view.getFloat64(known + i, true)) return false;
  return view.getFloat64(at + last, true) === view.getFloat64(known + last, true);
}

/** The number that five digits spell; negative when they are not digits. */
function fiveDigits(bytes: Buffer, at: number): number {
  const a = bytes[at]! ^ zero;
  const b = bytes[at + 1]! ^ zero;
  const c = bytes[at + 2]! ^ zero;
  const d = bytes[at + 3]! ^ zero;
  const e = bytes[at + 4]! ^ zero;
  if (a > 9 || b > 9 || c > 9 || d > 9 || e > 9) return -1;
  return (((a * 10 + b) * 10 + c) * 10 + d) * 10 + e;
}
