// The statement that summarises the points of each bucket within ClickHouse.
//
// The results are those of `summarise` in storage/summary.ts. As there, means are measured from the first
// value, and squares from the mean, so that values far from zero and close together lose no precision.
import type { AggregateQuery } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { NativeRows } from "./native-format.ts";
import { type Sql, sql } from "./sql.ts";

type BucketQuery = Pick<AggregateQuery, "startMs" | "bucketMs" | "aggregates" | "isStep">;

/**
 * `points` selects the columns t and v in order of time. The result has a row for each bucket with a point.
 */
export function summaryStatement({ startMs, bucketMs, aggregates, isStep }: BucketQuery, points: Sql): Sql {
  const wants = (...names: AggregateQuery["aggregates"]) => names.some((name) => aggregates.includes(name));
  const wantsSquares = wants("discreteVariance");
  const wantsTime = wants("average", "continuousVariance");
  const wantsVariation = wants("totalVariation");
  const hasArrays = wantsSquares || wantsTime || wantsVariation;
  const arrays = hasArrays ? sql`, groupArray(t) AS ts, groupArray(v) AS vs` : sql``;
  const buckets = sql`SELECT intDiv(t - (${startMs}), ${bucketMs}) AS bucket, count() AS n, min(t) AS first_t,
    argMin(v, t) AS first_v, max(t) AS last_t, argMax(v, t) AS last_v, min(v) AS min_v, max(v) AS max_v,
    sum(v) AS sum_v${arrays} FROM (${points}) GROUP BY bucket`;
  const plain = sql`bucket, n, first_t, first_v, last_t, last_v, min_v, max_v, sum_v`;
  const mean = wantsSquares ? sql`first_v + arraySum(x -> x - first_v, vs) / n` : sql`first_v`;
  const timeMean = wantsTime ? timeMeanOf(isStep) : sql`first_v`;
  const variation = wantsVariation
    ? sql`arraySum((x, y) -> abs(y - x), arrayPopBack(vs), arrayPopFront(vs))`
    : sql`toFloat64(0)`;
  const means = sql`SELECT ${plain}, ${mean} AS mean_v, ${timeMean} AS time_mean, ${variation} AS variation
    ${hasArrays ? sql`, ts, vs` : sql``} FROM (${buckets})`;
  const squares = wantsSquares ? sql`arraySum(x -> (x - mean_v) * (x - mean_v), vs)` : sql`toFloat64(0)`;
  const timeSquares = wants("continuousVariance") ? timeSquaresOf(isStep) : sql`toFloat64(0)`;
  return sql`SELECT ${plain}, mean_v, time_mean, variation, ${squares} AS squares,
    ${timeSquares} AS time_squares FROM (${means}) ORDER BY bucket`;
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
export function summariesIn(rows: NativeRows): Summary[] {
  const columns = new Map<string, Float64Array>();
  const column = (name: string) => {
    const values = columns.get(name) ?? rows.numbers(name);
    columns.set(name, values);
    return values;
  };
  return Array.from(column("n"), (count, row) => ({
    count,
    firstMs: column("first_t")[row]!,
    firstValue: column("first_v")[row]!,
    lastMs: column("last_t")[row]!,
    lastValue: column("last_v")[row]!,
    min: column("min_v")[row]!,
    max: column("max_v")[row]!,
    sum: column("sum_v")[row]!,
    mean: column("mean_v")[row]!,
    squares: column("squares")[row]!,
    variation: column("variation")[row]!,
    lineMean: column("time_mean")[row]!,
    lineSquares: column("time_squares")[row]!,
    stepMean: column("time_mean")[row]!,
    stepSquares: column("time_squares")[row]!,
  }));
}
