// Writes, reads, aggregates and deletes datapoints of one or several series.
//
// A read, of points or aggregates, is made in two steps. `prepareReads` resolves the series and checks
// rights. Its `LimitedRows` call `aggregate` or `scan` of the points store (`storage/points.ts`) while the
// response is written (`responses.rest.ts`). docs/architecture.md#a-read-the-hourly-average has the whole
// path.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { Granularity, TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName, Point, PointColumns } from "../../storage/points.ts";
import {
  planWrite,
  requireSeries,
  resolveSeries,
  type SeriesKey,
  type SeriesRef,
} from "../timeseries/timeseries.ts";
import { type RunQuery, readBucketRows } from "./bucket-rows.ts";
import { batchOf, freePoints, type IncomingPoints } from "./inserts/incoming-points.ts";
import { LimitedRows, type Rows } from "./limited-rows.ts";
import { bucketRunsOf, type ZonedGranularity } from "./zoned-granularity.ts";

/** A read of one series. */
export interface SeriesQuery {
  readonly key: SeriesKey;
  readonly range: TimeRange;
  /** The most points or buckets; lowered to the limit of one read. */
  readonly limit: number;
  /** Continues an earlier read: only rows at or after this time. */
  readonly fromMs?: number;
  /** Also the last point before the range and the first one after it; only without aggregates. */
  readonly includeOutside?: boolean;
  readonly aggregates?: {
    readonly names: readonly AggregateName[];
    readonly granularity: Granularity | ZonedGranularity;
  };
}

export interface SeriesResult {
  readonly series: SeriesRef;
  readonly query: SeriesQuery;
  readonly rows: LimitedRows;
}

/** The last point of a series; undefined when the series has none. */
export interface LatestPoint {
  readonly series: SeriesRef;
  readonly point: Point | undefined;
}

/**
 * Writes all of the points or none. Of equal times in one series the last one counts. Resolves when the
 * points are on disk, and frees their columns. Refuses unknown series (404) and values of the wrong kind
 * (400); the columns are left to the garbage collector then.
 */
export async function insertPoints(ctx: RequestContext, points: IncomingPoints): Promise<void> {
  const batch = batchOf(points, await planWrite(ctx, points.keys, points.earlierPlan));
  if (batch.numbers ?? batch.strings) await ctx.points.append(batch);
  freePoints(points);
}

/**
 * Prepares a read for each query, in their order. Refuses unknown series (404) and aggregates of strings
 * (400) before anything is read.
 */
export async function prepareReads(
  ctx: RequestContext,
  queries: readonly SeriesQuery[],
): Promise<SeriesResult[]> {
  const found = await requireSeries(
    ctx,
    queries.map(({ key }) => key),
    "READ",
  );
  return queries.map((query, i) => {
    const series = found[i]!;
    const { aggregates } = query;
    if (aggregates) {
      refuseStrings(series);
      const limit = Math.min(query.limit, limits.bucketsPerReadMax);
      const source = (most: number) => aggregateRows(ctx, series, { ...query, aggregates, limit: most });
      return { series, query, rows: new LimitedRows(limit, source) };
    }
    const limit = Math.min(query.limit, limits.pointsPerReadMax);
    const source = (most: number) => rawRows(ctx, series, { ...query, limit: most });
    return { series, query, rows: new LimitedRows(limit, source) };
  });
}

/**
 * The last point of each series strictly before `beforeMs`, in the order of the keys. Refuses unknown series
 * (404).
 */
export async function latestPoints(
  ctx: RequestContext,
  keys: readonly SeriesKey[],
  beforeMs: number,
): Promise<LatestPoint[]> {
  return latestOf(ctx, await requireSeries(ctx, keys, "READ"), beforeMs);
}

/** The last point of one series strictly before `beforeMs`. Refuses an unknown series (404). */
export async function latestPoint(
  ctx: RequestContext,
  key: SeriesKey,
  beforeMs: number,
): Promise<Point | undefined> {
  const [series] = await requireSeries(ctx, [key], "READ");
  const { id, isString } = series!;
  const [point] = await ctx.points.latest([{ series: id, isString }], beforeMs);
  return point;
}

/** The last points of the series with these ids that the caller may read, in their order. */
export async function latestVisiblePoints(
  ctx: RequestContext,
  ids: readonly number[],
): Promise<LatestPoint[]> {
  const visible = (await resolveSeries(ctx, ids, "READ")).filter((series) => series !== undefined);
  return latestOf(ctx, visible, limits.timeMsMax + 1);
}

async function latestOf(
  ctx: RequestContext,
  series: readonly SeriesRef[],
  beforeMs: number,
): Promise<LatestPoint[]> {
  const stored = series.map(({ id, isString }) => ({ series: id, isString }));
  const points = await ctx.points.latest(stored, beforeMs);
  return series.map((one, i) => ({ series: one, point: points[i] }));
}

/**
 * The number of points in the range. The store counts numbers without reading them. Refuses unknown series
 * (404).
 */
export async function countPoints(ctx: RequestContext, key: SeriesKey, range: TimeRange): Promise<number> {
  const [series] = await requireSeries(ctx, [key], "READ");
  if (range.endMs <= range.startMs) return 0;
  const { id, isString, isStep } = series!;
  if (!isString) {
    const bucketMs = range.endMs - range.startMs;
    const whole = { ...range, series: id, isStep, bucketMs, aggregates: ["count"] as const, limit: 1 };
    return (await ctx.points.aggregate(whole)).columns[0]![0] ?? 0;
  }
  let count = 0;
  const all = { key, range, limit: Number.POSITIVE_INFINITY };
  for await (const { times } of rawRows(ctx, series!, all)) count += times.length;
  return count;
}

/** Deletes the points in the range. Refuses an unknown series (404). */
export async function deletePoints(ctx: RequestContext, key: SeriesKey, range: TimeRange): Promise<void> {
  const [series] = await requireSeries(ctx, [key], "WRITE");
  if (range.startMs < range.endMs) await ctx.points.delete(series!.id, range);
}

/** Refuses (400) aggregates of a series of strings. */
export function refuseStrings({ name, isString }: SeriesRef): void {
  if (isString) throw fail("texts-not-aggregated", { name });
}

/** The most points of one scan of strings, which can be long. */
const stringsPerScan = 250;

/** The points of the next scan. The last scan reads one more, so that no scan for one point follows. */
const scanSize = (left: number, most: number): number => (left <= most + 1 ? left : most);

async function* rawRows(ctx: RequestContext, series: SeriesRef, query: SeriesQuery): AsyncGenerator<Rows> {
  const { range, fromMs, includeOutside = false } = query;
  const most = series.isString ? stringsPerScan : ctx.points.scanPoints;
  let left = query.limit;
  if (left === 0 || range.startMs === range.endMs) return;
  // A scan with outside points that continues another one reads that one's last point again.
  const scan = (startMs: number, isContinued: boolean) =>
    ctx.points.scan({
      ...range,
      startMs,
      series: series.id,
      isString: series.isString,
      limit: scanSize(left, most) + (isContinued && includeOutside ? 1 : 0),
      includeOutside,
    });
  let next: Promise<PointColumns> | undefined = scan(fromMs ?? range.startMs, fromMs !== undefined);
  for (let readMs = fromMs === undefined ? Number.NEGATIVE_INFINITY : fromMs - 1; next; ) {
    ctx.signal.throwIfAborted();
    const scanned: number = scanSize(left, most);
    const { times, values } = pointsAfter(await next, readMs);
    const lastMs = times.at(-1);
    if (lastMs === undefined) return;
    left -= times.length;
    const isMore = times.length >= scanned && left > 0 && lastMs + 1 < range.endMs + (includeOutside ? 1 : 0);
    next = isMore ? scan(lastMs + 1, true) : undefined;
    next?.catch(() => {}); // The failure is thrown where the promise is awaited.
    readMs = lastMs;
    yield { times, columns: [values] };
  }
}

/** The points after `readMs`: a scan may start with a point that was read already. */
function pointsAfter(points: PointColumns, readMs: number): PointColumns {
  const { times, values } = points;
  if (times.length === 0 || times[0]! > readMs) return points;
  const isNumbers = values instanceof Float64Array;
  return { times: times.subarray(1), values: isNumbers ? values.subarray(1) : values.slice(1) };
}

/**
 * All rows of aggregates of one series of numbers, however many. The caller may read the series.
 */
export const allAggregates = (
  ctx: RequestContext,
  series: SeriesRef,
  query: Required<Pick<SeriesQuery, "range" | "aggregates">>,
): AsyncGenerator<Rows<Float64Array>> =>
  aggregateRows(ctx, series, { ...query, key: series.id, limit: Number.POSITIVE_INFINITY });

/** The most buckets of one scan: those of one read, and one that tells whether there are more. */
const bucketsPerScan = limits.bucketsPerReadMax + 1;

async function* aggregateRows(
  ctx: RequestContext,
  { id, isStep }: SeriesRef,
  query: SeriesQuery & Required<Pick<SeriesQuery, "aggregates">>,
): AsyncGenerator<Rows<Float64Array>> {
  const { names, granularity } = query.aggregates;
  const runs = bucketRunsOf(query.range, granularity);
  const read = (run: RunQuery) => ctx.points.aggregate({ ...run, series: id, isStep, aggregates: names });
  let fromMs = query.fromMs ?? Number.NEGATIVE_INFINITY;
  for (let left = query.limit; left > 0; ) {
    const limit = Math.min(left, bucketsPerScan);
    const rows = await readBucketRows(runs, { fromMs, limit }, read);
    const count = rows.times.length;
    if (count === 0) return;
    left = count < limit ? 0 : left - count;
    fromMs = rows.times.at(-1)! + 1;
    yield rows;
  }
}
