// Real data sets next to the checkout; without them the tests that use them are skipped by name.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../../shared/data");

/** The option for `it`: runs, or is skipped with the reason and the remedy. */
export function withData(name: string): { skip: false | string } {
  return {
    skip:
      !existsSync(join(folder, name)) && `put the data set ${name} into ../shared/data beside the checkout`,
  };
}

export const dataPath = (name: string): string => join(folder, name);

/** Rows of a plain CSV file (no quotes) as arrays of strings, the header first. */
export const rowsOf = (name: string): string[][] =>
  readFileSync(dataPath(name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/\r$/, "").split(","));
