// Writes, reads, aggregates and deletes datapoints of one or several series.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName, PointColumns } from "../../storage/points.ts";
import {
  planWrite,
  requireSeries,
  resolveSeries,
  type SeriesKey,
  type SeriesRef,
} from "../timeseries/timeseries.ts";
import { batchOf, freePoints, type IncomingPoints } from "./inserts/incoming-points.ts";
import { LimitedRows, type Rows } from "./limited-rows.ts";

/** What is asked of one series. */
export interface SeriesQuestion {
  readonly key: SeriesKey;
  readonly range: TimeRange;
  /** Of points, or of buckets; lowered to what one read may hold. */
  readonly limit: number;
  /** Continues an earlier read: only rows at or after this time, which that read has left out. */
  readonly fromMs?: number;
  /** Also the points next to the range; raw reads only. */
  readonly includeOutside?: boolean;
  readonly aggregates?: { readonly wanted: readonly AggregateName[]; readonly granularity: Granularity };
}

export interface SeriesAnswer {
  readonly series: SeriesRef;
  readonly question: SeriesQuestion;
  readonly rows: LimitedRows;
}

/** The last point of a series, in ms since 1970. */
export interface LatestPoint {
  readonly seriesId: number;
  readonly timeMs: number;
  readonly value: number | string;
}

/**
 * Writes all of the points or none; of equal times in one series the last stays. Resolves when they are
 * on disk; nobody may look at them any more then. Refuses unknown series (404) and values of the wrong kind
 * (400).
 */
export async function insertPoints(ctx: RequestContext, points: IncomingPoints): Promise<void> {
  const batch = batchOf(points, await planWrite(ctx, points.keys, points.repeated));
  if (batch.numbers ?? batch.strings) await ctx.points.append(batch);
  freePoints(points);
}

/**
 * One answer a question, in order. Refuses unknown series (404) and aggregates of texts (400) before any
 * is read.
 */
export async function readMany(
  ctx: RequestContext,
  questions: readonly SeriesQuestion[],
): Promise<SeriesAnswer[]> {
  const found = await requireSeries(
    ctx,
    questions.map(({ key }) => key),
    "READ",
  );
  return questions.map((question, i) => {
    const series = found[i]!;
    const { aggregates } = question;
    if (aggregates) {
      refuseTexts(series);
      const limit = Math.min(question.limit, limits.bucketsPerReadMax);
      const source = (most: number) => aggregateRows(ctx, series, { ...question, aggregates, limit: most });
      return { series, question, rows: new LimitedRows(limit, source) };
    }
    const limit = Math.min(question.limit, limits.pointsPerReadMax);
    const source = (most: number) => rawRows(ctx, series, { ...question, limit: most });
    return { series, question, rows: new LimitedRows(limit, source) };
  });
}

/**
 * The last point strictly before `beforeMs`; undefined when there is none. Refuses an unknown series
 * (404).
 */
export async function latestPoint(ctx: RequestContext, key: SeriesKey, beforeMs: number) {
  const [series] = await requireSeries(ctx, [key], "READ");
  const { id, isString } = series!;
  const [latest] = await ctx.points.latest([{ series: id, isString }], beforeMs);
  return latest;
}

/**
 * The last points of these series, in their order; nothing stands for series that are empty, unknown or not
 * to be read.
 */
export async function latestPoints(ctx: RequestContext, ids: readonly number[]): Promise<LatestPoint[]> {
  const found = (await resolveSeries(ctx, ids, "READ")).filter((series) => series !== undefined);
  const asked = found.map(({ id, isString }) => ({ series: id, isString }));
  const latest = await ctx.points.latest(asked, limits.timeMsMax + 1);
  const points: LatestPoint[] = [];
  for (let at = 0; at < latest.length; at++) {
    const point = latest[at];
    if (point) points.push({ seriesId: found[at]!.id, timeMs: point.timeMs, value: point.value });
  }
  return points;
}

/** How many points there are in the range, of numbers without reading them. Refuses unknown series (404). */
export async function countPoints(ctx: RequestContext, key: SeriesKey, range: TimeRange): Promise<number> {
  if (range.endMs <= range.startMs) return 0;
  const [series] = await requireSeries(ctx, [key], "READ");
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

/** Removes the points in the range. Refuses an unknown series (404). */
export async function erasePoints(ctx: RequestContext, key: SeriesKey, range: TimeRange): Promise<void> {
  const [series] = await requireSeries(ctx, [key], "WRITE");
  if (range.startMs < range.endMs) await ctx.points.delete(series!.id, range);
}

/** Refuses (400) aggregates of a series of strings. */
export function refuseTexts({ name, isString }: SeriesRef): void {
  if (isString) throw fail("texts-not-aggregated", { name });
}

/** Points in one read of the store; strings can be long, so fewer of them. */
const pointsPerScan = { numbers: 20_000, strings: 250 };

/** The size of the next scan; one point more than usual when it is the last one. */
const scanSize = (left: number, most: number): number => (left <= most + 1 ? left : most);

async function* rawRows(
  ctx: RequestContext,
  series: SeriesRef,
  question: SeriesQuestion,
): AsyncGenerator<Rows> {
  const { range, fromMs, includeOutside = false } = question;
  const most = series.isString ? pointsPerScan.strings : pointsPerScan.numbers;
  let left = question.limit;
  if (left === 0 || range.startMs === range.endMs) return;
  // A scan that continues another one reads the last point before it again when it includes outside points.
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
    const asked: number = scanSize(left, most);
    const { times, values } = after(await next, readMs);
    const lastMs = times.at(-1);
    if (lastMs === undefined) return;
    left -= times.length;
    const isMore = times.length >= asked && left > 0 && lastMs + 1 < range.endMs + (includeOutside ? 1 : 0);
    next = isMore ? scan(lastMs + 1, true) : undefined;
    next?.catch(() => {}); // It is raised where it is awaited.
    readMs = lastMs;
    yield { times, columns: [values] };
  }
}

/** Without the point that was read already. */
function after(points: PointColumns, readMs: number): PointColumns {
  const { times, values } = points;
  if (times.length === 0 || times[0]! > readMs) return points;
  const isNumbers = values instanceof Float64Array;
  return { times: times.subarray(1), values: isNumbers ? values.subarray(1) : values.slice(1) };
}

/** The buckets of one scan: as many as one read returns, and one to know whether there are more. */
const bucketsPerScan = limits.bucketsPerReadMax + 1;

async function* aggregateRows(
  ctx: RequestContext,
  { id, isStep }: SeriesRef,
  question: SeriesQuestion & Required<Pick<SeriesQuestion, "aggregates">>,
): AsyncGenerator<Rows> {
  const { wanted, granularity } = question.aggregates;
  const { bucketMs } = granularity;
  const range = wholeBuckets(question.range, granularity);
  let startMs = question.fromMs ?? range.startMs;
  for (let left = question.limit; left > 0 && startMs < range.endMs; ) {
    const limit = Math.min(left, bucketsPerScan);
    const buckets = { startMs, endMs: range.endMs, bucketMs, limit };
    const rows = await ctx.points.aggregate({ ...buckets, series: id, isStep, aggregates: wanted });
    const count = rows.times.length;
    left = count < limit ? 0 : left - count;
    startMs = (rows.times.at(-1) ?? startMs) + bucketMs;
    yield rows;
  }
}
