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
import { needsNeighbours } from "../aggregation.ts";
import type { AggregateQuery, SeriesId } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { NativeRows } from "./native-format.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";
import { type Alive, within } from "./tombstones.ts";

/** An aggregate of any series. */
export type SummarisedBuckets = Omit<AggregateQuery, "series">;

export interface PointsToSummarise {
  readonly series: readonly SeriesId[];
  /** Points before the first bucket and after the last one are in one bucket each. */
  readonly range: TimeRange;
  readonly alive: Alive;
  readonly isFinal: boolean;
}

/** The points of a run. */
export interface Run {
  readonly series: SeriesId;
  /** 1 is the first bucket of the query. 0 has all points before it. */
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
  const isOne = points.series.length === 1;
  const own = columnsOfRuns(buckets, isOne);
  const keys = isOneKey(buckets) ? sql`run` : sql`bucket, run`;
  const grouped = sql`FROM (${rowsOf(buckets, points)}) GROUP BY ${isOne ? noSql : sql`id, `}${keys}`;
  const values = joinSql(
    own.map(({ name, value }) => sql`${value} AS ${name}`),
    sql`, `,
  );
  if (!needsArrays(buckets)) return sql`SELECT ${values}${columns} ${grouped}`;
  const runs = sql`SELECT ${values}, groupArray(t) AS ts, groupArray(v) AS vs ${grouped}`;
  const names = joinSql(
    own.map(({ name }) => name),
    sql`, `,
  );
  const mean = wanted(buckets, "discreteVariance")
    ? sql`first_v + arraySum(x -> x - first_v, vs) / n`
    : sql`first_v`;
  const timeMean = wantsTime(buckets) ? timeMeanOf(buckets.isStep) : sql`first_v`;
  const means = sql`SELECT ${names}, ${mean} AS mean_v, ${timeMean} AS time_mean, ts, vs FROM (${runs})`;
  const squares = wanted(buckets, "discreteVariance")
    ? sql`arraySum(x -> (x - mean_v) * (x - mean_v), vs)`
    : sql`toFloat64(0)`;
  const timeSquares = wanted(buckets, "continuousVariance")
    ? timeSquaresOf(buckets.isStep)
    : sql`toFloat64(0)`;
  return sql`SELECT ${names}, mean_v, time_mean, ${squares} AS squares,
    ${timeSquares} AS time_squares${columns} FROM (${means})`;
}

interface RunColumn {
  /** As `runsIn` reads it. */
  readonly name: Sql;
  readonly value: Sql;
}

/** The columns that the aggregates need. Each costs ClickHouse some nanoseconds a point. */
function columnsOfRuns(buckets: SummarisedBuckets, isOne: boolean): RunColumn[] {
  const isOfArrays = needsArrays(buckets);
  const wantsEnds = isOfArrays || needsNeighbours(buckets) || wanted(buckets, "firstValue", "lastValue");
  const isOfLines = wantsTime(buckets) && !isOfArrays;
  const changes = isOfLines ? sql` + (dv != 0) * ${changesUnit}` : noSql;
  const columns: (RunColumn | false)[] = [
    !isOne && { name: sql`id`, value: sql`id` },
    { name: sql`block`, value: sql`toUInt64(run % ${blocksInKeyMax})` },
    { name: sql`first_t`, value: sql`any(t)` },
    { name: sql`last_t`, value: sql`anyLast(t)` },
    { name: sql`counts`, value: sql`toUInt64(sum(is_next * ((dt <= 0)${changes})))` },
    wantsEnds && { name: sql`first_v`, value: sql`any(v)` },
    wantsEnds && { name: sql`last_v`, value: sql`anyLast(v)` },
    (isOfArrays || wanted(buckets, "count")) && { name: sql`n`, value: sql`count()` },
    wanted(buckets, "min") && { name: sql`min_v`, value: sql`min(v)` },
    wanted(buckets, "max") && { name: sql`max_v`, value: sql`max(v)` },
    wanted(buckets, "sum") && { name: sql`sum_v`, value: sql`sum(v)` },
    wanted(buckets, "totalVariation") && { name: sql`variation`, value: sql`sum(is_next * abs(dv))` },
    isOfLines && { name: sql`area`, value: sql`sum(is_next * (v - dv / 2) * dt)` },
  ];
  return columns.filter((column) => column !== false);
}

/**
 * The column `counts` has the rows with the time of the row before, and in this unit the changes of values.
 */
const changesUnit = 2 ** 32;

/**
 * The number of a bucket and that of a block are one key, below 2^53. ClickHouse needs more time for two
 * keys, so queries of more buckets alone have two.
 */
const blocksInKeyMax = 2 ** 24;
const bucketsInKeyMax = 2 ** 28;

/**
 * Differences to the row before, within a block; 0 in its first row. So the first row of each block looks
 * like a repeated time. `blocksWithVersions` allows one per block. Excluding that row by `rowNumberInBlock`
 * would cost more than all these columns.
 */
function rowsOf(buckets: SummarisedBuckets, { series, range, alive, isFinal }: PointsToSummarise): Sql {
  const { startMs, bucketMs } = buckets;
  const isOne = series.length === 1;
  const sameSeries = isOne ? noSql : sql` AND runningDifference(series) = 0`;
  // Integer division rounds towards zero, so the bucket before the first one is number 0.
  const number = sql`intDiv(t - (${startMs - bucketMs}), ${bucketMs})`;
  const atLeast = range.startMs === -Infinity ? sql`greatest(${number}, 0)` : number;
  const last = bucketsIn(buckets) + 1;
  const bucket = range.endMs === Infinity ? sql`least(${atLeast}, ${last})` : atLeast;
  const run = isOneKey(buckets) ? sql`bucket * ${blocksInKeyMax} + blockNumber()` : sql`blockNumber()`;
  return sql`SELECT ${isOne ? noSql : sql`series AS id, `}t, v, ${bucket} AS bucket,
    ${run} AS run, runningDifference(t) AS dt, runningDifference(v) AS dv,
    runningDifference(bucket) = 0${sameSeries} AS is_next
    FROM points${isFinal ? sql` FINAL` : noSql} WHERE ${within(series, range)}${alive.condition}`;
}

const isOneKey = (buckets: SummarisedBuckets) => bucketsIn(buckets) < bucketsInKeyMax;

const bucketsIn = ({ startMs, endMs, bucketMs }: SummarisedBuckets) =>
  Math.round((endMs - startMs) / bucketMs);

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

/**
 * Decodes the rows of `summaryStatement`. Fields that no aggregate needs have any value. Line and step fields
 * are equal: only one kind was requested.
 */
export function runsIn(rows: NativeRows, buckets: SummarisedBuckets, series: readonly SeriesId[]): Run[] {
  const [ids, block, counts] = numbersOf(rows, "id", "block", "counts");
  const [firstMs, firstValue, lastMs, lastValue] = numbersOf(rows, "first_t", "first_v", "last_t", "last_v");
  const [count, min, max, sum] = numbersOf(rows, "n", "min_v", "max_v", "sum_v");
  const [variation, area, mean, squares] = numbersOf(rows, "variation", "area", "mean_v", "squares");
  const [timeMean, timeSquares] = numbersOf(rows, "time_mean", "time_squares");
  const timeMeanAt = (row: number) => {
    if (needsArrays(buckets)) return timeMean![row]!;
    // The quotient of a large constant value is rounded.
    if (counts![row]! < changesUnit) return firstValue![row] ?? 0;
    return area![row]! / (lastMs![row]! - firstMs![row]!);
  };
  const sameTimes = counts!.map((number) => number % changesUnit);
  const withVersions = blocksWithVersions(block!, sameTimes);
  return Array.from(block!, (number, row) => ({
    series: series.length === 1 ? series[0]! : ids![row]!,
    bucket: bucketOf(firstMs![row]!, buckets),
    hasVersions: withVersions.has(number) && sameTimes[row]! > 0,
    summary: {
      // A summary without points would count for nothing.
      count: count![row] ?? 1,
      firstMs: firstMs![row]!,
      firstValue: firstValue![row] ?? 0,
      lastMs: lastMs![row]!,
      lastValue: lastValue![row] ?? 0,
      min: min![row] ?? 0,
      max: max![row] ?? 0,
      sum: sum![row] ?? 0,
      mean: mean![row] ?? 0,
      squares: squares![row] ?? 0,
      variation: variation![row] ?? 0,
      lineMean: timeMeanAt(row),
      lineSquares: timeSquares![row] ?? 0,
      stepMean: timeMeanAt(row),
      stepSquares: timeSquares![row] ?? 0,
    },
  }));
}

function bucketOf(timeMs: number, { startMs, endMs, bucketMs }: SummarisedBuckets): number {
  if (timeMs < startMs) return 0;
  return Math.floor((Math.min(timeMs, endMs) - startMs) / bucketMs) + 1;
}

/** The blocks with more rows that have the time of the row before than the first row of the block. */
function blocksWithVersions(blocks: Float64Array, sameTimes: Float64Array): ReadonlySet<number> {
  const rows = new Map<number, number>();
  for (const [row, block] of blocks.entries()) rows.set(block, (rows.get(block) ?? 0) + sameTimes[row]!);
  return new Set([...rows].filter(([, count]) => count > 1).map(([block]) => block));
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
