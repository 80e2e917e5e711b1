// The catalog's notes about itself, in a table of its own: the version of its layout, the highest id ever
// used, and the version of Millrace that last added tables or columns.
import { sql } from "kysely";
import { invariant } from "../../lib/invariant.ts";
import { CannotOpen } from "../cannot-open.ts";
import type { Table } from "../catalog.ts";
import type { Db } from "./dialect.ts";

interface Note {
  readonly id: number;
  readonly name: string;
  readonly value: number;
}

export const metaTable: Table<Note> = {
  name: "catalog_meta",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    value: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["name"]],
  wordsOf: [],
};

/** Raised when a file can no longer be read by an older program. */
export const layoutVersion = 1;

const lastIdNote = 3;
const tablesVersionNote = 4;

/** Writes the notes that are missing; refuses a file that a newer program has changed beyond us. */
export async function prepareMeta(db: Db, nowMs: number): Promise<void> {
  const meta = sql.table(metaTable.name);
  await sql`
    insert into ${meta} (id, name, value)
    values (1, 'layout version', ${layoutVersion}), (2, 'created time', ${nowMs}),
      (${lastIdNote}, 'last id', 0)
    on conflict (id) do nothing
  `.execute(db);
  const { rows } = await sql<Note>`select id, name, value from ${meta} where id = 1`.execute(db);
  if (rows[0]!.value > layoutVersion) {
    throw new CannotOpen(
      `catalog.db has layout ${rows[0]!.value}; this version reads ${layoutVersion}`,
      "newer",
    );
  }
}

/** Runs in the transaction of every insert, so that the stored id is never below that of a record. */
export async function raiseLastId(db: Db, id: number): Promise<void> {
  await sql`
    update ${sql.table(metaTable.name)} set value = ${id} where id = ${lastIdNote} and value < ${id}
  `.execute(db);
}

export async function readLastId(db: Db): Promise<number> {
  const { rows } = await sql<Note>`
    select value from ${sql.table(metaTable.name)} where id = ${lastIdNote}
  `.execute(db);
  return rows[0]!.value;
}

/**
 * Refuses a file to which a newer program than `version` has added tables or columns: a record that this
 * program replaced would lose the columns that it does not know.
 */
export async function refuseNewerTables(db: Db, version: string): Promise<void> {
  const meta = sql.table(metaTable.name);
  const { rows } = await sql<Note>`select value from ${meta} where id = ${tablesVersionNote}`.execute(db);
  const held = rows[0]?.value ?? 0;
  if (held <= numberOf(version)) return;
  throw new CannotOpen(`catalog.db has tables of Millrace ${textOf(held)}; this is ${version}`, "newer");
}

/** Notes that `version` has added tables or columns. */
export async function noteTablesVersion(db: Db, version: string): Promise<void> {
  await sql`
    insert into ${sql.table(metaTable.name)} (id, name, value)
    values (${tablesVersionNote}, 'tables version', ${numberOf(version)})
    on conflict (id) do update set value = excluded.value
  `.execute(db);
}

const versionPart = 1_000;

/** "1.2.3" as 1002003, so that a newer version is a larger number. */
function numberOf(version: string): number {
  const [major, minor, patch] = version.split(/[.-]/, 3).map(Number);
  const number = (major! * versionPart + minor!) * versionPart + patch!;
  invariant(Number.isSafeInteger(number), `${version} has three numbers`);
  return number;
}

const textOf = (number: number): string =>
  [number / versionPart ** 2, number / versionPart, number]
    .map((part) => Math.floor(part) % versionPart)
    .join(".");
