// Reads a few rows of a catalog's file that is not open as a catalog, and changes nothing in it.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

type Row = Readonly<Record<string, string | number | null>>;

/** A file without any table, or none at all. */
export const noTables = "no tables";

/**
 * All rows of a table; undefined where the file has other tables but not this one. Throws for other files.
 */
export function peekAt(path: string, table: string): Row[] | typeof noTables | undefined {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return noTables;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    if (names.length === 0) return noTables;
    if (!names.some(({ name }) => name === table)) return undefined;
    return database.prepare(`SELECT * FROM "${table}"`).all() as Row[];
  } finally {
    database.close();
  }
}

export interface NamedBlob {
  readonly project: number;
  readonly id: number;
  readonly bytes: number;
}

/** The blobs that the records of these tables name, with their sizes, by project and id. */
export function blobsNamedIn(database: DatabaseSync, tables: readonly string[]): Iterable<NamedBlob> {
  const ofTables = tables.map(
    (table) => `SELECT in_project AS project, content AS id, contentBytes AS bytes FROM "${table}"
      WHERE content IS NOT NULL`,
  );
  const sql = `${ofTables.join(" UNION ALL ")} ORDER BY 1, 2`;
  return database.prepare(sql).iterate() as unknown as Iterable<NamedBlob>;
}

/** The same of a file. */
export function* namedBlobs(path: string, tables: readonly string[]): Generator<NamedBlob> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    yield* blobsNamedIn(database, tables);
  } finally {
    database.close();
  }
}
