// Reads one leaf of a calculated series piece by piece, and tells its value at any time in between.
import type { RequestContext } from "../../context.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName, PointColumns } from "../../storage/points.ts";
import type { SeriesRef } from "../timeseries/timeseries.ts";
import type { Column } from "./functions.ts";

/** What a leaf of a function stands for. */
export interface LeafSource {
  readonly series: SeriesRef;
  /** Absent: the points themselves. */
  readonly aggregate?: { readonly name: AggregateName; readonly granularity: Granularity };
}

type Points = PointColumns<Float64Array>;

/** What is read of a leaf. Buckets begin where those of the range do. */
export interface LeafSpan {
  readonly range: TimeRange;
  /** In the range; earlier values are not needed. */
  readonly fromMs: number;
  readonly pointsAtOnce: number;
}

const none: Points = { times: new Float64Array(), values: new Float64Array() };

/** Holds a piece of the leaf's points, ascending, with the one before the piece. */
export class LeafReader {
  readonly #pieces: AsyncGenerator<Points>;
  readonly #isStep: boolean;
  #held: Points = none;
  #isAtEnd = false;

  constructor(ctx: RequestContext, source: LeafSource, asked: LeafSpan) {
    this.#pieces = source.aggregate ? bucketPieces(ctx, source, asked) : pointPieces(ctx, source, asked);
    this.#isStep = source.series.isStep;
  }

  /**
   * All points of the leaf up to this time are at hand, and one at or after any such time, if there is one.
   */
  get knownUntilMs(): number {
    return this.#isAtEnd ? Number.POSITIVE_INFINITY : (this.#held.times.at(-1) ?? Number.NEGATIVE_INFINITY);
  }

  /** Reads on until more is known than the points up to `timeMs`. */
  async readBeyond(timeMs: number): Promise<void> {
    while (this.knownUntilMs <= timeMs) {
      const next = await this.#pieces.next();
      if (next.done) this.#isAtEnd = true;
      else this.#held = joined(this.#held, next.value);
    }
  }

  /** The times at hand after `afterMs`, up to and with `untilMs`. */
  timesBetween(afterMs: number, untilMs: number): Float64Array {
    const { times } = this.#held;
    return times.subarray(firstAbove(times, afterMs), firstAbove(times, untilMs));
  }

  /**
   * The values at these ascending times: on the line between two points, of a step series that of the last
   * point. NaN before the first point and, except for a step series, after the last.
   */
  valuesAt(wanted: Float64Array): Column {
    const { times, values } = this.#held;
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

  /** Lets go of the points that no time after `timeMs` needs. */
  forgetBefore(timeMs: number): void {
    const { times, values } = this.#held;
    const from = Math.max(0, firstAbove(times, timeMs) - 1);
    this.#held = { times: times.subarray(from), values: values.subarray(from) };
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

/** The points in the range from `fromMs` on, the one before them and the one after. */
async function* pointPieces(
  ctx: RequestContext,
  { series }: LeafSource,
  { range, fromMs, pointsAtOnce: limit }: LeafSpan,
): AsyncGenerator<Points> {
  const ask = async (startMs: number) => {
    const asked = { ...range, startMs, limit, series: series.id, isString: false, includeOutside: true };
    return (await ctx.points.scan(asked)) as Points;
  };
  let sentMs = Number.NEGATIVE_INFINITY;
  for (let startMs = fromMs; ; startMs = sentMs + 1) {
    const { times, values } = await ask(startMs);
    // The point before the new start has been sent already.
    const from = firstAbove(times, sentMs);
    if (from < times.length) yield { times: times.subarray(from), values: values.subarray(from) };
    sentMs = times.at(-1) ?? sentMs;
    if (times.length < limit || sentMs >= range.endMs) return;
  }
}

/** The buckets in the range from `fromMs` on, the last one before them and the first one after. */
async function* bucketPieces(
  ctx: RequestContext,
  { series: { id: series, isStep }, aggregate }: LeafSource,
  { range, fromMs, pointsAtOnce: limit }: LeafSpan,
): AsyncGenerator<Points> {
  const { name, granularity } = aggregate!;
  const { bucketMs } = granularity;
  const { startMs, endMs } = wholeBuckets(range, granularity);
  const ask = async (asked: TimeRange) => {
    const { times, columns } = await ctx.points.aggregate({
      ...asked,
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
    return ask({ startMs: bucketStartMs, endMs: bucketStartMs + bucketMs });
  };
  const firstMs = startOfBucket(Math.max(fromMs, startMs));
  const [before] = await ctx.points.latest([{ series, isString: false }], firstMs);
  if (before) yield await bucketOf(before.timeMs);
  for (let nextMs = firstMs; nextMs < endMs; ) {
    const piece = await ask({ startMs: nextMs, endMs });
    yield piece;
    if (piece.times.length < limit) break;
    nextMs = piece.times.at(-1)! + bucketMs;
  }
  const beyond = { startMs: endMs, endMs: limits.timeMsMax + 1, series, isString: false, limit: 1 };
  const [afterMs] = (await ctx.points.scan(beyond)).times;
  if (afterMs !== undefined) yield await bucketOf(afterMs);
}
