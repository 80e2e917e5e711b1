// Opens the SQLite file of a shard, and creates its tables.
import { DatabaseSync } from "node:sqlite";
import { daySchema } from "./day-summaries.ts";
import { type ShardIdentity, stateSchema } from "./stored-shard-state.ts";

/** Page size of new files. With blocks of 6 KB, pages of 4 KB waste twice as much space (13 %). */
const pageBytes = 2048;

const schema = (identity: ShardIdentity) => `
  CREATE TABLE block (
    series INTEGER NOT NULL, kind INTEGER NOT NULL, first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL, count INTEGER NOT NULL, data_id INTEGER NOT NULL, header BLOB NOT NULL,
    PRIMARY KEY (series, kind, first_ms)
  ) WITHOUT ROWID;
  CREATE TABLE data (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE damaged (
    data_id INTEGER PRIMARY KEY, series INTEGER NOT NULL, kind INTEGER NOT NULL, first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL, expected TEXT NOT NULL, found TEXT NOT NULL
  );
${stateSchema(identity)};
${daySchema}`;
const tableCount = 5;
/** A file that was made before days had summaries. */
const hasAllButDaysSql = `
  SELECT count(*) = 4 AND sum(name IN ('block', 'data', 'damaged', 'state')) = 4 AS found
  FROM sqlite_schema`;

/** Opens the file, or creates it. `file` is its name in errors. */
export function openShardFile(path: string, file: string, identity: ShardIdentity): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL`);
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192");
  createTables(database, file, identity);
  return database;
}

/** Page size of the file, which may be that of an older version. */
export const pageBytesOf = (database: DatabaseSync): number =>
  Number(database.prepare("PRAGMA page_size").get()!["page_size"]);

/**
 * Creates the tables of a new file, and syncs them; in an older one the table of days. A single flipped bit
 * can hide all tables, so a file that is larger than a page is not taken for a new one.
 */
function createTables(database: DatabaseSync, file: string, identity: ShardIdentity): void {
  const found = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()!["tables"];
  if (found === tableCount) return;
  if (database.prepare(hasAllButDaysSql).get()!["found"] === 1) {
    database.exec(daySchema);
    return;
  }
  const pages = Number(database.prepare("PRAGMA page_count").get()!["page_count"]);
  if (found !== 0 || pages > 1)
    throw new Error(`${file} has ${pages} pages, but ${found} of ${tableCount} tables`);
  database.exec(`BEGIN IMMEDIATE; ${schema(identity)}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
}
