// Defines the aggregates as plainly as possible: the reference that every points store is compared with.
//
// - f is the interpolated series: straight lines between consecutive points. For a step series, each value
// applies until the next point. f is defined from the first to the last point of the whole series, and for a
// step series also after the last point.
// - D is the part of the bucket [a, b) where f is defined.
//
// Means and variances take two passes, and no state carries over from one bucket to the next.
import type { TimeRange } from "../../lib/time.ts";
import type { AggregateColumns, AggregateQuery, BucketValue } from "../points.ts";

/** All points of a series of numbers, ascending and unique in time. */
export interface NaiveSeries {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

type NaiveQuery = Omit<AggregateQuery, "series">;

/** A segment of f over D: a line from the value `from` to the value `to` over `ms` milliseconds. */
interface LineSegment {
  readonly ms: number;
  readonly from: number;
  readonly to: number;
}

/** The points in the range. */
function clipped({ times, values }: NaiveSeries, { startMs, endMs }: TimeRange): NaiveSeries {
  const inRange = Array.from(times, (timeMs) => timeMs >= startMs && timeMs < endMs);
  const pick = (column: ArrayLike<number>) => Array.from(column).filter((_, at) => inRange[at]);
  return { times: pick(times), values: pick(values) };
}

interface Bucket {
  /** The bucket is [a, b). */
  readonly a: number;
  readonly b: number;
  readonly isStep: boolean;
  /** Values of the points in the bucket, in order of time. */
  readonly inside: readonly number[];
  /** Their times. */
  readonly insideTimes: readonly number[];
  readonly segments: readonly LineSegment[];
}

/** The result of `PointsStore.aggregate` for a series with exactly these points. */
export function naiveAggregate(all: NaiveSeries, query: NaiveQuery): AggregateColumns {
  const series = query.clip ? clipped(all, query.clip) : all;
  const { startMs, endMs, bucketMs, isStep, aggregates, limit } = query;
  const times: number[] = [];
  const columns = aggregates.map((): number[] => []);
  let a = startMs;
  while (a < endMs && times.length < limit) {
    if (!exists(series, query, a)) {
      const next = series.times[firstAtOrAfter(series.times, a)];
      if (next === undefined) break;
      a = Math.max(a + bucketMs, startMs + Math.floor((next - startMs) / bucketMs) * bucketMs);
      continue;
    }
    const bucket = bucketOf(series, { a, b: a + bucketMs, isStep });
    const values = aggregates.map((name) => aggregateOf(series, bucket, name));
    if (values.some(Number.isFinite)) {
      times.push(a);
      for (const [index, value] of values.entries()) columns[index]!.push(value);
    }
    a += bucketMs;
  }
  return { times: Float64Array.from(times), columns: columns.map((column) => Float64Array.from(column)) };
}

/** A bucket exists when it holds a point, or when a requested interpolation has a value at its start. */
function exists(series: NaiveSeries, query: NaiveQuery, a: number): boolean {
  const next = series.times[firstAtOrAfter(series.times, a)];
  if (next !== undefined && next < a + query.bucketMs) return true;
  const { aggregates, isStep } = query;
  if (aggregates.includes("stepInterpolation") && !Number.isNaN(lastValueUntil(series, a))) return true;
  return aggregates.includes("interpolation") && !Number.isNaN(valueAt(series, isStep, a));
}

function aggregateOf(series: NaiveSeries, bucket: Bucket, name: BucketValue): number {
  const { inside, insideTimes, segments } = bucket;
  if (name === "interpolation") return valueAt(series, bucket.isStep, bucket.a);
  if (name === "stepInterpolation") return lastValueUntil(series, bucket.a);
  if (inside.length === 0) return Number.NaN;
  switch (name) {
    case "count":
      return inside.length;
    case "sum":
      return sumOf(inside);
    case "min":
      return inside.reduce((one, other) => Math.min(one, other));
    case "max":
      return inside.reduce((one, other) => Math.max(one, other));
    case "average":
      return average(bucket);
    case "discreteVariance": {
      const mean = sumOf(inside.map((value) => value / inside.length));
      return sumOf(inside.map((value) => (value - mean) ** 2 / inside.length));
    }
    case "continuousVariance": {
      const mean = average(bucket);
      const whole = sumOf(segments.map((segment) => segment.ms));
      return sumOf(
        segments.map((segment) => (meanSquare(segment.from - mean, segment.to - mean) * segment.ms) / whole),
      );
    }
    case "totalVariation":
      return totalVariation(segments);
    case "firstTime":
      return insideTimes[0]!;
    case "firstValue":
      return inside[0]!;
    case "lastTime":
      return insideTimes.at(-1)!;
    case "lastValue":
      return inside.at(-1)!;
    case "definedMs":
      return sumOf(segments.map((segment) => segment.ms));
  }
}

/** The integral of f over D divided by the length of D; the point's value when D has no length. */
function average({ inside, segments }: Bucket): number {
  if (segments.length === 0) return inside[0]!;
  const whole = sumOf(segments.map((segment) => segment.ms));
  return sumOf(segments.map((segment) => (segment.from / 2 + segment.to / 2) * (segment.ms / whole)));
}

/** The mean square of a line from one value to another. */
const meanSquare = (from: number, to: number): number => (from * from + from * to + to * to) / 3;

/** The sum of the absolute changes along the segments and of the jumps between them. */
function totalVariation(segments: readonly LineSegment[]): number {
  let variation = 0;
  for (const [index, segment] of segments.entries()) {
    if (index > 0) variation += Math.abs(segment.from - segments[index - 1]!.to);
    variation += Math.abs(segment.to - segment.from);
  }
  return variation;
}

/** The points of [a, b) and the segments of f over it. */
function bucketOf(series: NaiveSeries, bucket: Pick<Bucket, "a" | "b" | "isStep">): Bucket {
  const { a, b, isStep } = bucket;
  const { times, values } = series;
  const inside: number[] = [];
  const insideTimes: number[] = [];
  const segments: LineSegment[] = [];
  // The segment that starts at the last point before the bucket may extend into it.
  const first = Math.max(0, firstAtOrAfter(series.times, a) - 1);
  for (let index = first; index < times.length && times[index]! < b; index++) {
    if (times[index]! >= a) {
      inside.push(values[index]!);
      insideTimes.push(times[index]!);
    }
    const isLastPoint = index === times.length - 1;
    if (isLastPoint && !isStep) break;
    const from = Math.max(a, times[index]!);
    const to = isLastPoint ? b : Math.min(b, times[index + 1]!);
    if (to <= from) continue;
    const value = values[index]!;
    if (isStep) segments.push({ ms: to - from, from: value, to: value });
    else segments.push({ ms: to - from, from: valueAt(series, false, from), to: valueAt(series, false, to) });
  }
  return { a, b, isStep, inside, insideTimes, segments };
}

/** f(atMs); NaN where f is not defined. */
function valueAt(series: NaiveSeries, isStep: boolean, atMs: number): number {
  const { times, values } = series;
  if (isStep) return lastValueUntil(series, atMs);
  const after = firstAtOrAfter(series.times, atMs);
  if (after === times.length) return Number.NaN;
  if (times[after] === atMs) return values[after]!;
  if (after === 0) return Number.NaN;
  const share = (atMs - times[after - 1]!) / (times[after]! - times[after - 1]!);
  return values[after - 1]! + (values[after]! - values[after - 1]!) * share;
}

/** The value of the last point at or before `atMs`; NaN without one. */
function lastValueUntil(series: NaiveSeries, atMs: number): number {
  const after = firstAtOrAfter(series.times, atMs);
  if (after < series.times.length && series.times[after] === atMs) return series.values[after]!;
  return after === 0 ? Number.NaN : series.values[after - 1]!;
}

/** Index of the first of the ascending times that is at or after `atMs`; `times.length` without one. */
export function firstAtOrAfter(times: ArrayLike<number>, atMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
