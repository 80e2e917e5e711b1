// Scans JSON directly from bytes, for the few forms that clients send by the million.

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

/** The JSON of a member's name, for `member`. */
export const memberName = (name: string): Uint8Array => Uint8Array.from(Buffer.from(`"${name}"`));

const powersOfTen = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** The bytes between two numbers or names, at the position where they were read part by part. */
export interface Gap {
  from: number;
  /** 0 until one was read. */
  length: number;
}

/** Whether JSON has the string unchanged, one byte a character. */
export const isPlain = (value: string): boolean => /^[ !#-[\]-~]*$/.test(value);

/**
 * A position in a body. Each method moves past one token and the blanks before it, and returns false,
 * `undefined` or NaN if the token is not there. The caller then parses the whole body with another reader,
 * which reports errors.
 */
export class JsonBytes {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #names: StringCache;
  at = 0;
  /** The start of the number or name that was read last. */
  start = 0;

  /** `names` caches the strings that `name` reads. */
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

  /** Whether only blanks follow. */
  end(): boolean {
    return this.#blank() === undefined;
  }

  /** Moves past a member's name and its colon; does not move if the name is another one. */
  member(name: Uint8Array): boolean {
    const bytes = this.#bytes;
    if (bytes[this.at]! <= space) this.#blank();
    const at = this.at;
    for (let i = 0; i < name.length; i += 1) if (bytes[at + i] !== name[i]) return false;
    this.at = at + name.length;
    return this.take(colon);
  }

  /** Reads a string without escapes; returns `undefined` for anything else, and if it is not UTF-8. */
  string(): string | undefined {
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
   * Like `string`, for strings that repeat, such as names. Fastest for `expected`, a plain string
   * (`isPlain`).
   */
  name(expected?: string): string | undefined {
    if (!this.take(quote)) return undefined;
    const bytes = this.#bytes;
    const from = this.at;
    this.start = from - 1;
    if (expected !== undefined && this.#skipString(expected)) return expected;
    let to = from;
    let hash = 0;
    for (;;) {
      const found = bytes[to];
      if (found === quote) break;
      if (found === undefined || found === backslash || found < space || found > 127) {
        this.at = from - 1;
        return this.string();
      }
      hash = Math.imul(hash ^ found, 0x01000193);
      to += 1;
    }
    this.at = to + 1;
    return this.#names.stringOf(bytes, { from, to, hash });
  }

  /**
   * Reads a number, the same double as `JSON.parse`; returns NaN if there is none. Up to nine digits are
   * collected in one integer, with or without a point among them. Its quotient by an exact power of ten is
   * rounded only once.
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
   * Reads a number with more digits or an exponent. Up to 15 digits are an exact integer. They are collected
   * in two integers of at most nine digits, because that arithmetic is faster than with doubles.
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
    return first === start ? whole : -whole;
  }

  /** Moves past the bytes of a gap, if they are here again. */
  repeat({ from, length }: Gap): boolean {
    const at = this.at;
    if (length === 0 || at + length > this.#bytes.length || !isSame(this.#view, at, from, length))
      return false;
    this.at = at + length;
    return true;
  }

  /** Moves past a plain string and the quote after it, if they are here. */
  #skipString(expected: string): boolean {
    const bytes = this.#bytes;
    const at = this.at;
    const { length } = expected;
    if (bytes[at + length] !== quote) return false;
    for (let i = 0; i < length; i += 1) if (expected.charCodeAt(i) !== bytes[at + i]) return false;
    this.at = at + length + 1;
    return true;
  }

  /** Reads the rest of a number whose integer part ends at `wholeEnd`. */
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
   * The end of the exponent that starts at `at`; `at` itself if it has no digits, so that the next read
   * fails.
   */
  #afterExponent(at: number): number {
    const sign = this.#bytes[at + 1];
    const first = sign === plus || sign === minus ? at + 2 : at + 1;
    let end = first;
    while (this.#bytes[end]! >= zero && this.#bytes[end]! <= zero + 9) end += 1;
    return end === first ? at : end;
  }

  /** Moves past blanks and returns the byte after them; `undefined` at the end. */
  #blank(): number | undefined {
    for (;;) {
      const found = this.#bytes[this.at];
      if (found !== space && found !== 10 && found !== 13 && found !== 9) return found;
      this.at += 1;
    }
  }
}

/**
 * Whether the bytes at both positions are the same. Those at `known` are JSON text. So eight of them,
 * compared as a double, are neither NaN nor zero.
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

export const isHexDigit = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 32) >= 0x61 && (byte | 32) <= 0x66);

/** Whether the byte is a digit, a sign, the point or the exponent. */
export const isOfNumber = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x2d || byte === 0x2b || (byte | 32) === 0x65;
