// Parses JSON text. All code calls this, because `JSON.parse` may misread keys (Node 24 and 26):
// https://github.com/nodejs/node/issues/63785
//
// After an object with the key `\` was read anywhere in the process, `JSON.parse` may replace another key
// with an escape, such as `"\n"`, by that key. Keys without escapes are always right.
import { JsonMalformed, JsonReader, type JsonReading } from "./json-reader.ts";

/** `JSON.parse` with the right keys. Throws a `SyntaxError` as well. */
export function parseJson(text: string): unknown {
  if (!text.includes("\\") || !hasEscapedKey(text)) return JSON.parse(text);
  return read(text, {});
}

/**
 * Like `parseJson`, for free-form pairs: in objects at one of the paths, numbers and booleans become strings
 * of their JSON text, and null is omitted.
 */
export const parseJsonWithPairs = (text: string, ...paths: readonly (readonly string[])[]): unknown =>
  read(text, { pairsPaths: paths.map((names) => ({ names })) });

/** Like `parseJsonWithPairs`, for a text that is one object of pairs. */
export const parsePairs = (text: string): unknown => parseJsonWithPairs(text, []);

function read(text: string, reading: Pick<JsonReading, "pairsPaths">): unknown {
  const reader = new JsonReader(Buffer.from(text), { ...unbounded, ...reading });
  try {
    reader.read(Infinity);
  } catch (problem) {
    throw problem instanceof JsonMalformed ? new SyntaxError(problem.message) : problem;
  }
  return reader.value;
}

const unbounded = {
  values: Infinity,
  levels: Infinity,
  members: Infinity,
  stringBytes: Infinity,
  textBytes: Infinity,
};

const colon = /\s*:/y;

/** Whether a string with an escape is before a colon. A regular expression would recurse on long strings. */
function hasEscapedKey(text: string): boolean {
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = start + 1;
    let isEscaped = false;
    for (; end < text.length && text[end] !== '"'; end++) {
      if (text[end] !== "\\") continue;
      isEscaped = true;
      end++;
    }
    colon.lastIndex = end + 1;
    if (isEscaped && colon.test(text)) return true;
    start = text.indexOf('"', end + 1);
  }
  return false;
}
