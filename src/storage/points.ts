// Port: stores the datapoints of all series. Points are columns on the way in and out, never objects.
//
// Contract:
// - `append` and `delete` resolve when the change is on disk. A call is atomic over all its series, also
//   across a crash. Every read that starts later sees the change. A store of several shards is atomic in each
//   of them (`clickhouse-points/sharded-points.ts`).
// - Times are integer milliseconds; negative ones are allowed. They are unique within a series: of two points
//   with the same time, the one written later wins.
// - The caller must not change the arrays of a batch until `append` has settled. After that the store does
//   not use them.
// - Returned arrays belong to the caller; several may share one buffer.
import type { TimeRange } from "../lib/time.ts";

export type SeriesId = number;

export interface Point {
  readonly timeMs: number;
  readonly value: number | string;
}

/**
 * The points of one request, as runs: consecutive points of one series, in any order of time. Run `i` holds
 * the points from index `ends[i - 1]` (0 for the first run) up to `ends[i]`. A series may have several runs.
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

/** Points of one series in ascending order of time. */
export interface PointColumns<Values = Float64Array | readonly string[]> {
  readonly times: Float64Array;
  readonly values: Values;
}

export interface PointSeries {
  readonly series: SeriesId;
  /** Type of the values, from the series' catalog record. A series never mixes numbers and strings. */
  readonly isString: boolean;
}

export interface ScanQuery extends PointSeries, TimeRange {
  /** The result has fewer points than this only when the range holds fewer. */
  readonly limit: number;
  /** Adds the last point before `startMs` and the first at or after `endMs`. They count towards `limit`. */
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

/**
 * The first and the last point of a bucket, and the length of the part of it in which the interpolated series
 * is defined. Protocols with more functions than ours compute these from them.
 */
export const bucketDetails = ["firstTime", "firstValue", "lastTime", "lastValue", "definedMs"] as const;
export type BucketValue = AggregateName | (typeof bucketDetails)[number];

export interface AggregateQuery extends TimeRange {
  readonly series: SeriesId;
  /** A step series holds each value until the next point; other series are linear between points. */
  readonly isStep: boolean;
  /**
   * Bucket k is [startMs + k * bucketMs, startMs + (k + 1) * bucketMs). The range is a whole number of
   * buckets.
   */
  readonly bucketMs: number;
  /**
   * Points outside of it do not count. It begins in the first bucket and ends in the last one. Only for
   * aggregates that depend on the points of a bucket alone (`needsNeighbours`).
   */
  readonly clip?: TimeRange;
  readonly aggregates: readonly BucketValue[];
  /** The result has fewer buckets than this only when fewer exist. */
  readonly limit: number;
}

/**
 * One row for each bucket in which at least one requested aggregate is finite, in ascending order.
 * `columns[i]` belongs to `aggregates[i]` of the query; it is NaN where that bucket has no value.
 */
export interface AggregateColumns {
  readonly times: Float64Array;
  readonly columns: readonly Float64Array[];
}

/** The old points of one series: those from `fromMs`, or all, until `beforeMs`. */
export interface OldPointsQuery extends PointSeries {
  readonly fromMs?: number;
  readonly beforeMs: number;
}

/** The points that a deletion before `endMs` would remove; such a deletion reads and rewrites no point. */
export interface OldPoints {
  /** At most `beforeMs`. A block with points on both sides of `beforeMs` is not before `endMs`. */
  readonly endMs: number;
  /** An overwritten point may count twice until both versions are in one block. */
  readonly points: number;
  /** Whole blocks; in a store without blocks, days of UTC with points. */
  readonly blocks: number;
  /** The time of the first point; absent without points. */
  readonly firstMs?: number;
  /** There are further whole blocks: the next query starts at `endMs`, unless these points are deleted. */
  readonly hasMore: boolean;
}

/** A damaged part of the store: its position, the expected content and the content found. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly expected: string;
  readonly found: string;
}

export interface PointsStats {
  /** An overwritten point may count twice until both versions are in one block. */
  readonly points: number;
  readonly blocks: number;
  readonly bytesOnDisk: number;
  readonly journalBytes: number;
  readonly quarantined: readonly Damage[];
  /** Why the store refuses writes until the next start; absent while it accepts them. */
  readonly writesStopped?: string;
  /** The replicas that are away or late, and why; others have their data. Absent if there are none. */
  readonly away?: readonly string[];
}

export interface PointsStore {
  /** The number of points that a long read requests in each scan. Smaller scans cost more. */
  readonly scanPoints: number;
  append(batch: PointBatch): Promise<void>;
  scan(query: ScanQuery): Promise<PointColumns>;
  aggregate(query: AggregateQuery): Promise<AggregateColumns>;
  /** Returns for each series, in order, its last point strictly before `beforeMs`; undefined without one. */
  latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]>;
  /** Deletes the points in the range; without a range, all points of the series. */
  delete(series: SeriesId, range?: TimeRange): Promise<void>;
  /**
   * Counts the points that can be deleted in whole blocks, for each series in order, in at most `blocksMax`
   * blocks, without reading the points.
   */
  oldPoints(series: readonly OldPointsQuery[], blocksMax: number): Promise<OldPoints[]>;
  stats(): Promise<PointsStats>;
  /** Completes accepted writes, then closes the files. */
  close(): Promise<void>;
}

/** A store in files that can be copied while it is written. */
export interface CopyablePoints extends PointsStore {
  /** Keeps the files of all shards as they are, and the journal after them, until the next two calls. */
  freeze(): Promise<FrozenPoints>;
  /**
   * Links the journal of every change since `keepJournal` into a folder of the same disk. Calls `onCut`
   * before it accepts later changes. False if a part of it could not be kept.
   */
  cutJournal(folder: string, onCut: () => void): Promise<boolean>;
  /** Ends the effect of `FrozenPoints.keepJournal`. */
  forgetJournal(): void;
}

/** The frozen files and the linked journal together are the store at the time of the link. */
export interface FrozenPoints {
  /**
   * Links the journal of every change so far into `folder`. Calls `onCut` before it accepts later changes.
   * Call it once: the journal is free afterwards.
   */
  linkJournal(folder: string, onCut: () => void): Promise<void>;
  /**
   * Call it before `linkJournal`: the parts of the journal that are deleted later stay in this folder. True
   * if they did already.
   */
  keepJournal(folder: string): boolean;
  /** Lets the files change again. */
  thaw(): Promise<void>;
}

export const isCopyable = (points: PointsStore): points is CopyablePoints => "freeze" in points;
