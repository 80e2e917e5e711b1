// Creates the tables in ClickHouse.
import type { ClickHouseClient } from "./client.ts";
import { Sql, sql } from "./sql.ts";

/**
 * One part holds the rows of one insert, because the table has no partitions. So an insert is all or nothing.
 * Of rows with one key, that with the highest version counts.
 */
const tables = [
  {
    name: "points",
    columns: sql`series UInt64, t Int64, v Float64, s String, version UInt64`,
    engine: "ReplacingMergeTree",
    version: "version",
    order: sql`(series, t)`,
  },
  // A tombstone deletes the points of its range that have a lower version.
  {
    name: "tombstones",
    columns: sql`series UInt64, start Int64, end Int64, version UInt64`,
    engine: "MergeTree",
    order: sql`(series, version)`,
  },
  // The catalog that the database belongs to. Each row reserves a range of versions for one run of a server.
  {
    name: "reservations",
    columns: sql`owner UInt64, number UInt64`,
    engine: "MergeTree",
    order: sql`number`,
  },
] as const;

/**
 * Replicated tables have their path in ZooKeeper from the macros `shard` and `replica` of each ClickHouse.
 */
export async function createTables(client: ClickHouseClient): Promise<void> {
  const { quorum, database } = client.location;
  for (const table of tables) {
    const { name, columns, engine, order } = table;
    const own = "version" in table ? [table.version] : [];
    const place = [`'/clickhouse/tables/{shard}/${database}/${name}'`, "'{replica}'"];
    const kind =
      quorum === undefined ? `${engine}(${own.join()})` : `Replicated${engine}(${[...place, ...own].join()})`;
    await client.execute(
      sql`CREATE TABLE IF NOT EXISTS ${new Sql(name)} (${columns})
        ENGINE = ${new Sql(kind)} ORDER BY ${order}`,
    );
  }
}
