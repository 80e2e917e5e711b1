// The words of a record in its full-text index: a `tsvector` whose lexemes begin with a letter for the field.
import { wordsIn } from "../../../../lib/text.ts";
import type { AnyTable } from "../../../catalog.ts";

/** The hidden column with the words of all fields. */
export const wordsColumn = "__words";

/** A lexeme of PostgreSQL has at most 2,046 bytes; of longer words the index has the beginning. */
export const wordLengthMax = 400;

/** A word, or the beginning of one, as the index has it. */
export function lexemeOf({ wordsOf }: AnyTable, field: string, word: string): string {
  const letter = String.fromCharCode(97 + wordsOf.indexOf(field));
  const start = word.slice(0, wordLengthMax);
  return letter + (start.isWellFormed() ? start : start.slice(0, -1));
}

/** The lexemes of a record with these values, separated by blanks; no lexeme has one. */
export const lexemesOf = (table: AnyTable, textOf: (field: string) => unknown): string =>
  table.wordsOf
    .flatMap((field) => {
      const text = textOf(field);
      return typeof text === "string" ? wordsIn(text).map((word) => lexemeOf(table, field, word)) : [];
    })
    .join(" ");
