// Creates the tables in ClickHouse.
import type { ClickHouseClient } from "./client.ts";
import { sql } from "./sql.ts";

/**
 * One part holds the rows of one insert, because the table has no partitions. So an insert is all or nothing.
 * Of rows with one key, that with the highest version counts.
 */
const tables = [
  sql`CREATE TABLE IF NOT EXISTS points (series UInt64, t Int64, v Float64, s String, version UInt64)
    ENGINE = ReplacingMergeTree(version) ORDER BY (series, t)`,
  // A tombstone deletes the points of its range that have a lower version.
  sql`CREATE TABLE IF NOT EXISTS tombstones (series UInt64, start Int64, end Int64, version UInt64)
    ENGINE = MergeTree ORDER BY (series, version)`,
  // The catalog that the database belongs to. Each row reserves a range of versions for one run of a server.
  sql`CREATE TABLE IF NOT EXISTS reservations (owner UInt64, number UInt64)
    ENGINE = MergeTree ORDER BY number`,
];

export async function createTables(client: ClickHouseClient): Promise<void> {
  for (const statement of tables) await client.execute(statement);
}
