// Deleted ranges of points. A delete writes one row, which counts at once, however many points it deletes.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { encodeBlock, type NativeRows } from "./native-format.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";

/** Times beyond these do not occur; statements have them for an infinite bound. */
export const farMs = 2 ** 51;

/** The bound of a range as an integer: the same points are at or after it. */
const boundMs = (timeMs: number): number => Math.ceil(Math.min(farMs, Math.max(-farMs, timeMs)));

/**
 * A comparison of each row takes less time than a lookup in a set, and series of one request have such ids.
 */
const intervalsMax = 3;

/** The condition for rows of these series. */
function isOneOf(series: readonly SeriesId[]): Sql {
  if (series.length === 1) return sql`series = ${series}`;
  const intervals = intervalsOf(series);
  if (intervals.length > intervalsMax) return sql`series IN (${series})`;
  const conditions = intervals.map(({ first, last }) => sql`series >= ${first} AND series <= ${last}`);
  return sql`(${joinSql(conditions, sql` OR `)})`;
}

/** Consecutive ids, in ascending order. */
function intervalsOf(series: readonly SeriesId[]): { readonly first: SeriesId; last: SeriesId }[] {
  const intervals: { readonly first: SeriesId; last: SeriesId }[] = [];
  for (const id of Float64Array.from(series).sort()) {
    const interval = intervals.at(-1);
    if (interval !== undefined && id <= interval.last + 1) interval.last = id;
    else intervals.push({ first: id, last: id });
  }
  return intervals;
}

/** The condition for points of these series in a range. Each comparison of times takes time. */
export function within(series: readonly SeriesId[], { startMs, endMs }: TimeRange): Sql {
  const from = startMs === -Infinity ? noSql : sql` AND t >= ${boundMs(startMs)}`;
  const to = endMs === Infinity ? noSql : sql` AND t < ${boundMs(endMs)}`;
  return sql`${isOneOf(series)}${from}${to}`;
}

/** A statement that ends at the first row takes less time on one thread. */
export const onOneThread = { max_threads: 1 };

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

/** Splits a list so that the tombstones of a part make no long statement. */
export function groupsOf<Item>(
  items: readonly Item[],
  tombstonesOf: (item: Item) => readonly Tombstone[],
): { readonly items: Item[]; readonly alive: Alive }[] {
  const groups: { readonly items: Item[]; readonly tombstones: Tombstone[] }[] = [];
  for (const item of items) {
    const own = tombstonesOf(item);
    const last = groups.at(-1);
    const isFull =
      own.length > 0 && last && last.tombstones.length + own.length > limits.clickHouseTombstonesMax;
    if (last === undefined || isFull) groups.push({ items: [item], tombstones: [...own] });
    else {
      last.items.push(item);
      last.tombstones.push(...own);
    }
  }
  return groups.map((group) => ({ items: group.items, alive: aliveOf(group.tombstones) }));
}

/** An expression that ClickHouse evaluates before it reads points. */
export const tombstoneCount = (series: readonly SeriesId[]): Sql =>
  sql`(SELECT count() FROM tombstones WHERE series IN (${series}))`;

/** A statement found points of series that have tombstones. */
class HasTombstones extends Error {}

/** Reads with conditions, where series have tombstones. */
type ReadFiltered<Result> = (tombstonesOf: (series: SeriesId) => readonly Tombstone[]) => Promise<Result>;

/**
 * Runs reads of series, most of which have no tombstones: each statement counts them itself, before it reads
 * the points, which saves a statement. If there are any, the reads run again with conditions. Tombstones must
 * not be read after the points, because a sweep removes both.
 */
export async function readAlive<Result>(
  client: ClickHouseClient,
  series: readonly SeriesId[],
  read: (alive: Alive) => Promise<Result>,
  readFiltered: ReadFiltered<Result> = (tombstonesOf) => read(aliveOf(series.flatMap(tombstonesOf))),
): Promise<Result> {
  const column = sql`, toUInt8(${tombstoneCount(series)} > 0) AS has_tombstones`;
  try {
    return await read({ column, condition: noSql });
  } catch (problem) {
    if (!(problem instanceof HasTombstones)) throw problem;
    const bySeries = Map.groupBy(await readTombstones(client, series), (one) => one.series);
    return readFiltered((id) => bySeries.get(id) ?? []);
  }
}

/** Reports tombstones that the statement has counted to `readAlive`. */
export function requireAlive(rows: NativeRows): NativeRows {
  if (rows.numbers("has_tombstones")[0] === 1) throw new HasTombstones();
  return rows;
}
