// The findings of a doctor of stored files, with those of SQLite itself.
import type { DatabaseSync } from "node:sqlite";
import type { Damage } from "./points.ts";

export interface Remedy {
  readonly says: string;
  readonly apply: () => Promise<void> | void;
}

/** Damage with its remedy; where `remedy` is absent, only a backup helps. */
export interface Finding extends Damage {
  readonly remedy?: Remedy;
}

/** The most rows of damage that the integrity check of SQLite returns. */
const integrityRowsMax = 20;

/** The findings of SQLite's integrity check, in its words. */
export function integrityOf(database: DatabaseSync, file: string): Finding[] {
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${integrityRowsMax})`).all();
    const said = rows.map((row) => String(row["integrity_check"])).filter((one) => one !== "ok");
    return said.map((found) => ({ file, offset: 0, expected: "an SQLite database in order", found }));
  } catch (why) {
    return [noDatabase(file, why)];
  }
}

/** A file that SQLite cannot open or read at all. */
export const noDatabase = (file: string, why: unknown): Finding => ({
  file,
  offset: 0,
  expected: "an SQLite database",
  found: (why as Error).message,
});
