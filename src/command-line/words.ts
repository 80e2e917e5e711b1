// The words after a command, and the tables that commands print.
import { Misused } from "./command.ts";

/** Checks the number of words after a command. `missing` is the message if there are too few. */
export function expectWords(words: readonly string[], count: number, missing: string): void {
  if (words.length < count) throw new Misused(missing);
  if (words.length > count) throw new Misused(`Unexpected argument "${words[count]}".`);
}

/** Prints a table with aligned columns; the last column has no padding. */
export function printTable(rows: readonly (readonly (string | number)[])[]): void {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  for (const row of rows) {
    const cells = row.map((cell, at) => (at < row.length - 1 ? String(cell).padEnd(widths[at]!) : cell));
    console.log(cells.join("  "));
  }
}
