// The functions that SQLite lacks, written in JavaScript and registered on every connection.

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { distance } from "fastest-levenshtein";
import { foldCase, startOf, wordsIn } from "../../../../lib/text.ts";

const ofText =
  (call: (text: string) => SQLInputValue) =>
  (value: SQLOutputValue): SQLInputValue =>
    typeof value === "string" ? call(value) : null;

/** Registers the functions on a connection: schema and statements of the catalog call them. */
export function addFunctions(database: DatabaseSync): FunctionState {
  const state = new FunctionState();
  for (const [name, call] of Object.entries(functions))
    database.function(name, { deterministic: true, varargs: true }, call);
  for (const [name, call] of Object.entries(functionsOfStatement(state)))
    database.function(name, { varargs: true }, call);
  return state;
}

type Functions = Readonly<Record<string, (...values: SQLOutputValue[]) => SQLInputValue>>;

/** Deterministic; of a missing value each is null. */
const functions: Functions = {
  /** SQLite's own `lower` knows ASCII alone. */
  fold_case: (value) => ofText(foldCase)(value!),
  /** The words of a text, blanks between them, as the full-text index holds them. */
  words_in: (value) => ofText((text) => wordsIn(text).join(" "))(value!),
  start_of: (value) => ofText(startOf)(value!),
  /** Whether each of the words, separated by blanks, is a prefix of a word in one of the strings. */
  has_words(query, ...texts) {
    const words = texts.flatMap((text) => (typeof text === "string" ? wordsIn(text) : []));
    return Number(
      String(query)
        .split(" ")
        .every((start) => words.some((word) => word.startsWith(start))),
    );
  },
  /** Single-letter edits between two strings. */
  edits_between: (value, other) => ofText((text) => distance(text, String(other)))(value!),
};

/** The memory of the functions of one connection during one statement. */
export class FunctionState {
  readonly roots: ReadonlySet<string>[] = [];
  readonly counts = { accepted: 0, rejected: 0 };

  /** To be called before each statement. */
  reset(): void {
    this.roots.length = 0;
    this.counts.accepted = 0;
    this.counts.rejected = 0;
  }
}

/** The error of a statement that rejected too many records; the number of accepted records follows. */
export const rejectedTooMany = "rejected too many records; accepted: ";

const functionsOfStatement = ({ roots, counts }: FunctionState): Functions => ({
  /** Stores the assets `7/12` once for the calls of `is_under` in this statement; returns their position. */
  roots_of: (ids) => roots.push(new Set(String(ids).split("/"))) - 1,
  /** Whether the path `/1/7/9/` goes through one of the stored assets. */
  is_under: (value, position) => ofText((path) => Number(hasOne(path, roots[Number(position)]!)))(value!),
  /** The condition; ends the statement once it has been false more often than `rejectedMax`. */
  is_accepted(condition, rejectedMax) {
    counts[condition ? "accepted" : "rejected"] += 1;
    if (counts.rejected > Number(rejectedMax)) throw new Error(`${rejectedTooMany}${counts.accepted}`);
    return Number(Boolean(condition));
  },
});

function hasOne(path: string, roots: ReadonlySet<string>): boolean {
  for (let start = 1, end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", start)) {
    if (roots.has(path.slice(start, end))) return true;
    start = end + 1;
  }
  return false;
}
