// Finds the points of many series that are nearest to a time, with few reads: in a short time range first,
// then in longer ones.
import type { TimeRange } from "../../lib/time.ts";
import type { Point, PointSeries, SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { type Sql, sql } from "./sql.ts";
import { type Alive, requireAlive, within } from "./tombstones.ts";

interface NearestSearch {
  /** At most `seriesPerStatement`. */
  readonly series: readonly PointSeries[];
  /** For all of these series. */
  readonly alive: Alive;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Lengths of the ranges. A series that writes once a second has one index granule in the first. */
const lengthsBefore = [hourMs, 30 * dayMs, Infinity];
/** The caller has read the beginning. */
const lengthsAfter = [30 * dayMs, 1_000 * dayMs, Infinity];
/** More series make a statement long. */
export const seriesPerStatement = 1_000;

/** For each series, in order, its last point strictly before `beforeMs`; undefined without one. */
export function findLatest(
  client: ClickHouseClient,
  search: NearestSearch & { readonly beforeMs: number /** The wall clock. */; readonly nowMs: number },
): Promise<(Point | undefined)[]> {
  const { beforeMs, nowMs } = search;
  const starts = lengthsBefore.map((lengthMs) => Math.min(beforeMs, nowMs) - lengthMs);
  const ranges = starts.map((startMs, at) => ({ startMs, endMs: starts[at - 1] ?? beforeMs }));
  return findIn(client, search, { ranges, time: sql`max(t)` });
}

/** For each series, in order, its first point at or after `fromMs`; undefined without one. */
export function findFirst(
  client: ClickHouseClient,
  search: NearestSearch & { readonly fromMs: number },
): Promise<(Point | undefined)[]> {
  const { fromMs } = search;
  const ends = lengthsAfter.map((lengthMs) => fromMs + lengthMs);
  const ranges = ends.map((endMs, at) => ({ startMs: ends[at - 1] ?? fromMs, endMs }));
  return findIn(client, search, { ranges, time: sql`min(t)` });
}

interface Ranges {
  readonly ranges: readonly TimeRange[];
  /** Of the points in a range, the time of the nearest one. */
  readonly time: Sql;
}

async function findIn(
  client: ClickHouseClient,
  { series, alive }: NearestSearch,
  { ranges, time }: Ranges,
): Promise<(Point | undefined)[]> {
  const found = new Map<SeriesId, Point>();
  const stringIds = new Set(series.filter(({ isString }) => isString).map((one) => one.series));
  let missing = [...new Set(series.map((one) => one.series))];
  for (const range of ranges) {
    const rows = requireAlive(await client.query(nearestStatement(missing, range, { alive, time })));
    const [times, numbers, strings] = [rows.numbers("t"), rows.numbers("number"), rows.strings("string")];
    for (const [row, id] of rows.numbers("series").entries()) {
      const value = stringIds.has(id) ? strings[row]! : numbers[row]!;
      found.set(id, { timeMs: times[row]!, value });
    }
    missing = missing.filter((id) => !found.has(id));
    if (missing.length === 0) break;
  }
  return series.map((one) => found.get(one.series));
}

/** The inner query finds the times alone; so the values are read of few granules. */
function nearestStatement(
  series: readonly SeriesId[],
  range: TimeRange,
  { alive: { column, condition }, time }: { readonly alive: Alive; readonly time: Sql },
): Sql {
  return sql`SELECT series, t, argMax(v, version) AS number, argMax(s, version) AS string${column}
    FROM points WHERE (series, t) IN (SELECT series, ${time} FROM points
      WHERE ${within(series, range)}${condition} GROUP BY series)${condition}
    GROUP BY series, t`;
}
