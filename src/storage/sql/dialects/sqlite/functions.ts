// The functions that SQLite lacks, written in JavaScript and registered on every connection.

import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { distance } from "fastest-levenshtein";
import { foldCase, wordsIn } from "../../../../lib/text.ts";

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
  /** Single-letter edits between two texts. */
  edits_between: (value, other) => ofText((text) => distance(text, String(other)))(value!),
};
