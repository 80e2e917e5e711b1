// The statement that summarises points within ClickHouse, and the decoder of its result.
//
// It has no FINAL, which takes longer than all else. ClickHouse reads blocks of rows, each in order of
// series and time, because all rows of a block are of one part. The rows of a block in one bucket are a run,
// and the result has a row for each run. If the runs of a series follow each other in time, and none has a
// time twice, then no point has two versions and the runs are exact. If not, `conflictsIn` names the buckets
// to be read again with FINAL, whose blocks follow each other.
//
// The results are those of `summarise` in storage/summary.ts. As there, squares are measured from the mean,
// so that values far from zero and close together lose no precision. That takes the arrays of a run.
import type { TimeRange } from "../../lib/time.ts";
import type { AggregateQuery, SeriesId } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { NativeRows } from "./native-format.ts";
import { noSql, type Sql, sql } from "./sql.ts";
import { type Alive, within } from "./tombstones.ts";

/** An aggregate of any series. */
export type SummarisedBuckets = Omit<AggregateQuery, "series">;

export interface PointsToSummarise {
  readonly series: readonly SeriesId[];
  /** It begins at most a bucket before the first bucket. */
  readonly range: TimeRange;
  readonly alive: Alive;
  readonly isFinal: boolean;
}

/** The points of a run. */
export interface Run {
  readonly series: SeriesId;
  /** 1 is the first bucket of the query. */
  readonly bucket: number;
  /** A time occurs twice. */
  readonly hasVersions: boolean;
  readonly summary: Summary;
}

const wanted = ({ aggregates }: SummarisedBuckets, ...names: AggregateQuery["aggregates"]): boolean =>
  names.some((name) => aggregates.includes(name));

const wantsTime = (buckets: SummarisedBuckets) => wanted(buckets, "average", "continuousVariance");
const wantsSquares = (buckets: SummarisedBuckets) =>
  wanted(buckets, "discreteVariance", "continuousVariance");

/** The statement holds all times and values in memory. */
export const needsArrays = (buckets: SummarisedBuckets): boolean =>
  wantsSquares(buckets) || (buckets.isStep && wantsTime(buckets));

/** `columns` are further columns of the result, with a comma before each. */
export function summaryStatement(buckets: SummarisedBuckets, points: PointsToSummarise, columns: Sql): Sql {
  const runs = runsOf(buckets, points);
  const ends = sql`id, bucket, n, versions, first_t, first_v, last_t, last_v`;
  if (!needsArrays(buckets)) return sql`SELECT *${columns} FROM (${runs})`;
  const plain = sql`${ends}, min_v, max_v, sum_v, variation`;
  const mean = wanted(buckets, "discreteVariance")
    ? sql`first_v + arraySum(x -> x - first_v, vs) / n`
    : sql`first_v`;
  const timeMean = wantsTime(buckets) ? timeMeanOf(buckets.isStep) : sql`first_v`;
  const means = sql`SELECT ${plain}, ${mean} AS mean_v, ${timeMean} AS time_mean, ts, vs FROM (${runs})`;
  const squares = wanted(buckets, "discreteVariance")
    ? sql`arraySum(x -> (x - mean_v) * (x - mean_v), vs)`
    : sql`toFloat64(0)`;
  const timeSquares = wanted(buckets, "continuousVariance")
    ? timeSquaresOf(buckets.isStep)
    : sql`toFloat64(0)`;
  return sql`SELECT ${plain}, mean_v, time_mean, ${squares} AS squares,
    ${timeSquares} AS time_squares${columns} FROM (${means})`;
}

/** Differences to the row before, within a block; 0 in its first row. */
function runsOf(buckets: SummarisedBuckets, { series, range, alive, isFinal }: PointsToSummarise): Sql {
  const { startMs, bucketMs } = buckets;
  const isOne = series.length === 1;
  const id = isOne ? sql`toUInt64(${series})` : sql`series`;
  const sameSeries = isOne ? noSql : sql` AND runningDifference(series) = 0`;
  // Integer division rounds towards zero, so the bucket before the first one is number 0.
  const rows = sql`SELECT ${id} AS id, t, v, intDiv(t - (${startMs - bucketMs}), ${bucketMs}) AS bucket,
    blockNumber() AS block, runningDifference(t) AS dt, runningDifference(v) AS dv,
    rowNumberInBlock() > 0 AND runningDifference(bucket) = 0${sameSeries} AS is_next
    FROM points${isFinal ? sql` FINAL` : noSql} WHERE ${within(series, range)}${alive.condition}`;
  const values = wanted(buckets, "min", "max", "sum", "discreteVariance")
    ? sql`min(v) AS min_v, max(v) AS max_v, sum(v) AS sum_v`
    : sql`toFloat64(0) AS min_v, toFloat64(0) AS max_v, toFloat64(0) AS sum_v`;
  const variation = wanted(buckets, "totalVariation") ? sql`sum(is_next * abs(dv))` : sql`toFloat64(0)`;
  const areas = wantsTime(buckets)
    ? sql`sum(is_next * (v - dv / 2) * dt) AS area, sum(is_next AND dv != 0) AS changes`
    : sql`toFloat64(0) AS area, toUInt64(0) AS changes`;
  const time = needsArrays(buckets) ? sql`groupArray(t) AS ts, groupArray(v) AS vs` : areas;
  return sql`SELECT id, bucket, count() AS n, sum(is_next AND dt <= 0) AS versions, any(t) AS first_t,
    any(v) AS first_v, anyLast(t) AS last_t, anyLast(v) AS last_v, ${values}, ${variation} AS variation,
    ${time} FROM (${rows}) GROUP BY id, bucket, block`;
}

const segments = sql`arrayPopBack(vs), arrayPopFront(vs), arrayPopBack(ts), arrayPopFront(ts)`;

function timeMeanOf(isStep: boolean): Sql {
  const above = isStep
    ? sql`(x - first_v) * (b - a)`
    : sql`((x - first_v) / 2 + (y - first_v) / 2) * (b - a)`;
  return sql`if(n > 1,
    first_v + arraySum((x, y, a, b) -> ${above}, ${segments}) / (last_t - first_t), first_v)`;
}

function timeSquaresOf(isStep: boolean): Sql {
  if (isStep) return sql`arraySum((x, y, a, b) -> (x - time_mean) * (x - time_mean) * (b - a), ${segments})`;
  return sql`arraySum((x, y, a, b) -> ((x - time_mean) * (x - time_mean) + (x - time_mean) * (y - time_mean)
    + (y - time_mean) * (y - time_mean)) * (b - a), ${segments}) / 3`;
}

/** Decodes the rows of `summaryStatement`. Line and step fields are equal: only one kind was requested. */
export function runsIn(rows: NativeRows, buckets: SummarisedBuckets): Run[] {
  const [series, bucket, count, versions] = numbersOf(rows, "id", "bucket", "n", "versions");
  const [firstMs, firstValue, lastMs, lastValue] = numbersOf(rows, "first_t", "first_v", "last_t", "last_v");
  const [min, max, sum, variation] = numbersOf(rows, "min_v", "max_v", "sum_v", "variation");
  const more = needsArrays(buckets) ? ["mean_v", "squares", "time_mean", "time_squares"] : ["first_v"];
  const [mean, squares, timeMean, timeSquares] = numbersOf(rows, ...more);
  const [areas, changes] = needsArrays(buckets) ? [] : numbersOf(rows, "area", "changes");
  const timeMeanAt = (row: number) => {
    if (areas === undefined) return timeMean![row]!;
    // The quotient of a large constant value is rounded.
    if (changes![row] === 0) return firstValue![row]!;
    return areas[row]! / (lastMs![row]! - firstMs![row]!);
  };
  return Array.from(series!, (id, row) => ({
    series: id,
    bucket: bucket![row]!,
    hasVersions: versions![row]! > 0,
    summary: {
      count: count![row]!,
      firstMs: firstMs![row]!,
      firstValue: firstValue![row]!,
      lastMs: lastMs![row]!,
      lastValue: lastValue![row]!,
      min: min![row]!,
      max: max![row]!,
      sum: sum![row]!,
      mean: mean![row]!,
      squares: squares?.[row] ?? 0,
      variation: variation![row]!,
      lineMean: timeMeanAt(row),
      lineSquares: timeSquares?.[row] ?? 0,
      stepMean: timeMeanAt(row),
      stepSquares: timeSquares?.[row] ?? 0,
    },
  }));
}

const numbersOf = (rows: NativeRows, ...names: readonly string[]) => names.map((name) => rows.numbers(name));

/** Points of these series in these buckets may have several versions, or are not in order. */
export interface Conflicts {
  readonly series: readonly SeriesId[];
  readonly firstBucket: number;
  readonly lastBucket: number;
}

/** `runs` are those of each series in order of time. Undefined if they are exact. */
export function conflictsIn(runs: ReadonlyMap<SeriesId, readonly Run[]>): Conflicts | undefined {
  const buckets: number[] = [];
  const series: SeriesId[] = [];
  for (const [id, own] of runs) {
    const before = buckets.length;
    for (const [at, { bucket, hasVersions, summary }] of own.entries()) {
      const next = own[at + 1];
      const overlaps = next !== undefined && next.summary.firstMs <= summary.lastMs;
      if (hasVersions || overlaps) buckets.push(bucket);
    }
    if (buckets.length > before) series.push(id);
  }
  if (buckets.length === 0) return undefined;
  return { series, firstBucket: Math.min(...buckets), lastBucket: Math.max(...buckets) };
}
