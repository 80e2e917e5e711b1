// Extracts parts of a JSON text without parsing them, so that each stays exactly as it was written.
//
// Every function requires a text that `parseJson` has accepted.
import { parseJson } from "./json.ts";
import { put } from "./json-members.ts";

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code("\\");
const openBrace = code("{");
const closeBrace = code("}");
const openBracket = code("[");
const closeBracket = code("]");
const comma = code(",");

/** A member of an object: its name, and the positions of the member and of its value in the text. */
export interface MemberSpan {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The position of a value in the text. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** The members of the object that starts at `at`, in their order; a name may repeat. */
export function membersIn(text: string, at: number): MemberSpan[] {
  const members: MemberSpan[] = [];
  for (let start = afterBlanks(text, at + 1); text.charCodeAt(start) === quote; ) {
    const nameEnd = endOfString(text, start);
    const valueStart = afterBlanks(text, afterBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, valueStart);
    members.push({ name: stringIn(text, start, nameEnd), start, valueStart, end });
    start = afterBlanks(text, afterBlanks(text, end) + 1);
  }
  return members;
}

/**
 * The members of the object that starts at `at`, as strings: strings as they are, others as their JSON text.
 * Nulls are left out. Of a repeated name, the last one counts.
 */
export function stringMembersIn(text: string, at: number): Record<string, string> {
  const strings: Record<string, string> = {};
  for (const { name, valueStart, end } of membersIn(text, at)) {
    const written = text.slice(valueStart, end);
    delete strings[name];
    if (written === "null") continue;
    put(strings, name, written.startsWith('"') ? stringIn(text, valueStart, end) : written);
  }
  return strings;
}

/** The elements of the array that starts at `at`. */
export function elementsIn(text: string, at: number): ValueSpan[] {
  const elements: ValueSpan[] = [];
  let start = afterBlanks(text, at + 1);
  if (text.charCodeAt(start) === closeBracket) return elements;
  for (;;) {
    const end = endOfValue(text, start);
    elements.push({ start, end });
    const next = afterBlanks(text, end);
    if (text.charCodeAt(next) !== comma) return elements;
    start = afterBlanks(text, next + 1);
  }
}

/** The value of the string whose quotes are at `start` and before `end`. */
export function stringIn(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? (parseJson(text.slice(start, end)) as string) : written;
}

/** The position after the blanks at `at`, if any. */
function afterBlanks(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) <= 32) next += 1;
  return next;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first !== openBrace && first !== openBracket) return endOfWord(text, start);
  let depth = 1;
  for (let at = start + 1; ; at += 1) {
    const found = text.charCodeAt(at);
    if (found === quote) at = endOfString(text, at) - 1;
    else if (found === openBrace || found === openBracket) depth += 1;
    else if (found === closeBrace || found === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
}

/** The position after a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  for (let at = start; ; at += 1) {
    const found = text.charCodeAt(at);
    const isEnd = found === comma || found === closeBrace || found === closeBracket || found <= 32;
    if (isEnd || at === text.length) return at;
  }
}

/** The position after the string that starts at `start`; `indexOf` is slower, because most are short. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    const found = text.charCodeAt(at);
    if (found === quote) return at + 1;
    if (found === backslash) at += 1;
  }
}
