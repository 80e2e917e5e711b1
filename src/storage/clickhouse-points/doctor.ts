// Examines the database of the datapoints for `millrace doctor`.
import type { Finding } from "../findings.ts";
import { ClickHouseClient } from "./client.ts";
import { type ClickHouseLocation, withoutPassword } from "./location.ts";
import { sql } from "./sql.ts";

/** `owner` is the number of the catalog; undefined where that is missing. */
export async function examineClickHouse(
  location: ClickHouseLocation,
  owner: number | undefined,
): Promise<Finding[]> {
  const client = new ClickHouseClient(location);
  const finding = (expected: string, found: string): Finding[] => [
    { file: withoutPassword(location), offset: 0, expected, found },
  ];
  try {
    const readOnly = await readOnlyTables(client);
    if (readOnly.length > 0) return finding("tables that accept writes", `read-only: ${readOnly.join(", ")}`);
    const owners = (await client.query(sql`SELECT DISTINCT owner FROM reservations`)).numbers("owner");
    const others = owners.filter((one) => one !== owner);
    if (owners.length === 0) return finding("the datapoints of this catalog", "an unused database");
    if (others.length > 0) return finding("the datapoints of this catalog", `those of catalog ${others[0]}`);
    return [];
  } catch (problem) {
    return finding("a database that responds", (problem as Error).message);
  } finally {
    client.close();
  }
}

/** Replicated tables that accept no writes: their ZooKeeper is away, or their replica is not active. */
export async function readOnlyTables(client: ClickHouseClient): Promise<readonly string[]> {
  const rows = await client.query(
    sql`SELECT table FROM system.replicas WHERE database = currentDatabase() AND is_readonly`,
  );
  return rows.strings("table");
}
