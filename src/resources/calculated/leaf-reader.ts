// Reads one leaf of a calculated series page by page, and interpolates its value at any time.
import type { RequestContext } from "../../context.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName, PointColumns } from "../../storage/points.ts";
import type { SeriesRef } from "../timeseries/timeseries.ts";
import type { NumberColumn } from "./functions.ts";

/** The series, and possibly the aggregate, of a leaf. */
export interface LeafSource {
  readonly series: SeriesRef;
  /** Absent: points. */
  readonly aggregate?: { readonly name: AggregateName; readonly granularity: Granularity };
}

type Points = PointColumns<Float64Array>;

/** The part of a leaf to read. Buckets start at the start of the range. */
export interface LeafSpan {
  readonly range: TimeRange;
  /** A time in the range, before which no values are needed. */
  readonly fromMs: number;
  readonly pointsPerRead: number;
}

const noPoints: Points = { times: new Float64Array(), values: new Float64Array() };

/** Has a page of the leaf's points in memory, ascending, and the point before it. */
export class LeafReader {
  readonly #pages: AsyncGenerator<Points>;
  readonly #isStep: boolean;
  #buffered: Points = noPoints;
  #isAtEnd = false;

  constructor(ctx: RequestContext, source: LeafSource, span: LeafSpan) {
    this.#pages = source.aggregate ? bucketPages(ctx, source, span) : pointPages(ctx, source, span);
    this.#isStep = source.series.isStep;
  }

  /**
   * All points up to this time are in memory, and so is the next point after any earlier time.
   */
  get completeUntilMs(): number {
    return this.#isAtEnd
      ? Number.POSITIVE_INFINITY
      : (this.#buffered.times.at(-1) ?? Number.NEGATIVE_INFINITY);
  }

  /** Reads pages until the points in memory go beyond `timeMs`. */
  async readBeyond(timeMs: number): Promise<void> {
    while (this.completeUntilMs <= timeMs) {
      const next = await this.#pages.next();
      if (next.done) this.#isAtEnd = true;
      else this.#buffered = joined(this.#buffered, next.value);
    }
  }

  /** The times in memory after `afterMs` and up to `untilMs`, included. */
  timesBetween(afterMs: number, untilMs: number): Float64Array {
    const { times } = this.#buffered;
    return times.subarray(firstAbove(times, afterMs), firstAbove(times, untilMs));
  }

  /**
   * The values at these ascending times, on the line between two points; in a step series the value of the
   * last point. NaN before the first point and, except for a step series, after the last one.
   */
  valuesAt(wanted: Float64Array): NumberColumn {
    const { times, values } = this.#buffered;
    let next = firstAbove(times, wanted[0]! - 1);
    return wanted.map((timeMs) => {
      while (next < times.length && times[next]! < timeMs) next += 1;
      if (times[next] === timeMs) return values[next]!;
      if (next === 0) return Number.NaN;
      const before = values[next - 1]!;
      if (this.#isStep) return before;
      if (next === times.length) return Number.NaN;
      const share = (timeMs - times[next - 1]!) / (times[next]! - times[next - 1]!);
      return before * (1 - share) + values[next]! * share;
    });
  }

  /** Drops the points that no time after `timeMs` needs. */
  dropBefore(timeMs: number): void {
    const { times, values } = this.#buffered;
    const from = Math.max(0, firstAbove(times, timeMs) - 1);
    this.#buffered = { times: times.subarray(from), values: values.subarray(from) };
  }
}

/** The index of the first time above `timeMs`, of ascending times. */
function firstAbove(times: Float64Array, timeMs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function joined(first: Points, second: Points): Points {
  const join = (a: Float64Array, b: Float64Array) => {
    const both = new Float64Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };
  return first.times.length === 0
    ? second
    : { times: join(first.times, second.times), values: join(first.values, second.values) };
}

/** The points of the range from `fromMs` on, with the one before and the one after. */
async function* pointPages(
  ctx: RequestContext,
  { series }: LeafSource,
  { range, fromMs, pointsPerRead: limit }: LeafSpan,
): AsyncGenerator<Points> {
  const read = async (startMs: number) => {
    const query = { ...range, startMs, limit, series: series.id, isString: false, includeOutside: true };
    return (await ctx.points.scan(query)) as Points;
  };
  let lastMs = Number.NEGATIVE_INFINITY;
  for (let startMs = fromMs; ; startMs = lastMs + 1) {
    const { times, values } = await read(startMs);
    // The first point can be the last one of the page before.
    const from = firstAbove(times, lastMs);
    if (from < times.length) yield { times: times.subarray(from), values: values.subarray(from) };
    lastMs = times.at(-1) ?? lastMs;
    if (times.length < limit || lastMs >= range.endMs) return;
  }
}

/** The buckets of the range from `fromMs` on, with the last one before and the first one after. */
async function* bucketPages(
  ctx: RequestContext,
  { series: { id: series, isStep }, aggregate }: LeafSource,
  { range, fromMs, pointsPerRead: limit }: LeafSpan,
): AsyncGenerator<Points> {
  const { name, granularity } = aggregate!;
  const { bucketMs } = granularity;
  const { startMs, endMs } = wholeBuckets(range, granularity);
  const read = async (buckets: TimeRange) => {
    const { times, columns } = await ctx.points.aggregate({
      ...buckets,
      series,
      isStep,
      bucketMs,
      aggregates: [name],
      limit,
    });
    return { times, values: columns[0]! };
  };
  const startOfBucket = (timeMs: number) => startMs + Math.floor((timeMs - startMs) / bucketMs) * bucketMs;
  const bucketOf = async (timeMs: number) => {
    const bucketStartMs = startOfBucket(timeMs);
    return read({ startMs: bucketStartMs, endMs: bucketStartMs + bucketMs });
  };
  const firstMs = startOfBucket(Math.max(fromMs, startMs));
  const [before] = await ctx.points.latest([{ series, isString: false }], firstMs);
  if (before) yield await bucketOf(before.timeMs);
  for (let nextMs = firstMs; nextMs < endMs; ) {
    const page = await read({ startMs: nextMs, endMs });
    yield page;
    if (page.times.length < limit) break;
    nextMs = page.times.at(-1)! + bucketMs;
  }
  const beyond = { startMs: endMs, endMs: limits.timeMsMax + 1, series, isString: false, limit: 1 };
  const [afterMs] = (await ctx.points.scan(beyond)).times;
  if (afterMs !== undefined) yield await bucketOf(afterMs);
}
