// The data of one line of a chart, in columns. Finds indices, values at a time, and gaps.

/** A window of time: the start is included, the end is not. */
export interface TimeWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** Every point of a range, and one point on each side of it. */
export interface RawColumns {
  readonly kind: "raw";
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Aggregates of the buckets that contain points. */
export interface BucketColumns {
  readonly kind: "buckets";
  readonly bucketMs: number;
  /**
   * Results of a formula from averages of this length. `mins` and `maxs` are the values then, and each
   * counts once.
   */
  readonly averagesMs?: number;
  /** When the first of them were read. */
  readonly readMs: number;
  /** The starts of the buckets. */
  readonly times: Float64Array;
  /** Averages over time. */
  readonly values: Float64Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
  readonly counts: Float64Array;
  /** Variances over time. */
  readonly variances: Float64Array;
}

/** The part of `columns` in a window, of buckets that start in it. */
export function bucketsIn(columns: BucketColumns, { startMs, endMs }: TimeWindow): BucketColumns {
  const [from, to] = [indexFrom(columns.times, startMs), indexFrom(columns.times, endMs)];
  return withEach(columns, (name) => columns[name].subarray(from, to));
}

/** Parts that follow each other as one. There is at least one part. */
export function joinedBuckets(parts: readonly BucketColumns[]): BucketColumns {
  const length = parts.reduce((sum, { times }) => sum + times.length, 0);
  return withEach(parts[0]!, (name) => {
    const all = new Float64Array(length);
    let at = 0;
    for (const part of parts) {
      all.set(part[name], at);
      at += part[name].length;
    }
    return all;
  });
}

type ColumnName = "times" | "values" | "mins" | "maxs" | "counts" | "variances";

const withEach = (columns: BucketColumns, column: (name: ColumnName) => Float64Array): BucketColumns => ({
  ...columns,
  times: column("times"),
  values: column("values"),
  mins: column("mins"),
  maxs: column("maxs"),
  counts: column("counts"),
  variances: column("variances"),
});

/** Every point of a string series, or the first ones of a range that has too many. */
export interface TextColumns {
  readonly kind: "text";
  readonly times: Float64Array;
  readonly texts: readonly string[];
  /** The end of the part that is complete: there may be points after it. */
  readonly completeToMs: number;
}

export type NumberColumns = RawColumns | BucketColumns;
export type Columns = NumberColumns | TextColumns;

/** The first index whose time is at or after `timeMs`. */
export function indexFrom(times: Float64Array, timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The indices [from, to) of the points in a window; of the buckets that overlap it. */
export function indicesIn(columns: Columns, { startMs, endMs }: TimeWindow): readonly [number, number] {
  const width = columns.kind === "buckets" ? columns.bucketMs : 0;
  const from = indexFrom(columns.times, width > 0 ? startMs - width + 1 : startMs);
  return [from, indexFrom(columns.times, endMs)];
}

/** The number of points that the picture of a window represents. */
export function pointsIn(columns: Columns, window: TimeWindow): number {
  const [from, to] = indicesIn(columns, window);
  if (columns.kind !== "buckets") return to - from;
  let sum = 0;
  for (let i = from; i < to; i++) sum += columns.counts[i]!;
  return sum;
}

/** The middle of a bucket, the time of a point. */
export const shownTime = (columns: Columns, index: number): number =>
  columns.times[index]! + (columns.kind === "buckets" ? columns.bucketMs / 2 : 0);

interface Shape {
  readonly isStep: boolean;
  /** Points further apart than this are not connected. */
  readonly gapMs: number;
}

/** The index that a cursor at `timeMs` points at: the nearest one, or the last one of steps and strings. */
export function indexAt(columns: Columns, timeMs: number, { isStep, gapMs }: Shape): number | undefined {
  const { times } = columns;
  if (times.length === 0) return undefined;
  const next = indexFrom(times, timeMs + 0.5);
  if (columns.kind === "text" || (isStep && columns.kind === "raw")) return next === 0 ? undefined : next - 1;
  const distance = (index: number) => Math.abs(shownTime(columns, index) - timeMs);
  const candidates = [next - 1, next].filter((index) => index >= 0 && index < times.length);
  const nearest = candidates.reduce((best, index) => (distance(index) < distance(best) ? index : best));
  const reach = columns.kind === "buckets" ? Math.max(columns.bucketMs, gapMs / 2) : gapMs;
  return distance(nearest) <= reach ? nearest : undefined;
}

/** Points or buckets with this distance or more are not connected. A bucket alone is no gap. */
export const gapIn = (columns: NumberColumns, gapMs: number): number =>
  columns.kind === "buckets" ? Math.max(columns.bucketMs * 1.5, gapMs) : gapMs;

/** Whether the line is interrupted before this index. */
export function isGapBefore(columns: NumberColumns, index: number, { isStep, gapMs }: Shape): boolean {
  if (index === 0) return true;
  if (isStep) return false;
  const distance = columns.times[index]! - columns.times[index - 1]!;
  return distance > gapIn(columns, gapMs);
}

/** Whether other columns are the same in a range, and at the points beside it. */
export function isContinued(one: NumberColumns, other: NumberColumns, range: TimeWindow): boolean {
  const [from, to] = withNeighbours(one, range);
  const [otherFrom, otherTo] = withNeighbours(other, range);
  if (to - from !== otherTo - otherFrom) return false;
  const isSame = (some: Float64Array, others: Float64Array): boolean => {
    for (let i = from; i < to; i++) if (!Object.is(some[i], others[i - from + otherFrom])) return false;
    return true;
  };
  if (one.kind === "raw" || other.kind === "raw")
    return one.kind === other.kind && isSame(one.times, other.times) && isSame(one.values, other.values);
  const names = ["times", "values", "mins", "maxs"] as const;
  return one.bucketMs === other.bucketMs && names.every((name) => isSame(one[name], other[name]));
}

/** The indices of the points in a window, and of one more on each side. */
export function withNeighbours(columns: Columns, window: TimeWindow): readonly [number, number] {
  const [from, to] = indicesIn(columns, window);
  return [Math.max(0, from - 1), Math.min(columns.times.length, to + 1)];
}
