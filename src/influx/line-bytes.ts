// Finds the ends of lines, strings and values in the bytes of line protocol.
import { isEscapable } from "./series-names.ts";

const code = (character: string): number => character.charCodeAt(0);
const [comma, equals, space, backslash, quote] = [code(","), code("="), code(" "), code("\\"), code('"')];
const [newline, carriageReturn, tab] = [code("\n"), code("\r"), code("\t")];

/** Whether no value continues with this byte. */
export const isValueEnd = (byte: number | undefined): boolean =>
  byte === comma || byte === space || byte === newline || byte === carriageReturn || byte === undefined;

/** Whether the bytes from `from` on start with these. */
export function isAt(bytes: Buffer, from: number, expected: Buffer): boolean {
  const { length } = expected;
  for (let i = 0; i < length; i += 1) if (bytes[from + i] !== expected[i]) return false;
  return true;
}

/** The position of the quote that ends a string; the end of the bytes if there is none. */
export function stringEnd(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length && bytes[at] !== quote; at += 1)
    if (bytes[at] === backslash && (bytes[at + 1] === quote || bytes[at + 1] === backslash)) at += 1;
  return at;
}

/**
 * The newline that ends a line which is not valid. A newline in a string does not end it; a string starts
 * with a quote after the `=` of a field.
 */
export function lineEnd(bytes: Buffer, start: number): number {
  let isInFields = false;
  let at = start;
  while (bytes[at] === space || bytes[at] === tab) at += 1;
  for (; at < bytes.length && bytes[at] !== newline; at += 1) {
    if (bytes[at] === backslash && isEscapable(bytes[at + 1])) at += 1;
    else if (bytes[at] === space) isInFields = true;
    else if (isInFields && bytes[at] === equals && bytes[at + 1] === quote) at = stringEnd(bytes, at + 2);
  }
  return Math.min(at, bytes.length);
}

/** The newlines between two positions. */
export function newlinesIn(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1))
    count += 1;
  return count;
}

/** The beginning of a line for a message. */
export function excerpt(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start, Math.min(end, start + excerptBytes)).replaceAll(/\p{Cc}/gu, " ");
}

const excerptBytes = 80;
