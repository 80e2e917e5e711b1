// Datapoints: written, read raw or aggregated, and removed, one series or many (client-endpoints 9).
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName, PointColumns } from "../../storage/points.ts";
import { requireSeries, resolveSeries, type SeriesKey, type SeriesRef } from "../timeseries/timeseries.ts";
import { type ArrivedPoints, batchOf, freePoints } from "./arrived-points.ts";

/** What is asked of one series. */
export interface SeriesQuestion {
  readonly key: SeriesKey;
  readonly range: TimeRange;
  /** Of points, or of buckets; lowered to what one read may hold. */
  readonly limit: number;
  /** Also the points next to the range; raw reads only. */
  readonly includeOutside?: boolean;
  readonly aggregates?: { readonly wanted: readonly AggregateName[]; readonly granularity: Granularity };
}

/**
 * Rows in ascending time: raw points have one column, aggregates one for each that is wanted (NaN: no
 * value).
 */
export interface Rows {
  readonly times: Float64Array;
  readonly columns: readonly (Float64Array | readonly string[])[];
}

export interface SeriesAnswer {
  readonly series: SeriesRef;
  readonly question: SeriesQuestion;
  /** Reads as it is read from, so that no answer is in memory as a whole. */
  readonly rows: () => AsyncGenerator<Rows>;
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
export async function insertPoints(ctx: RequestContext, points: ArrivedPoints): Promise<void> {
  const series = await requireSeries(ctx, points.keys, "WRITE");
  const batch = batchOf(points, series);
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
    if (question.aggregates) refuseTexts(series);
    const rows = () => (question.aggregates ? aggregateRows : rawRows)(ctx, series, question);
    return { series, question, rows };
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
    const whole = { ...range, series: id, isStep, bucketMs, wanted: ["count"] as const, limit: 1 };
    return (await ctx.points.aggregate(whole)).columns[0]![0] ?? 0;
  }
  let count = 0;
  for (let startMs: number | undefined = range.startMs; startMs !== undefined; ) {
    let last: number | undefined;
    const question: SeriesQuestion = { key, range: { ...range, startMs }, limit: limits.pointsPerReadMax };
    for await (const { times } of rawRows(ctx, series!, question)) {
      count += times.length;
      last = times.at(-1);
    }
    startMs = last === undefined ? undefined : last + 1;
  }
  return count;
}

/** Removes the points in the range. Refuses an unknown series (404). */
export async function erasePoints(ctx: RequestContext, key: SeriesKey, range: TimeRange): Promise<void> {
  const [series] = await requireSeries(ctx, [key], "WRITE");
  if (range.startMs < range.endMs) await ctx.points.erase(series!.id, range);
}

/** Refuses (400) aggregates of a series of strings. */
export function refuseTexts({ name, isString }: SeriesRef): void {
  if (isString) throw fail("texts-not-aggregated", { name });
}

/** Points asked of the store at once; texts can be long, so fewer of them. */
const pointsPerAsk = { numbers: 20_000, strings: 250 };

async function* rawRows(
  ctx: RequestContext,
  series: SeriesRef,
  question: SeriesQuestion,
): AsyncGenerator<Rows> {
  const { range, includeOutside = false } = question;
  const most = series.isString ? pointsPerAsk.strings : pointsPerAsk.numbers;
  let left = Math.min(question.limit, limits.pointsPerReadMax);
  if (left === 0 || range.startMs === range.endMs) return;
  const ask = (startMs: number, limit: number) =>
    ctx.points.scan({
      ...range,
      startMs,
      series: series.id,
      isString: series.isString,
      limit,
      includeOutside,
    });
  let next: Promise<PointColumns> | undefined = ask(range.startMs, Math.min(left, most));
  for (let sentMs = Number.NEGATIVE_INFINITY; next; ) {
    ctx.signal.throwIfAborted();
    const asked: number = Math.min(left, most);
    const { times, values } = after(await next, sentMs);
    const lastMs = times.at(-1);
    if (lastMs === undefined) return;
    left -= times.length;
    const isMore = times.length >= asked && left > 0 && lastMs + 1 < range.endMs + (includeOutside ? 1 : 0);
    // The point before the new start is the last one sent; one more is asked for in its place.
    next = isMore ? ask(lastMs + 1, Math.min(left, most) + (includeOutside ? 1 : 0)) : undefined;
    next?.catch(() => {}); // It is raised where it is awaited.
    sentMs = lastMs;
    yield { times, columns: [values] };
  }
}

/** Without the point that was sent already. */
function after(points: PointColumns, sentMs: number): PointColumns {
  const { times, values } = points;
  if (times.length === 0 || times[0]! > sentMs) return points;
  const isNumbers = values instanceof Float64Array;
  return { times: times.subarray(1), values: isNumbers ? values.subarray(1) : values.slice(1) };
}

async function* aggregateRows(
  ctx: RequestContext,
  series: SeriesRef,
  question: SeriesQuestion,
): AsyncGenerator<Rows> {
  const { wanted, granularity } = question.aggregates!;
  const range = wholeBuckets(question.range, granularity);
  const limit = Math.min(question.limit, limits.bucketsPerReadMax);
  if (limit === 0 || range.startMs === range.endMs) return;
  const { id, isStep } = series;
  const { bucketMs } = granularity;
  yield await ctx.points.aggregate({ ...range, series: id, isStep, bucketMs, wanted, limit });
}
