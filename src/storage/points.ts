// Port: the datapoints of all series, as columns in and columns out, never an object a point.
//
// Contract. `append` and `erase` resolve when the change is on disk; one call is all or nothing, whatever
// series it touches, also across a crash. Every read that starts after that sees it. Times are integer
// milliseconds (negative allowed); within a series they are unique, and of equal times the last written wins.
// Arrays handed in are not changed any more, by nobody; arrays handed out belong to the caller, and may share
// a buffer.
import type { TimeRange } from "../lib/time.ts";

export type SeriesId = number;

/**
 * Points as one request brings them: runs of points, each run of one series, in any order of time.
 * Run `i` holds the points from `ends[i - 1]` (0 for the first) up to `ends[i]`; a series may have several
 * runs.
 */
export interface PointRuns<Values> {
  readonly series: Float64Array;
  readonly ends: Uint32Array;
  readonly times: Float64Array;
  readonly values: Values;
}

export interface PointBatch {
  readonly numbers?: PointRuns<Float64Array>;
  readonly strings?: PointRuns<readonly string[]>;
}

/** Points of one series in ascending time. */
export interface PointColumns<Values = Float64Array | readonly string[]> {
  readonly times: Float64Array;
  readonly values: Values;
}

export interface ScanQuestion extends TimeRange {
  readonly series: SeriesId;
  /** Kind of the values: a series never mixes them, and its catalog record says which. */
  readonly isString: boolean;
  /** At most this many points: exactly this many when the range holds that many. */
  readonly limit: number;
  /** Also the last point before `startMs` and the first at or after `endMs`; they count towards `limit`. */
  readonly includeOutside?: boolean;
}

export const aggregateNames = [
  "average",
  "max",
  "min",
  "count",
  "sum",
  "interpolation",
  "stepInterpolation",
  "continuousVariance",
  "discreteVariance",
  "totalVariation",
] as const;
export type AggregateName = (typeof aggregateNames)[number];

export interface AggregateQuestion extends TimeRange {
  readonly series: SeriesId;
  /** The series holds its value until the next point instead of running straight to it. */
  readonly isStep: boolean;
  /**
   * Buckets are [startMs + k * bucketMs, startMs + (k + 1) * bucketMs); the range is a whole number of them.
   */
  readonly bucketMs: number;
  readonly wanted: readonly AggregateName[];
  /** At most this many buckets: exactly this many when that many exist. */
  readonly limit: number;
}

/**
 * One row a bucket in which any wanted aggregate has a finite value, ascending. `columns[i]` belongs to
 * `wanted[i]`; NaN where a bucket has no value.
 */
export interface AggregateColumns {
  readonly times: Float64Array;
  readonly columns: readonly Float64Array[];
}

/** Where a damaged piece of the store lies and what was found. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly expected: string;
  readonly found: string;
}

export interface PointsStats {
  /** A point that replaces another may count twice until both are in one block. */
  readonly points: number;
  readonly blocks: number;
  readonly bytesOnDisk: number;
  readonly journalBytes: number;
  readonly quarantined: readonly Damage[];
  /** Why no write is taken until the next start; absent while all is well. */
  readonly refusing?: string;
}

export interface PointsStore {
  append(batch: PointBatch): Promise<void>;
  scan(question: ScanQuestion): Promise<PointColumns>;
  aggregate(question: AggregateQuestion): Promise<AggregateColumns>;
  /**
   * The last point strictly before `beforeMs` of each series asked, in the order asked; absent when there is
   * none.
   */
  latest(
    series: readonly { readonly series: SeriesId; readonly isString: boolean }[],
    beforeMs: number,
  ): Promise<({ timeMs: number; value: number | string } | undefined)[]>;
  /** Removes the points in the range, or with no range the series as a whole. */
  erase(series: SeriesId, range?: TimeRange): Promise<void>;
  stats(): Promise<PointsStats>;
  /** Finishes what was accepted, then lets go of the files. */
  close(): Promise<void>;
}
