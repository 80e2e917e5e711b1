// The buckets of a SELECT with functions, and the aggregates of stored series in them.
import type { RequestContext } from "../../context.ts";
import { bucketStarts } from "../../lib/clock-buckets.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { needsNeighbours } from "../../storage/aggregation.ts";
import type { BucketValue } from "../../storage/points.ts";
import type { TimeGrouping } from "./ast.ts";
import type { ResultCell } from "./conditions.ts";
import { pagesOfPoints } from "./point-cursor.ts";
import { statementProblem } from "./problems.ts";
import type { StoredSeries } from "./series-model.ts";

export interface Buckets {
  /** The times of the rows. */
  readonly times: Float64Array;
  /** Where the points of each bucket begin, and after the last one where they end. */
  readonly bounds: Float64Array;
  /** The same if the range cut no bucket. */
  readonly wholeBounds: Float64Array;
}

/** One bucket of the whole range. */
export const oneBucket = ({ startMs, endMs }: TimeRange, rowMs: number): Buckets => ({
  times: Float64Array.of(rowMs),
  bounds: Float64Array.of(startMs, endMs),
  wholeBounds: Float64Array.of(startMs, endMs),
});

/**
 * The buckets that have times of the range. Points outside of the range do not count, so the first and the
 * last bucket can be shorter than the others.
 */
export function bucketsOf({ startMs, endMs }: TimeRange, grouping: TimeGrouping, timeZone: string): Buckets {
  const times: number[] = [];
  let wholeEndMs = endMs;
  for (const bucketMs of startMs < endMs ? bucketStarts(startMs, { timeZone, ...grouping }) : []) {
    if (bucketMs >= endMs) {
      wholeEndMs = bucketMs;
      break;
    }
    if (times.length === limits.influxBucketsMax)
      throw statementProblem(
        `GROUP BY time gives more than ${limits.influxBucketsMax} buckets: use a longer interval`,
      );
    times.push(bucketMs);
  }
  return {
    times: Float64Array.from(times),
    bounds: Float64Array.from([startMs, ...times.slice(1), endMs]),
    wholeBounds: Float64Array.from([...times, wholeEndMs]),
  };
}

/** Consecutive buckets of one length. */
interface Run {
  readonly from: number;
  readonly count: number;
  readonly bucketMs: number;
}

function runsOf(bounds: Float64Array): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < bounds.length - 1; ) {
    const bucketMs = bounds[from + 1]! - bounds[from]!;
    let to = from + 1;
    while (to < bounds.length - 1 && bounds[to + 1]! - bounds[to]! === bucketMs) to += 1;
    runs.push({ from, count: to - from, bucketMs });
    from = to;
  }
  return runs;
}

export type BucketColumns = ReadonlyMap<BucketValue, Float64Array>;

/** A column for each aggregate, with a value or NaN for each bucket. */
export async function readBuckets(
  ctx: RequestContext,
  { id, isStep }: StoredSeries,
  buckets: Buckets,
  aggregates: readonly BucketValue[],
): Promise<BucketColumns> {
  const columns = new Map(
    aggregates.map((name) => [name, new Float64Array(buckets.times.length).fill(Number.NaN)]),
  );
  // Where the points of a bucket are enough, buckets that the range cuts are read with the others.
  const isClipped = !needsNeighbours({ aggregates });
  const bounds = isClipped ? buckets.wholeBounds : buckets.bounds;
  const [firstMs, lastMs] = [buckets.bounds[0]!, buckets.bounds.at(-1)!];
  const readRun = async ({ from, count, bucketMs }: Run) => {
    const [startMs, endMs] = [bounds[from]!, bounds[from + count]!];
    const query = { series: id, isStep, startMs, endMs, bucketMs, aggregates, limit: count };
    const isCut = startMs < firstMs || endMs > lastMs;
    const clip = { startMs: Math.max(startMs, firstMs), endMs: Math.min(endMs, lastMs) };
    const found = await ctx.points.aggregate({ ...query, ...(isCut && { clip }) });
    for (const [at, column] of found.columns.entries()) {
      const target = columns.get(aggregates[at]!)!;
      for (let row = 0; row < found.times.length; row += 1)
        target[from + (found.times[row]! - startMs) / bucketMs] = column[row]!;
    }
  };
  await Promise.all(runsOf(bounds).map(readRun));
  return columns;
}

/** The strings in each bucket. */
export interface StringBuckets {
  readonly counts: Float64Array;
  readonly first: ResultCell[];
  readonly last: ResultCell[];
  readonly firstTimes: Float64Array;
  readonly lastTimes: Float64Array;
}

/** The store aggregates numbers alone: reads the points of a series of strings. */
export async function readStringBuckets(
  ctx: RequestContext,
  series: StoredSeries,
  { times, bounds }: Buckets,
): Promise<StringBuckets> {
  const count = times.length;
  const cells = () => new Array<ResultCell>(count).fill(null);
  const numbers = () => new Float64Array(count).fill(Number.NaN);
  const result = {
    counts: numbers(),
    first: cells(),
    last: cells(),
    firstTimes: numbers(),
    lastTimes: numbers(),
  };
  const range = { startMs: bounds[0]!, endMs: bounds.at(-1)! };
  let bucket = 0;
  for await (const page of pagesOfPoints(ctx, {
    series,
    range,
    isDescending: false,
    pageSize: stringsPerPage,
  }))
    for (const [at, timeMs] of page.times.entries()) {
      while (timeMs >= bounds[bucket + 1]!) bucket += 1;
      if (Number.isNaN(result.counts[bucket]!)) {
        result.counts[bucket] = 0;
        result.first[bucket] = page.values[at]!;
        result.firstTimes[bucket] = timeMs;
      }
      result.counts[bucket]! += 1;
      result.last[bucket] = page.values[at]!;
      result.lastTimes[bucket] = timeMs;
    }
  return result;
}

const stringsPerPage = 250;
