// Deleted ranges of points. A delete writes one row, which counts at once, however many points it deletes.
import type { TimeRange } from "../../lib/time.ts";
import type { SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { encodeBlock } from "./native-format.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";

/** Times beyond these do not occur; statements have them for an infinite bound. */
const farMs = 2 ** 52;

/** The bound of a range as an integer: the same points are at or after it. */
export const boundMs = (timeMs: number): number => Math.ceil(Math.min(farMs, Math.max(-farMs, timeMs)));

export interface Tombstone extends TimeRange {
  readonly series: SeriesId;
}

/** Inserts tombstones for points with versions below `version`. */
export async function insertTombstones(
  client: ClickHouseClient,
  tombstones: readonly Tombstone[],
  version: number,
): Promise<void> {
  const column = (read: (one: Tombstone) => number) => Float64Array.from(tombstones, read);
  const block = encodeBlock(tombstones.length, [
    { name: "series", type: "UInt64", values: column(({ series }) => series) },
    { name: "start", type: "Int64", values: column(({ startMs }) => boundMs(startMs)) },
    { name: "end", type: "Int64", values: column(({ endMs }) => boundMs(endMs)) },
    { name: "version", type: "UInt64", values: column(() => version) },
  ]);
  await client.insert(sql`INSERT INTO tombstones (series, start, end, version)`, block);
}

/** A condition, from AND on, that the points of these series which are not deleted meet. */
export async function aliveCondition(client: ClickHouseClient, series: readonly SeriesId[]): Promise<Sql> {
  const found = await client.query(
    sql`SELECT series, start, end, max(version) AS newest FROM tombstones
      WHERE series IN (${series}) GROUP BY series, start, end`,
  );
  const [ids, starts, ends] = [found.numbers("series"), found.numbers("start"), found.numbers("end")];
  const versions = found.numbers("newest");
  if (ids.length === 0) return noSql;
  const deleted = Array.from(ids, (id, index) => {
    const [start, end, version] = [starts[index]!, ends[index]!, versions[index]!];
    return sql`(series = ${id} AND t >= ${start} AND t < ${end} AND version < ${version})`;
  });
  return sql` AND NOT (${joinSql(deleted, sql` OR `)})`;
}
