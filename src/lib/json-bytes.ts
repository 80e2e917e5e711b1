// Reads JSON piece by piece straight from bytes, for the few shapes that come by the million.

import { KnownTexts } from "./known-texts.ts";

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

const names = new KnownTexts();

const powersOfTen = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/**
 * Stands at a place in a body. Each method passes one piece, blanks before it included, and says when
 * that piece is not there; the caller then turns to `JSON.parse`, which finds the words for what is
 * wrong, if anything is.
 */
export class JsonBytes {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
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

  /** A text without escapes; `undefined` when it is not one. */
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
    return seen < 128 ? bytes.toString("latin1", from, to) : bytes.toString("utf8", from, to);
  }

  /** As `text`, for texts that come again and again, such as names. */
  name(): string | undefined {
    if (!this.take(quote)) return undefined;
    const bytes = this.#bytes;
    const from = this.at;
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
    return names.textOf(bytes, { from, to, hash });
  }

  /**
   * A number, the same double as `JSON.parse` finds; NaN when it is not one. At most 15 digits are an exact
   * integer, and its quotient by an exact power of ten is rounded just once. Digits gather in two integers of
   * at most nine digits, as that arithmetic is faster than with doubles.
   */
  number(): number {
    const bytes = this.#bytes;
    if (bytes[this.at]! <= space) this.#blank();
    const start = this.at;
    const first = bytes[start] === minus ? start + 1 : start;
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
    if (digits > 15 || bytes[at] === dot || (bytes[at]! | 32) === smallE)
      return this.#fraction(start, at, digits <= 9 ? low : Number.NaN);
    this.at = at;
    const whole = digits <= 9 ? low : high * powersOfTen[digits - 9]! + low;
    return first === start ? whole : -whole;
  }

  /**
   * The rest of a number from its point or exponent on, `whole` being what stands before it if that is
   * short.
   */
  #fraction(start: number, wholeEnd: number, whole: number): number {
    const bytes = this.#bytes;
    let at = wholeEnd;
    let fraction = 0;
    let decimals = 0;
    if (bytes[at] === dot) {
      const first = ++at;
      let digit = bytes[at]! ^ zero;
      for (; digit <= 9; digit = bytes[++at]! ^ zero) fraction = (Math.imul(fraction, 10) + digit) | 0;
      decimals = at - first;
      if (decimals === 0) return Number.NaN;
    }
    const hasExponent = (bytes[at]! | 32) === smallE;
    if (!hasExponent && decimals <= 6 && !Number.isNaN(whole)) {
      this.at = at;
      const scale = powersOfTen[decimals]!;
      const size = (whole * scale + fraction) / scale;
      return bytes[start] === minus ? -size : size;
    }
    this.at = hasExponent ? this.#afterExponent(at) : at;
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
