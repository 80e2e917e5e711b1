// Statistics of a line in a window. Mean, deviation and integral are over time, and leave out gaps.
import {
  type BucketColumns,
  indicesIn,
  isGapBefore,
  type NumberColumns,
  pointsIn,
  type TimeWindow,
} from "../../ui/chart/columns.ts";

export interface Statistics {
  readonly points: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly deviation: number;
  /** In units times hours. */
  readonly integral: number;
}

interface Shape {
  readonly isStep: boolean;
  readonly gapMs: number;
}

const hourMs = 3_600_000;

/** Undefined when there is no point in the window. */
export function statisticsOf(
  columns: NumberColumns,
  window: TimeWindow,
  shape: Shape,
): Statistics | undefined {
  const points = pointsIn(columns, window);
  if (points === 0) return undefined;
  const [from, to] = indicesIn(columns, window);
  const lows = columns.kind === "buckets" ? columns.mins : columns.values;
  const highs = columns.kind === "buckets" ? columns.maxs : columns.values;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i++) {
    if (lows[i]! < min) min = lows[i]!;
    if (highs[i]! > max) max = highs[i]!;
  }
  const isLine = columns.kind === "raw" || columns.averagesMs !== undefined;
  const sums = isLine ? lineSums(columns, window, shape) : bucketSums(columns, window);
  if (sums.ms === 0) return { points, min, max, mean: columns.values[from]!, deviation: 0, integral: 0 };
  const mean = sums.area / sums.ms;
  const variance = Math.max(0, sums.squares / sums.ms - mean * mean);
  return { points, min, max, mean, deviation: Math.sqrt(variance), integral: sums.area / hourMs };
}

interface Sums {
  /** How long the line is defined. */
  readonly ms: number;
  readonly area: number;
  readonly squares: number;
}

/** Whole buckets: those at the edges count for their part in the window. */
function bucketSums(columns: BucketColumns, window: TimeWindow): Sums {
  const { times, values, variances, bucketMs } = columns;
  const [from, to] = indicesIn(columns, window);
  let [ms, area, squares] = [0, 0, 0];
  for (let i = from; i < to; i++) {
    const start = Math.max(window.startMs, times[i]!);
    const length = Math.min(window.endMs, times[i]! + bucketMs) - start;
    const value = values[i]!;
    ms += length;
    area += length * value;
    squares += length * (value * value + (Number.isNaN(variances[i]!) ? 0 : variances[i]!));
  }
  return { ms, area, squares };
}

/** Straight lines from point to point, or steps, cut at the edges of the window. */
function lineSums(columns: NumberColumns, window: TimeWindow, shape: Shape): Sums {
  const { times, values } = columns;
  const [from, to] = indicesIn(columns, window);
  let [ms, area, squares] = [0, 0, 0];
  for (let i = Math.max(1, from); i < Math.min(times.length, to + 1); i++) {
    if (isGapBefore(columns, i, shape)) continue;
    const [t0, t1, v0] = [times[i - 1]!, times[i]!, values[i - 1]!];
    const v1 = shape.isStep ? v0 : values[i]!;
    const start = Math.max(window.startMs, t0);
    const end = Math.min(window.endMs, t1);
    if (end <= start) continue;
    const at = (timeMs: number) => v0 + ((v1 - v0) * (timeMs - t0)) / (t1 - t0);
    const [a, b, length] = [at(start), at(end), end - start];
    ms += length;
    area += (length * (a + b)) / 2;
    squares += (length * (a * a + a * b + b * b)) / 3;
  }
  return { ms, area, squares };
}
