// Text as the stores compare it: order by code point, letters without case, words, and well-formed Unicode.
//
// Every backend of the catalog uses these definitions, so that no two of them disagree on a match.

/** Negative when `a` comes first: the order of Unicode code points, which is also that of UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = codePointRank(a.charCodeAt(at)) - codePointRank(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** UTF-16 sorts surrogates (code points from U+10000) below U+E000; this lifts them above U+FFFF. */
export function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * Removes differences of case, beyond ASCII too. The final form of sigma equals sigma; `ß` and `ss` stay
 * different.
 */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/**
 * Patterns up to this length are left to `includes`, which may compare each of their characters at each
 * place.
 */
const shortPattern = 64;

/**
 * Whether the text contains the pattern, in time proportional to both: `includes` takes 1.7 s for a pattern
 * of 8,000 characters in a text of a million (Knuth, Morris and Pratt 1977).
 */
export function containsText(text: string, pattern: string): boolean {
  if (pattern.length <= shortPattern) return text.includes(pattern);
  const borders = bordersOf(pattern);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (pattern.charCodeAt(matched) === unit) matched += 1;
    if (matched === pattern.length) return true;
  }
  return false;
}

/** For each beginning of the pattern, the length of the longest shorter beginning that it ends with. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at);
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (pattern.charCodeAt(matched) === unit) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

/** The words of a text, in order, without case: runs of letters, marks and digits of any script. */
export const wordsIn = (text: string): string[] =>
  foldCase(text.normalize("NFC")).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The number of letters at the beginning of a folded string by which an index looks it up. */
export const startLength = 24;

/**
 * Returns a bounded prefix of the folded text as an index key. If one folded text is a prefix of another, its
 * key is a prefix of the other's key.
 */
export function startOf(text: string): string {
  const start = foldCase(text).slice(0, startLength);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** The least text above every text that begins with `prefix`; absent when there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (letter) => letter.codePointAt(0)!);
  while (codePoints.at(-1) === 0x10ffff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return undefined;
  const next = last === 0xd7ff ? 0xe000 : last + 1;
  return String.fromCodePoint(...codePoints, next);
}

/** The beginning of a string, for messages that quote the input of a caller. */
export const shortened = (text: string): string =>
  text.length <= shownLength ? text : `${text.slice(0, shownLength).toWellFormed()}...`;

const shownLength = 200;

/** Whether every store can hold the text: it has no U+0000 and no unpaired surrogate. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** Whether the text has at most so many code points, as the schemas of bodies count characters. */
export const isWithinLength = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);

/** A copy of plain data in which lone surrogates, which UTF-8 cannot hold, are U+FFFD. */
export function wellFormed<Data>(data: Data): Data {
  if (typeof data === "string") return data.toWellFormed() as Data;
  if (Array.isArray(data)) return data.map(wellFormed) as Data;
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name.toWellFormed(), wellFormed(value)]),
  ) as Data;
}
