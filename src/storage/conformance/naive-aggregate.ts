// The definitions of the aggregates, written down as plainly as can be: the reference for every points store.
//
// f is the interpolated series: straight lines between consecutive points (a step series holds the previous
// value), defined from the first to the last point of the whole series; a step series keeps its last value
// after it. D is the part of the bucket [a, b) where f is defined. Means and variances take two passes;
// nothing is carried from one bucket to the next.
import type { AggregateColumns, AggregateName, AggregateQuestion } from "../points.ts";

/** A whole series of numbers in ascending, unique time. */
export interface NaiveSeries {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

type NaiveQuestion = Omit<AggregateQuestion, "series">;

/** A stretch of f over D: a line from `from` to `to` that takes `ms`. */
interface Piece {
  readonly ms: number;
  readonly from: number;
  readonly to: number;
}

interface Bucket {
  /** The bucket is [a, b). */
  readonly a: number;
  readonly b: number;
  readonly isStep: boolean;
  /** Values of the points in the bucket, in time order. */
  readonly inside: readonly number[];
  readonly pieces: readonly Piece[];
}

/** What `PointsStore.aggregate` answers for a series with exactly these points. */
export function naiveAggregate(series: NaiveSeries, question: NaiveQuestion): AggregateColumns {
  const { startMs, endMs, bucketMs, isStep, wanted, limit } = question;
  const times: number[] = [];
  const columns = wanted.map((): number[] => []);
  let a = startMs;
  while (a < endMs && times.length < limit) {
    if (!exists(series, question, a)) {
      const next = series.times[firstAtOrAfter(series.times, a)];
      if (next === undefined) break;
      a = Math.max(a + bucketMs, startMs + Math.floor((next - startMs) / bucketMs) * bucketMs);
      continue;
    }
    const bucket = cut(series, { a, b: a + bucketMs, isStep });
    const values = wanted.map((name) => aggregateOf(series, bucket, name));
    if (values.some(Number.isFinite)) {
      times.push(a);
      for (const [index, value] of values.entries()) columns[index]!.push(value);
    }
    a += bucketMs;
  }
  return { times: Float64Array.from(times), columns: columns.map((column) => Float64Array.from(column)) };
}

/** A bucket exists when it holds a point, or when a wanted interpolation has a value at its start. */
function exists(series: NaiveSeries, question: NaiveQuestion, a: number): boolean {
  const next = series.times[firstAtOrAfter(series.times, a)];
  if (next !== undefined && next < a + question.bucketMs) return true;
  const { wanted, isStep } = question;
  if (wanted.includes("stepInterpolation") && !Number.isNaN(lastValueUntil(series, a))) return true;
  return wanted.includes("interpolation") && !Number.isNaN(valueAt(series, isStep, a));
}

function aggregateOf(series: NaiveSeries, bucket: Bucket, name: AggregateName): number {
  const { inside, pieces } = bucket;
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
      const whole = sumOf(pieces.map((piece) => piece.ms));
      return sumOf(
        pieces.map((piece) => (meanSquare(piece.from - mean, piece.to - mean) * piece.ms) / whole),
      );
    }
    case "totalVariation":
      return totalVariation(pieces);
  }
}

/** Integral of f over D divided by |D|; the point's value when D is a single instant. */
function average({ inside, pieces }: Bucket): number {
  if (pieces.length === 0) return inside[0]!;
  const whole = sumOf(pieces.map((piece) => piece.ms));
  return sumOf(pieces.map((piece) => (piece.from / 2 + piece.to / 2) * (piece.ms / whole)));
}

/** Mean of the square of a line that runs from one value to another. */
const meanSquare = (from: number, to: number): number => (from * from + from * to + to * to) / 3;

/** Changes along the pieces, and jumps between one piece and the next. */
function totalVariation(pieces: readonly Piece[]): number {
  let variation = 0;
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) variation += Math.abs(piece.from - pieces[index - 1]!.to);
    variation += Math.abs(piece.to - piece.from);
  }
  return variation;
}

/** The points of [a, b) and the pieces of f over it. */
function cut(series: NaiveSeries, bucket: Pick<Bucket, "a" | "b" | "isStep">): Bucket {
  const { a, b, isStep } = bucket;
  const { times, values } = series;
  const inside: number[] = [];
  const pieces: Piece[] = [];
  // The piece that begins at the last point before the bucket may reach into it.
  const first = Math.max(0, firstAtOrAfter(series.times, a) - 1);
  for (let index = first; index < times.length && times[index]! < b; index++) {
    if (times[index]! >= a) inside.push(values[index]!);
    const isLast = index === times.length - 1;
    if (isLast && !isStep) break;
    const from = Math.max(a, times[index]!);
    const to = isLast ? b : Math.min(b, times[index + 1]!);
    if (to <= from) continue;
    const value = values[index]!;
    if (isStep) pieces.push({ ms: to - from, from: value, to: value });
    else pieces.push({ ms: to - from, from: valueAt(series, false, from), to: valueAt(series, false, to) });
  }
  return { a, b, isStep, inside, pieces };
}

/** f(atMs), NaN where f is not defined. */
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

/** The value of the last point at or before `atMs`, NaN when there is none. */
function lastValueUntil(series: NaiveSeries, atMs: number): number {
  const after = firstAtOrAfter(series.times, atMs);
  if (after < series.times.length && series.times[after] === atMs) return series.values[after]!;
  return after === 0 ? Number.NaN : series.values[after - 1]!;
}

/** Index of the first of the ascending times at or after `atMs`; their number when there is none. */
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
