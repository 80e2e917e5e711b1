// Scans lines that repeat the series of the lines before them, with plain numbers and times: nearly all lines
// of a client that sends one cycle after another.
//
// It reads words of four bytes, and has all its state in local variables. It stops at the first line with
// anything else, which the scanner then reads.
import { limits } from "../limits.ts";
import { endOfLeading, wholeNumber } from "./leading-bytes.ts";
import type { LineColumns } from "./line-columns.ts";
import { scanPlainNumber } from "./plain-number.ts";
import type { Precision } from "./precision.ts";
import type { HeadNames } from "./series-names.ts";

const code = (character: string): number => character.charCodeAt(0);
const [space, newline, zero] = [code(" "), code("\n"), code("0")];

/** The bytes of a body, and the same bytes as words. */
export interface LineBytes {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Where the scanner is, and what it counts. */
export interface LinePosition {
  /** The start of a line. */
  at: number;
  /** Its number. */
  line: number;
  /** The head of the line before. */
  head: HeadNames | undefined;
  /** How many more points and lines fit into the slice. */
  left: number;
  /** Points whose time was rounded down to a millisecond. */
  cutPoints: number;
}

interface RepeatedOptions {
  readonly columns: LineColumns;
  readonly precision: Precision;
  readonly slice: number;
  /** No line of the slice starts from here on. */
  readonly end: number;
}

/**
 * Adds the points of repeated lines to the columns, and moves `position` to the first other line.
 *
 * It changes the position because a literal as its result would keep V8 from optimizing it: the loop runs in
 * code that was compiled before the first return, and each call would end with a deoptimization (Node.js 26).
 */
export function scanRepeatedLines(
  { bytes, view }: LineBytes,
  position: LinePosition,
  options: RepeatedOptions,
): void {
  const { columns, slice, end } = options;
  const { digits: cutDigits, factor } = options.precision;
  const { timeMsMax } = limits;
  let { at, line, head, left, cutPoints } = position;
  let { count, times, values, lines, series } = columns;
  let timeDigits = 0;
  while (at < end && left > 0 && head?.next !== undefined) {
    const next: HeadNames = head.next;
    const { fields, leading } = next;
    const { length } = fields;
    if (count + length > values.length) {
      columns.grow();
      ({ times, values, lines, series } = columns);
      continue;
    }
    let to = length === 0 ? -1 : at;
    for (let i = 0; i < length && to >= 0; i += 1) {
      to = endOfLeading(view, bytes.length, to, leading[i]!);
      if (to >= 0) to = scanPlainNumber(bytes, to, values, count + i);
    }
    if (to < 0 || bytes[to] !== space) break;
    to += 1;
    // Times of one client nearly always have the same number of digits.
    let timeEnd = to + timeDigits;
    if (timeEnd >= bytes.length || bytes[timeEnd] !== newline) {
      timeEnd = digitsEnd(bytes, to);
      timeDigits = timeEnd - to;
      if (timeEnd < bytes.length && bytes[timeEnd] !== newline) break;
    }
    const timeMs = wholeNumber(view, to, timeEnd - cutDigits) * factor;
    const cut = cutDigits === 0 ? 0 : bitsOfDigits(bytes, timeEnd - cutDigits, timeEnd);
    if (!(timeMs <= timeMsMax) || cut < 0) break;
    if (cut > 0) cutPoints += length;
    for (let i = 0; i < length; i += 1) {
      times[count] = timeMs;
      lines[count] = line;
      series[count] = columns.numberOf(fields[i]!, slice);
      count += 1;
    }
    left -= 1 + length;
    at = timeEnd + 1;
    line += 1;
    head = next;
  }
  columns.count = count;
  position.at = at;
  position.line = line;
  position.head = head;
  position.left = left;
  position.cutPoints = cutPoints;
}

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at]! ^ zero) <= 9) at += 1;
  return at;
}

/** Zero if these are all zeros, more if they are other digits, and -1 if one is no digit. */
function bitsOfDigits(bytes: Buffer, from: number, to: number): number {
  let bits = 0;
  for (let at = from; at < to; at += 1) {
    const digit = bytes[at]! ^ zero;
    if (!(digit <= 9)) return -1;
    bits |= digit;
  }
  return bits;
}
