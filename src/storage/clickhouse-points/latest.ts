// Finds the last points of many series with few reads: in a short time range first, then in longer ones.
import type { Point, PointSeries, SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { type Sql, sql } from "./sql.ts";
import { type Alive, boundMs, requireAlive } from "./tombstones.ts";

export interface LatestSearch {
  /** At most `latestSeriesMax` series. */
  readonly series: readonly PointSeries[];
  readonly beforeMs: number;
  /** For all of these series. */
  readonly alive: Alive;
  /** The wall clock. */
  readonly nowMs: number;
}

const hourMs = 3_600_000;
/** Lengths of the ranges. A series that writes once a second has one index granule in the first. */
const rangesMs = [hourMs, 30 * 24 * hourMs, Infinity];
/** More series make a statement long. */
export const latestSeriesMax = 1_000;

/** For each series, in order, its last point strictly before `beforeMs`; undefined without one. */
export async function findLatest(
  client: ClickHouseClient,
  { series, beforeMs, alive, nowMs }: LatestSearch,
): Promise<(Point | undefined)[]> {
  const found = new Map<SeriesId, Point>();
  const stringIds = new Set(series.filter(({ isString }) => isString).map((one) => one.series));
  let missing = [...new Set(series.map((one) => one.series))];
  let endMs = boundMs(beforeMs);
  const anchorMs = Math.min(endMs, nowMs);
  for (const rangeMs of rangesMs) {
    const startMs = boundMs(anchorMs - rangeMs);
    const rows = requireAlive(await client.query(latestStatement(missing, { startMs, endMs, alive })));
    const [times, numbers, strings] = [rows.numbers("t"), rows.numbers("number"), rows.strings("string")];
    for (const [row, id] of rows.numbers("series").entries()) {
      const value = stringIds.has(id) ? strings[row]! : numbers[row]!;
      found.set(id, { timeMs: times[row]!, value });
    }
    missing = missing.filter((id) => !found.has(id));
    if (missing.length === 0) break;
    endMs = startMs;
  }
  return series.map((one) => found.get(one.series));
}

interface Within {
  readonly startMs: number;
  readonly endMs: number;
  readonly alive: Alive;
}

/** The inner query finds the times alone; so the values are read of few granules. */
function latestStatement(series: readonly SeriesId[], { startMs, endMs, alive }: Within): Sql {
  const { column, condition } = alive;
  return sql`SELECT series, t, argMax(v, version) AS number, argMax(s, version) AS string${column}
    FROM points WHERE (series, t) IN (SELECT series, max(t) FROM points
      WHERE series IN (${series}) AND t >= ${startMs} AND t < ${endMs}${condition}
      GROUP BY series)${condition}
    GROUP BY series, t`;
}
