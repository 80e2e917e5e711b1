// Counts the old points of series. They are deleted by whole days of UTC, so that a series gets one tombstone
// a day at most, however often old points are deleted.
import type { OldPoints, OldPointsQuery, SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { joinSql, sql } from "./sql.ts";
import { aliveOf, farMs, groupsOf, readTombstones, type Tombstone, within } from "./tombstones.ts";

const dayMs = 86_400_000;
/** Whole days that make all times positive: a division rounds towards zero. */
const shiftMs = Math.ceil(farMs / dayMs) * dayMs;
/** The series of one statement. */
const seriesMax = 100;

interface Wanted {
  readonly id: SeriesId;
  readonly fromMs: number;
  readonly endMs: number;
  /** Read before the points, because a sweep removes both. */
  readonly tombstones: readonly Tombstone[];
}

export async function findOldPoints(
  client: ClickHouseClient,
  series: readonly OldPointsQuery[],
): Promise<OldPoints[]> {
  const found: OldPoints[] = [];
  for (let from = 0; from < series.length; from += seriesMax) {
    const some = series.slice(from, from + seriesMax);
    const ids = some.map((one) => one.series);
    const tombstones = Map.groupBy(await readTombstones(client, ids), (one) => one.series);
    const wanted = some.map(({ series: id, fromMs = -farMs, beforeMs }) => {
      const endMs = Math.floor(beforeMs / dayMs) * dayMs;
      return { id, fromMs, endMs, tombstones: tombstones.get(id) ?? [] };
    });
    for (const { items } of groupsOf(wanted, (one) => one.tombstones))
      found.push(...(await count(client, items)));
  }
  return found;
}

async function count(client: ClickHouseClient, wanted: readonly Wanted[]): Promise<OldPoints[]> {
  const counts = wanted.map(({ id, fromMs, endMs, tombstones }) => {
    const { condition } = aliveOf(tombstones);
    return sql`SELECT toUInt64(${id}) AS id, count() AS points, min(t) AS first,
      uniqExact(intDiv(t + ${shiftMs}, ${dayMs})) AS days FROM points FINAL
      WHERE ${within([id], { startMs: fromMs, endMs })}${condition}`;
  });
  const rows = await client.query(joinSql(counts, sql` UNION ALL `));
  const [points, firsts, days] = [rows.numbers("points"), rows.numbers("first"), rows.numbers("days")];
  const rowOf = new Map(Array.from(rows.numbers("id"), (id, row) => [id, row]));
  return wanted.map(({ id, endMs }) => {
    const row = rowOf.get(id);
    if (row === undefined || points[row] === 0) return { endMs, points: 0, blocks: 0, hasMore: false };
    return { endMs, points: points[row]!, blocks: days[row]!, firstMs: firsts[row]!, hasMore: false };
  });
}
