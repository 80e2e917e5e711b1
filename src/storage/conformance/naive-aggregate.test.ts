// Checks each sentence of the definitions with a case small enough to calculate by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AggregateName, aggregateNames } from "../points.ts";
import { type NaiveSeries, naiveAggregate } from "./naive-aggregate.ts";

type Row = Partial<Record<AggregateName | "at", number>>;

function rowsOf(series: NaiveSeries, query: Partial<Parameters<typeof naiveAggregate>[1]>): Row[] {
  const whole = {
    startMs: 0,
    endMs: 40,
    bucketMs: 10,
    isStep: false,
    aggregates: aggregateNames,
    limit: 100,
  };
  const { times, columns } = naiveAggregate(series, { ...whole, ...query });
  const aggregates = query.aggregates ?? aggregateNames;
  return Array.from(times, (at, row) => ({
    at,
    ...Object.fromEntries(aggregates.map((name, index) => [name, columns[index]![row]!])),
  }));
}

const noValue = Number.NaN;
const plain: AggregateName[] = ["average", "count", "totalVariation"];

test("a line through the bucket: points outside of it shape it", () => {
  assert.deepEqual(rowsOf({ times: [-5, 5, 15], values: [0, 10, 0] }, { endMs: 10 }), [
    {
      at: 0,
      average: 7.5,
      max: 10,
      min: 10,
      count: 1,
      sum: 10,
      interpolation: 5,
      stepInterpolation: 0,
      continuousVariance: 25 / 12,
      discreteVariance: 0,
      totalVariation: 10,
    },
  ]);
});

test("f begins with the first and ends with the last point of a linear series", () => {
  assert.deepEqual(rowsOf({ times: [4, 8], values: [2, 6] }, { aggregates: plain }), [
    { at: 0, average: 4, count: 2, totalVariation: 4 },
  ]);
  assert.deepEqual(rowsOf({ times: [4, 10], values: [2, 8] }, { aggregates: plain }), [
    { at: 0, average: 5, count: 1, totalVariation: 6 },
    { at: 10, average: 8, count: 1, totalVariation: 0 },
  ]);
});

test("a single point is its own average", () => {
  const aggregates: AggregateName[] = ["average", "continuousVariance", "discreteVariance", "totalVariation"];
  assert.deepEqual(rowsOf({ times: [4], values: [2] }, { aggregates }), [
    { at: 0, average: 2, continuousVariance: 0, discreteVariance: 0, totalVariation: 0 },
  ]);
});

test("a step series holds its values, also after its last point", () => {
  const series = { times: [-3, 5, 10], values: [1, 3, 7] };
  assert.deepEqual(rowsOf(series, { isStep: true, aggregates: plain }), [
    { at: 0, average: 2, count: 1, totalVariation: 2 },
    { at: 10, average: 7, count: 1, totalVariation: 0 },
  ]);
  assert.deepEqual(rowsOf(series, { isStep: true, aggregates: ["interpolation", "count"] }), [
    { at: 0, interpolation: 1, count: 1 },
    { at: 10, interpolation: 7, count: 1 },
    { at: 20, interpolation: 7, count: noValue },
    { at: 30, interpolation: 7, count: noValue },
  ]);
});

test("buckets without points exist only for a requested interpolation that has a value", () => {
  const series = { times: [12, 32], values: [0, 20] };
  const counted = rowsOf(series, { aggregates: ["count"] });
  assert.deepEqual(
    counted.map((row) => row.at),
    [10, 30],
  );
  assert.deepEqual(rowsOf(series, { aggregates: ["interpolation", "sum"] }), [
    { at: 10, interpolation: noValue, sum: 0 },
    { at: 20, interpolation: 8, sum: noValue },
    { at: 30, interpolation: 18, sum: 20 },
  ]);
  const steps = rowsOf(series, { aggregates: ["interpolation", "stepInterpolation"], endMs: 50 });
  assert.deepEqual(steps[2], { at: 40, interpolation: noValue, stepInterpolation: 20 });
  assert.equal(steps.length, 3, "no value at 10");
});

test("the limit counts buckets that exist", () => {
  const series = { times: [2, 33, 39], values: [1, 2, 4] };
  assert.deepEqual(rowsOf(series, { aggregates: ["sum"], limit: 1 }), [{ at: 0, sum: 1 }]);
  assert.deepEqual(rowsOf(series, { aggregates: ["sum"], limit: 2 })[1], { at: 30, sum: 6 });
});

test("the variance of the points divides by their number", () => {
  assert.deepEqual(rowsOf({ times: [2, 3], values: [1, 4] }, { aggregates: ["discreteVariance"] }), [
    { at: 0, discreteVariance: 2.25 },
  ]);
});
