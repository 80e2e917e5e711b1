// Deleted ranges of points. A delete writes one row, which counts at once, however many points it deletes.
import type { TimeRange } from "../../lib/time.ts";
import type { SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { encodeBlock, type NativeRows } from "./native-format.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";

/** Times beyond these do not occur; statements have them for an infinite bound. */
export const farMs = 2 ** 51;

/** The bound of a range as an integer: the same points are at or after it. */
export const boundMs = (timeMs: number): number => Math.ceil(Math.min(farMs, Math.max(-farMs, timeMs)));

export interface DeletedRange extends TimeRange {
  readonly series: SeriesId;
}

/** Deletes the points of its range that have a lower version. */
export interface Tombstone extends DeletedRange {
  readonly version: number;
}

export async function insertTombstones(
  client: ClickHouseClient,
  tombstones: readonly Tombstone[],
): Promise<void> {
  const column = (read: (one: Tombstone) => number) => Float64Array.from(tombstones, read);
  const block = encodeBlock(tombstones.length, [
    { name: "series", type: "UInt64", values: column(({ series }) => series) },
    { name: "start", type: "Int64", values: column(({ startMs }) => boundMs(startMs)) },
    { name: "end", type: "Int64", values: column(({ endMs }) => boundMs(endMs)) },
    { name: "version", type: "UInt64", values: column(({ version }) => version) },
  ]);
  await client.insert(sql`INSERT INTO tombstones (series, start, end, version)`, block);
}

/** The tombstones of these series, in the order of the series; of equal ranges the newest. */
export async function readTombstones(
  client: ClickHouseClient,
  series: readonly SeriesId[],
): Promise<Tombstone[]> {
  return selectTombstones(
    client,
    sql`SELECT series, start, end, max(version) AS newest FROM tombstones
      WHERE series IN (${series}) GROUP BY series, start, end ORDER BY series`,
  );
}

/** Runs a statement with the columns of a tombstone, the version as `newest`. */
export async function selectTombstones(client: ClickHouseClient, statement: Sql): Promise<Tombstone[]> {
  const rows = await client.query(statement);
  const [starts, ends, versions] = [rows.numbers("start"), rows.numbers("end"), rows.numbers("newest")];
  return Array.from(rows.numbers("series"), (series, row) => ({
    ...{ series, startMs: starts[row]!, endMs: ends[row]!, version: versions[row]! },
  }));
}

/** The column and the condition that leave deleted points out of the result of a statement. */
export interface Alive {
  /** A further column of the result, with a comma before it; see `readAlive`. */
  readonly column: Sql;
  /** A condition from AND on, that the points without a tombstone meet. */
  readonly condition: Sql;
}

export function aliveOf(tombstones: readonly Tombstone[]): Alive {
  const deleted = tombstones.map(
    ({ series, startMs, endMs, version }) =>
      sql`(series = ${series} AND t >= ${startMs} AND t < ${endMs} AND version < ${version})`,
  );
  const isDeleted = joinSql(deleted, sql` OR `);
  return { column: noSql, condition: deleted.length === 0 ? noSql : sql` AND NOT (${isDeleted})` };
}

/** A statement found points of series that have tombstones. */
class HasTombstones extends Error {}

/** Reads with conditions, where series have tombstones. */
type ReadFiltered<Result> = (tombstones: readonly Tombstone[]) => Promise<Result>;

/**
 * Runs reads of series, most of which have no tombstones: each statement counts them itself, before it reads
 * the points, which saves a statement. If there are any, the reads run again with conditions. Tombstones must
 * not be read after the points, because a sweep removes both.
 */
export async function readAlive<Result>(
  client: ClickHouseClient,
  series: readonly SeriesId[],
  read: (alive: Alive) => Promise<Result>,
  readFiltered: ReadFiltered<Result> = (tombstones) => read(aliveOf(tombstones)),
): Promise<Result> {
  const count = sql`(SELECT count() FROM tombstones WHERE series IN (${series}))`;
  try {
    return await read({ column: sql`, toUInt8(${count} > 0) AS has_tombstones`, condition: noSql });
  } catch (problem) {
    if (!(problem instanceof HasTombstones)) throw problem;
    return readFiltered(await readTombstones(client, series));
  }
}

/** Reports tombstones that the statement has counted to `readAlive`. */
export function requireAlive(rows: NativeRows): NativeRows {
  if (rows.numbers("has_tombstones")[0] === 1) throw new HasTombstones();
  return rows;
}
