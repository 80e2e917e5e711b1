// Scans lines that repeat the series of the lines before them, with plain numbers and times: nearly all lines
// of a client that sends one cycle after another.
//
// One function with all its state in local variables, four times as fast as `LineScanner` with its fields.
// It stops at the first line with anything else, which the scanner then reads.
import { limits } from "../limits.ts";
import { isAt } from "./line-bytes.ts";
import type { LineColumns } from "./line-columns.ts";
import { scanPlainNumber } from "./plain-number.ts";
import type { Precision } from "./precision.ts";
import type { HeadNames } from "./series-names.ts";

const code = (character: string): number => character.charCodeAt(0);
const [comma, equals, space, newline] = [code(","), code("="), code(" "), code("\n")];
const zero = code("0");

/** The digits of a time in milliseconds are read in two parts, of which the second has so many. */
const lowDigits = 7;

/** Where the scanner is, and what it counts. */
export interface LinePosition {
  /** The start of a line. */
  readonly at: number;
  /** Its number. */
  readonly line: number;
  /** The head of the line before. */
  readonly head: HeadNames | undefined;
  /** How many more points and lines fit into the slice. */
  readonly left: number;
  /** Points whose time was rounded down to a millisecond. */
  readonly cutPoints: number;
}

interface RepeatedOptions {
  readonly columns: LineColumns;
  readonly precision: Precision;
  readonly slice: number;
  /** No line of the slice starts from here on. */
  readonly end: number;
}

/** Adds the points of repeated lines to the columns. Returns the position of the first other line. */
export function scanRepeatedLines(bytes: Buffer, from: LinePosition, options: RepeatedOptions): LinePosition {
  const { columns, slice, end } = options;
  const { digits: cutDigits, factor } = options.precision;
  let { at, line, head, left, cutPoints } = from;
  while (at < end && left > 0 && head?.next !== undefined) {
    const next: HeadNames = head.next;
    const fieldsEnd = scanFields(bytes, at, next, columns);
    if (fieldsEnd < 0) break;
    const timeEnd = digitsEnd(bytes, fieldsEnd + 1);
    if (timeEnd < bytes.length && bytes[timeEnd] !== newline) break;
    const wholeEnd = timeEnd - cutDigits;
    const timeMs = wholeNumber(bytes, fieldsEnd + 1, wholeEnd) * factor;
    if (!(timeMs <= limits.timeMsMax)) break;
    const { fields } = next;
    if (cutDigits > 0 && !areZeros(bytes, wholeEnd, timeEnd)) cutPoints += fields.length;
    const { count, times, lines, series } = columns;
    for (let i = 0; i < fields.length; i += 1) {
      times[count + i] = timeMs;
      lines[count + i] = line;
      series[count + i] = columns.numberOf(fields[i]!, slice);
    }
    columns.count = count + fields.length;
    left -= 1 + fields.length;
    at = timeEnd + 1;
    line += 1;
    head = next;
  }
  return { at, line, head, left, cutPoints };
}

/**
 * Puts the values of a line with this head and exactly its fields after the points of the columns. Returns
 * the end of the fields, or -1 for another line.
 */
function scanFields(bytes: Buffer, lineStart: number, head: HeadNames, columns: LineColumns): number {
  const { fields } = head;
  if (fields.length === 0 || !isAt(bytes, lineStart, head.bytes)) return -1;
  let at = lineStart + head.bytes.length;
  while (columns.count + fields.length > columns.values.length) columns.grow();
  for (let i = 0; i < fields.length; i += 1) {
    const { key } = fields[i]!;
    if (bytes[at] !== (i === 0 ? space : comma) || !isAt(bytes, at + 1, key)) return -1;
    at += 1 + key.length;
    if (bytes[at] !== equals) return -1;
    at = scanPlainNumber(bytes, at + 1, columns.values, columns.count + i);
    if (at < 0) return -1;
  }
  return bytes[at] === space ? at : -1;
}

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at]! ^ zero) <= 9) at += 1;
  return at;
}

/** The number of 1 to 15 digits; NaN for fewer or more. In two integers, as each step waits for the last. */
function wholeNumber(bytes: Buffer, from: number, to: number): number {
  if (to <= from || to - from > 15) return Number.NaN;
  const middle = Math.max(from, to - lowDigits);
  let high = 0;
  for (let at = from; at < middle; at += 1) high = (Math.imul(high, 10) + (bytes[at]! ^ zero)) | 0;
  let low = 0;
  for (let at = middle; at < to; at += 1) low = (Math.imul(low, 10) + (bytes[at]! ^ zero)) | 0;
  return high * 10 ** lowDigits + low;
}

function areZeros(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] !== zero) return false;
  return true;
}
