// The catalog's notes about itself, in a table of its own: the version of its layout and the highest id
// ever used.
import { sql } from "kysely";
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
