// The functions that SQLite lacks, written in JavaScript and registered on every connection.

import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { distance } from "fastest-levenshtein";
import { foldCase, startOf, wordsIn } from "../../../../lib/text.ts";

const ofText =
  (call: (text: string) => SQLInputValue) =>
  (value: SQLOutputValue): SQLInputValue =>
    typeof value === "string" ? call(value) : null;

/** All deterministic; of a missing value each is null. */
export const functions: Readonly<Record<string, (...values: SQLOutputValue[]) => SQLInputValue>> = {
  /** SQLite's own `lower` knows ASCII alone. */
  fold_case: (value) => ofText(foldCase)(value!),
  /** The words of a text, blanks between them, as the full-text index holds them. */
  words_in: (value) => ofText((text) => wordsIn(text).join(" "))(value!),
  start_of: (value) => ofText(startOf)(value!),
  /** Each of the words, blanks between them, begins a word of one of the texts. */
  has_words(wanted, ...texts) {
    const held = texts.flatMap((text) => (typeof text === "string" ? wordsIn(text) : []));
    return Number(
      String(wanted)
        .split(" ")
        .every((start) => held.some((word) => word.startsWith(start))),
    );
  },
  /** The path, `/1/7/9/`, goes through one of the assets `7/12`. */
  is_under: (value, roots) => ofText((path) => Number(hasOne(path, rootsIn(String(roots)))))(value!),
  /** Single-letter edits between two texts. */
  edits_between: (value, other) => ofText((text) => distance(text, String(other)))(value!),
};

/** The ids read last, as they are the same for one record after the other. */
let lastRoots = { text: "", ids: new Set<string>() };

function rootsIn(text: string): ReadonlySet<string> {
  if (lastRoots.text !== text) lastRoots = { text, ids: new Set(text.split("/")) };
  return lastRoots.ids;
}

function hasOne(path: string, roots: ReadonlySet<string>): boolean {
  for (let start = 1, end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", start)) {
    if (roots.has(path.slice(start, end))) return true;
    start = end + 1;
  }
  return false;
}
