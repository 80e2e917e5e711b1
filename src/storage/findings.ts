// What a doctor of stored files finds, and what SQLite itself says of a file.
import type { DatabaseSync } from "node:sqlite";
import type { Damage } from "./points.ts";

export interface Remedy {
  readonly says: string;
  readonly apply: () => Promise<void> | void;
}

/** Damage with what can be done about it; nothing but a backup helps where `remedy` is absent. */
export interface Finding extends Damage {
  readonly remedy?: Remedy;
}

/** The most rows of damage that the integrity check of SQLite returns. */
const integrityRowsMax = 20;

/** What SQLite finds wrong with a database, in its own words. */
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
