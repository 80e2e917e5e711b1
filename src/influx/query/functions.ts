// The functions of the select list: the aggregates of the store that each needs, and how parts are combined.
import type { BucketValue } from "../../storage/points.ts";

/** The aggregates of one bucket by name. */
export type BucketOf = Readonly<Partial<Record<BucketValue, number>>>;

export interface AggregateFunction {
  readonly needs: readonly BucketValue[];
  /** The value of a bucket from the aggregates of the store. */
  readonly result: (bucket: BucketOf) => number;
  /** Whether the points of several series can be taken together. */
  readonly isCombinable: boolean;
}

const direct = (name: BucketValue, isCombinable: boolean): AggregateFunction => ({
  needs: [name],
  result: (bucket) => bucket[name]!,
  isCombinable,
});

const spread: AggregateFunction = {
  needs: ["min", "max"],
  result: ({ min, max }) => max! - min!,
  isCombinable: true,
};

const mean: AggregateFunction = {
  needs: ["sum", "count"],
  result: ({ sum, count }) => sum! / count!,
  isCombinable: true,
};

/** Of a sample: a single point has none. */
const stddev: AggregateFunction = {
  needs: ["count", "sum", "discreteVariance"],
  result: ({ count, discreteVariance }) =>
    count! > 1 ? Math.sqrt((discreteVariance! * count!) / (count! - 1)) : Number.NaN,
  isCombinable: true,
};

/** Over the part of the bucket between the first and the last point of the series, in seconds. */
const integral: AggregateFunction = {
  needs: ["average", "definedMs"],
  result: ({ average, definedMs }) => (average! * definedMs!) / 1000,
  isCombinable: false,
};

const withTime = (value: BucketValue, time: BucketValue): AggregateFunction => ({
  needs: [value, time],
  result: (bucket) => bucket[value]!,
  isCombinable: true,
});

/** By the lower-case names of InfluxQL, and those of our own aggregates. */
export const aggregateFunctions: ReadonlyMap<string, AggregateFunction> = new Map([
  ["count", direct("count", true)],
  ["sum", direct("sum", true)],
  ["min", direct("min", true)],
  ["max", direct("max", true)],
  ["mean", mean],
  ["spread", spread],
  ["stddev", stddev],
  ["first", withTime("firstValue", "firstTime")],
  ["last", withTime("lastValue", "lastTime")],
  ["integral", integral],
  ["average", direct("average", false)],
  ["interpolation", direct("interpolation", false)],
  ["stepinterpolation", direct("stepInterpolation", false)],
  ["continuousvariance", direct("continuousVariance", false)],
  ["discretevariance", direct("discreteVariance", false)],
  ["totalvariation", direct("totalVariation", false)],
]);

/** The functions of strings. */
export const stringFunctions: ReadonlySet<string> = new Set(["count", "first", "last"]);

/** Functions of InfluxQL over the rows of another function. */
const rowFunctions = [
  "cumulative_sum",
  "derivative",
  "difference",
  "moving_average",
  "non_negative_derivative",
  "non_negative_difference",
] as const;
export type RowFunction = (typeof rowFunctions)[number];

export const isRowFunction = (name: string): name is RowFunction =>
  (rowFunctions as readonly string[]).includes(name);

/** The aggregates of the points of two series in one bucket; both have points there. */
export function combined(one: BucketOf, other: BucketOf): BucketOf {
  const later = (one.lastTime ?? 0) > (other.lastTime ?? 0) ? one : other;
  const earlier = (one.firstTime ?? 0) <= (other.firstTime ?? 0) ? one : other;
  return {
    count: one.count! + other.count!,
    sum: one.sum! + other.sum!,
    min: Math.min(one.min!, other.min!),
    max: Math.max(one.max!, other.max!),
    discreteVariance: combinedVariance(one, other),
    firstTime: earlier.firstTime!,
    firstValue: earlier.firstValue!,
    lastTime: later.lastTime!,
    lastValue: later.lastValue!,
  };
}

/** The mean squared distance from the common mean. */
function combinedVariance(one: BucketOf, other: BucketOf): number {
  const [a, b] = [one.count!, other.count!];
  const distance = one.sum! / a - other.sum! / b;
  const count = a + b;
  return (
    (one.discreteVariance! * a + other.discreteVariance! * b) / count +
    (distance * distance * (a / count) * b) / count
  );
}
