// Examines the database of the datapoints for `millrace doctor`.
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Finding } from "../findings.ts";
import { ClickHouseClient, codeOf, fullDisk } from "./client.ts";
import { type ClickHouseLocation, type ClickHouseShards, withoutPassword } from "./location.ts";
import { sql } from "./sql.ts";
import { ownerOfShard } from "./versions.ts";

/** `owner` is the number of the catalog; undefined where that is missing. */
export async function examineShards(shards: ClickHouseShards, owner: number | undefined): Promise<Finding[]> {
  const findings = await Promise.all(
    shards.map((shard, index) =>
      examineClickHouse(shard, owner === undefined ? undefined : ownerOfShard(owner, index, shards.length)),
    ),
  );
  return findings.flat();
}

/** `owner` is that of the shard. */
async function examineClickHouse(
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

/** The series with points that no tombstone of a whole series deletes, in the order of their ids. */
export async function* seriesWithPoints(location: ClickHouseLocation): AsyncGenerator<number[]> {
  const client = new ClickHouseClient(location);
  try {
    for (let after = 0; ; ) {
      const rows = await client.query(
        sql`SELECT DISTINCT series FROM points WHERE series > ${after} AND series NOT IN (
          SELECT series FROM tombstones WHERE start < ${limits.timeMsMin} AND end > ${limits.timeMsMax}
        ) ORDER BY series LIMIT ${limits.doctorRecordsAtOnce}`,
      );
      const series = [...rows.numbers("series")];
      if (series.length === 0) return;
      yield series;
      after = series.at(-1)!;
    }
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

/** The replicas of ClickHouse that are away, read-only or late, with the reason. */
export async function replicaProblems(client: ClickHouseClient): Promise<readonly string[]> {
  const replicas = client.replicas;
  if (replicas.length === 1) return [];
  try {
    const problems = await Promise.all(replicas.map((replica) => problemOf(replica)));
    return problems.flatMap((problem, index) =>
      problem === undefined ? [] : [`replica ${index + 1} of ${replicas.length} of ClickHouse: ${problem}`],
    );
  } finally {
    for (const replica of replicas) replica.close();
  }
}

async function problemOf(replica: ClickHouseClient): Promise<string | undefined> {
  try {
    const readOnly = await readOnlyTables(replica);
    if (readOnly.length > 0) return `read-only, without ZooKeeper: ${readOnly.join(", ")}`;
    const rows = await replica.query(
      sql`SELECT last_exception AS problem, num_tries > ${triesMax} AS lasts FROM system.replication_queue
        WHERE database = currentDatabase() AND last_exception != ''
        ORDER BY num_tries DESC LIMIT ${copiesShown}`,
    );
    const problems = rows.strings("problem");
    if (problems.some((one) => fullDisk.test(one))) return "its disk is full";
    return rows.numbers("lasts")[0] === 1 ? `it cannot copy parts (code ${codeOf(problems[0]!)})` : undefined;
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem;
    return (problem.details as { readonly problem?: string }).problem ?? problem.message;
  }
}

/**
 * Copies of parts fail now and then, for example while the other replica merges them. One that fails for a
 * full disk is named at once: ClickHouse may try it again only after 10 s.
 */
const triesMax = 5;
const copiesShown = 100;
