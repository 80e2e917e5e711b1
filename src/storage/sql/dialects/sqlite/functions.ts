// The functions that SQLite lacks, written in JavaScript and registered on every connection.

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { distance } from "fastest-levenshtein";
import { foldCase, startOf, wordsIn } from "../../../../lib/text.ts";

const ofText =
  (call: (text: string) => SQLInputValue) =>
  (value: SQLOutputValue): SQLInputValue =>
    typeof value === "string" ? call(value) : null;

/** Makes the functions known to a connection: schema and statements of the catalog call them. */
export function addFunctions(database: DatabaseSync): void {
  for (const [name, call] of Object.entries(functions))
    database.function(name, { deterministic: true, varargs: true }, call);
  for (const [name, call] of Object.entries(functionsOfStatement))
    database.function(name, { varargs: true }, call);
}

type Functions = Readonly<Record<string, (...values: SQLOutputValue[]) => SQLInputValue>>;

/** Deterministic; of a missing value each is null. */
const functions: Functions = {
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
  /** Single-letter edits between two texts. */
  edits_between: (value, other) => ofText((text) => distance(text, String(other)))(value!),
};

/** What the statement that runs has been told and has met; a thread runs one at a time. */
const statement = { roots: [] as ReadonlySet<string>[], met: 0, missed: 0 };

/** To be called before each statement. */
export function beginStatement(): void {
  statement.roots.length = 0;
  statement.met = 0;
  statement.missed = 0;
}

/** The message of a statement that looked in vain at more records than it was to; how many it met follows. */
export const gaveUp = "looked at enough records in vain, having met ";

/** These know of the statement that they are part of. */
const functionsOfStatement: Functions = {
  /** Keeps the assets `7/12` as what `is_under` asks for: once, and not for each record. */
  roots_of: (ids) => statement.roots.push(new Set(String(ids).split("/"))) - 1,
  /** The path, `/1/7/9/`, goes through one of the assets kept. */
  is_under: (value, roots) => ofText((path) => Number(hasOne(path, statement.roots[Number(roots)]!)))(value!),
  /** The condition; ends the statement once it has been false more often than this. */
  is_met(condition, missesMax) {
    statement[condition ? "met" : "missed"] += 1;
    if (statement.missed > Number(missesMax)) throw new Error(`${gaveUp}${statement.met}`);
    return Number(Boolean(condition));
  },
};

function hasOne(path: string, roots: ReadonlySet<string>): boolean {
  for (let start = 1, end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", start)) {
    if (roots.has(path.slice(start, end))) return true;
    start = end + 1;
  }
  return false;
}
