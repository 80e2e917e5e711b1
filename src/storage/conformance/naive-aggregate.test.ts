// Cases small enough to be worked out by hand, one for each sentence of the definitions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AggregateName, aggregateNames } from "../points.ts";
import { type NaiveSeries, naiveAggregate } from "./naive-aggregate.ts";

type Row = Partial<Record<AggregateName | "at", number>>;

function ask(series: NaiveSeries, question: Partial<Parameters<typeof naiveAggregate>[1]>): Row[] {
  const whole = { startMs: 0, endMs: 40, bucketMs: 10, isStep: false, wanted: aggregateNames, limit: 100 };
  const { times, columns } = naiveAggregate(series, { ...whole, ...question });
  const wanted = question.wanted ?? aggregateNames;
  return Array.from(times, (at, row) => ({
    at,
    ...Object.fromEntries(wanted.map((name, index) => [name, columns[index]![row]!])),
  }));
}

const none = Number.NaN;
const plain: AggregateName[] = ["average", "count", "totalVariation"];

test("a line through the bucket: points outside of it shape it", () => {
  assert.deepEqual(ask({ times: [-5, 5, 15], values: [0, 10, 0] }, { endMs: 10 }), [
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
  assert.deepEqual(ask({ times: [4, 8], values: [2, 6] }, { wanted: plain }), [
    { at: 0, average: 4, count: 2, totalVariation: 4 },
  ]);
  assert.deepEqual(ask({ times: [4, 10], values: [2, 8] }, { wanted: plain }), [
    { at: 0, average: 5, count: 1, totalVariation: 6 },
    { at: 10, average: 8, count: 1, totalVariation: 0 },
  ]);
});

test("a single point is its own average", () => {
  const wanted: AggregateName[] = ["average", "continuousVariance", "discreteVariance", "totalVariation"];
  assert.deepEqual(ask({ times: [4], values: [2] }, { wanted }), [
    { at: 0, average: 2, continuousVariance: 0, discreteVariance: 0, totalVariation: 0 },
  ]);
});

test("a step series holds its values, also after its last point", () => {
  const series = { times: [-3, 5, 10], values: [1, 3, 7] };
  assert.deepEqual(ask(series, { isStep: true, wanted: plain }), [
    { at: 0, average: 2, count: 1, totalVariation: 2 },
    { at: 10, average: 7, count: 1, totalVariation: 0 },
  ]);
  assert.deepEqual(ask(series, { isStep: true, wanted: ["interpolation", "count"] }), [
    { at: 0, interpolation: 1, count: 1 },
    { at: 10, interpolation: 7, count: 1 },
    { at: 20, interpolation: 7, count: none },
    { at: 30, interpolation: 7, count: none },
  ]);
});

test("buckets without points exist only for a wanted interpolation that has a value", () => {
  const series = { times: [12, 32], values: [0, 20] };
  const counted = ask(series, { wanted: ["count"] });
  assert.deepEqual(
    counted.map((row) => row.at),
    [10, 30],
  );
  assert.deepEqual(ask(series, { wanted: ["interpolation", "sum"] }), [
    { at: 10, interpolation: none, sum: 0 },
    { at: 20, interpolation: 8, sum: none },
    { at: 30, interpolation: 18, sum: 20 },
  ]);
  const steps = ask(series, { wanted: ["interpolation", "stepInterpolation"], endMs: 50 });
  assert.deepEqual(steps[2], { at: 40, interpolation: none, stepInterpolation: 20 });
  assert.equal(steps.length, 3, "nothing is known at 10");
});

test("the limit counts buckets that exist", () => {
  const series = { times: [2, 33, 39], values: [1, 2, 4] };
  assert.deepEqual(ask(series, { wanted: ["sum"], limit: 1 }), [{ at: 0, sum: 1 }]);
  assert.deepEqual(ask(series, { wanted: ["sum"], limit: 2 })[1], { at: 30, sum: 6 });
});

test("the variance of the points divides by their number", () => {
  assert.deepEqual(ask({ times: [2, 3], values: [1, 4] }, { wanted: ["discreteVariance"] }), [
    { at: 0, discreteVariance: 2.25 },
  ]);
});
