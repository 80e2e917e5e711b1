// Aggregates from points and summaries agree with the naive reference, however the series is split.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Aggregation } from "./aggregation.ts";
import { naiveAggregate } from "./conformance/naive-aggregate.ts";
import { type AggregateColumns, aggregateNames, type BucketValue, bucketDetails } from "./points.ts";

const allValues: readonly BucketValue[] = [...aggregateNames, ...bucketDetails];

import { Kernels } from "./kernels.ts";
import { decodeSummary, encodeSummary, summaryFields } from "./summary.ts";

const kernels = new Kernels();

type Query = ConstructorParameters<typeof Aggregation>[1];

interface Series {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Steps between points in units of a bucket's tenth: dense, regular, sparse, or dense with long gaps. */
const steps = fc.oneof(
  fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 120 }),
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.nat(80))
    .map(([step, count]) => Array<number>(count).fill(step)),
  fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 60 }),
  fc.array(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant(2) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 400 }) },
    ),
    {
      maxLength: 100,
    },
  ),
);

/** Values that are small, or huge, tiny, far from zero and close together, all of them random within. */
const scales = fc.constantFrom(
  { base: 0, width: 1 },
  { base: 0, width: 1e150 },
  { base: 0, width: 1e-140 },
  { base: 5e6, width: 1e-2 },
  { base: -273.15, width: 40 },
);

const series: fc.Arbitrary<Series> = fc
  .tuple(steps, fc.integer({ min: -300, max: 300 }), fc.integer({ min: 1, max: 1000 }), scales)
  .chain(([gaps, first, tenthMs, { base, width }]) => {
    const count = gaps.length + 1;
    const draw = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -1, max: 1, noNaN: true }));
    return fc.array(draw, { minLength: count, maxLength: count }).map((drawn) => {
      const times = new Float64Array(count);
      times[0] = first * tenthMs;
      for (const [index, gap] of gaps.entries()) times[index + 1] = times[index]! + gap * tenthMs;
      return { times, values: Float64Array.from(drawn, (one) => base + one * width) };
    });
  });

/** A query over a part of the series, or before or after it. */
const questionOf = ({ times }: Series): fc.Arbitrary<Query> =>
  fc
    .record({
      bucketMs: fc.integer({ min: 1, max: 20_000 }),
      offset: fc.integer({ min: -40_000, max: 40_000 }),
      at: fc.nat(times.length - 1),
      buckets: fc.integer({ min: 1, max: 60 }),
      isStep: fc.boolean(),
      limit: fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 8 })),
      aggregates: fc.oneof(
        fc.constant(allValues),
        fc.uniqueArray(fc.constantFrom(...allValues), { minLength: 1 }),
      ),
    })
    .map(({ at, offset, buckets, ...rest }) => {
      const startMs = times[at]! + offset;
      return { ...rest, startMs, endMs: startMs + buckets * rest.bucketMs };
    });

/** The series, the query, where its range is split into parts, and which of these are added as summaries. */
type Case = readonly [Series, Query, cuts: readonly number[], summarised: readonly boolean[]];

function result(...one: Case): AggregateColumns {
  const steps = stepsOf(one);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Adds the range of the query part by part, and returns the result. */
function* stepsOf([series, query, cuts, summarised]: Case): Generator<undefined, AggregateColumns> {
  const { times, values } = series;
  const from = times.filter((time) => time < query.startMs).length;
  const to = times.filter((time) => time < query.endMs).length;
  const point = (index: number) =>
    index >= 0 && index < times.length ? { timeMs: times[index]!, value: values[index]! } : undefined;
  const aggregation = new Aggregation(kernels, query, point(from - 1));
  const bounds = [...new Set([from, ...cuts.map((cut) => from + (cut % Math.max(1, to - from))), to])];
  bounds.sort((one, other) => one - other);
  for (const [index, end] of bounds.entries()) {
    const start = bounds[index - 1] ?? end;
    if (start === end) continue;
    const bucketOf = (index: number) => Math.floor((times[index]! - query.startMs) / query.bucketMs);
    const fits = bucketOf(start) === bucketOf(end - 1);
    if (summarised[index % summarised.length] && fits) {
      const summary = decodeSummary(encodeSummary(kernels.summarise(times, values, start, end)));
      aggregation.addSummaries([summary]);
    } else {
      aggregation.addPoints(times, values, start, end);
    }
    yield;
  }
  return aggregation.finish(point(to));
}

/** The error of rounding for values of this size. */
function toleranceOf(name: BucketValue, expected: number, scale: number, count: number): number {
  if (name === "count" || name === "min" || name === "max" || name === "stepInterpolation") return 0;
  // Half of a denormal number may not be a double: each part can be off by one of them.
  const least = 2 * count * Number.MIN_VALUE;
  if (name === "continuousVariance" || name === "discreteVariance") {
    const mean = 1e-13 * scale;
    return 1e-9 * expected + 2 * Math.sqrt(expected) * mean + mean * mean + least;
  }
  const sums = name === "sum" || name === "totalVariation" ? count : 1;
  return 1e-9 * Math.abs(expected) + 1e-13 * scale * sums + least;
}

function assertAgrees(
  found: AggregateColumns,
  expected: AggregateColumns,
  query: Query,
  series: Series,
): void {
  assert.deepEqual(found.times, expected.times);
  const scale = series.values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  for (const [column, name] of query.aggregates.entries()) {
    for (const [row, aggregates] of expected.columns[column]!.entries()) {
      const got = found.columns[column]![row]!;
      const allowed = toleranceOf(name, aggregates, scale, series.values.length);
      const agrees = Object.is(got, aggregates) || Math.abs(got - aggregates) <= allowed;
      assert.ok(
        agrees,
        `${name} at ${expected.times[row]}: ${got} instead of ${aggregates} (within ${allowed})`,
      );
    }
  }
}

const cases = series.chain((one) =>
  fc.tuple(
    fc.constant(one),
    questionOf(one),
    fc.array(fc.nat(), { maxLength: 20 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
  ),
);

test("any series in any parts agrees with the definitions", () => {
  fc.assert(
    fc.property(cases, ([one, query, cuts, summarised]) => {
      assertAgrees(result(one, query, cuts, summarised), naiveAggregate(one, query), query, one);
    }),
    { numRuns: 2000 },
  );
});

test("aggregations that share the memory of the kernels in turn return what each alone returns", () => {
  fc.assert(
    fc.property(fc.array(cases, { minLength: 2, maxLength: 4 }), (all) => {
      const running = all.map((one) => ({ steps: stepsOf(one), found: undefined as unknown }));
      for (let isRunning = true; isRunning; ) {
        isRunning = false;
        for (const one of running.filter(({ found }) => found === undefined)) {
          const { done, value } = one.steps.next();
          if (done) one.found = value;
          else isRunning = true;
        }
      }
      const alone = all.map((one) => result(...one));
      assert.deepEqual(
        running.map(({ found }) => found),
        alone,
      );
    }),
    { numRuns: 500 },
  );
});

test("a part of a bucket adds the same bits by its points as by their summary", () => {
  const names = ["average", "sum", "min", "max", "count"] as const;
  fc.assert(
    fc.property(cases, fc.subarray([...names], { minLength: 1 }), ([one, query, cuts], aggregates) => {
      const asked = { ...query, aggregates };
      const [byPoints, bySummaries] = [false, true].map((by) => result(one, asked, cuts, [by]));
      assert.deepEqual(byPoints, bySummaries);
    }),
  );
});

test("a summary of one point, and of the ends of the range of doubles", () => {
  const fields = encodeSummary(kernels.summarise(Float64Array.of(-5), Float64Array.of(-0), 0, 1));
  assert.equal(fields.length, summaryFields);
  assert.deepEqual(decodeSummary(fields), {
    count: 1,
    firstMs: -5,
    firstValue: -0,
    lastMs: -5,
    lastValue: -0,
    min: -0,
    max: -0,
    sum: 0,
    mean: 0,
    squares: 0,
    variation: 0,
    lineMean: -0,
    lineSquares: 0,
    stepMean: -0,
    stepSquares: 0,
  });
  const huge = kernels.summarise(Float64Array.of(0, 10), Float64Array.of(1e300, 1.5e300), 0, 2);
  assert.equal(huge.lineMean, 1.25e300);
  assert.equal(huge.mean, 1.25e300);
});

test("a gap of a century between two points costs nothing, and a limit ends the work", () => {
  const century = 100 * 365 * 86_400_000;
  const query = { startMs: 0, endMs: 2 * century, bucketMs: 1000, isStep: false, limit: 5 };
  const sparse = new Aggregation(kernels, { ...query, aggregates: ["average"] });
  sparse.addPoints(Float64Array.of(0, century), Float64Array.of(1, 3), 0, 2);
  assert.deepEqual(sparse.finish(), {
    times: Float64Array.of(0, century),
    columns: [Float64Array.of(1 + 1000 / century, 3)],
  });
  const dense = new Aggregation(kernels, { ...query, aggregates: ["interpolation"] });
  dense.addPoints(Float64Array.of(0, century), Float64Array.of(1, 1), 0, 2);
  assert.ok(dense.isFull);
  assert.deepEqual(dense.finish().times, Float64Array.of(0, 1000, 2000, 3000, 4000));
});

test("more rows than fit into the memory of the kernels, of points, gaps and steps", () => {
  const query = { startMs: 0, endMs: 60_000, bucketMs: 10, limit: 1e6, aggregates: allValues };
  const times = Float64Array.from({ length: 3000 }, (_, at) => 10 * at + (at > 2000 ? 25_003 : 3));
  const series = { times, values: times.map((timeMs) => Math.sin(timeMs)) };
  for (const isStep of [false, true])
    for (const cut of [1, 1500, 2999]) {
      const found = result(series, { ...query, isStep }, [cut], [false]);
      assert.ok(found.times.length > 5000);
      assertAgrees(found, naiveAggregate(series, { ...query, isStep }), { ...query, isStep }, series);
    }
});

test("the aggregation is full only when the last returned bucket is complete", () => {
  const one = new Aggregation(kernels, {
    startMs: 0,
    endMs: 100,
    bucketMs: 10,
    isStep: false,
    limit: 1,
    aggregates: ["count"],
  });
  one.addPoints(Float64Array.of(1, 2), Float64Array.of(1, 1), 0, 2);
  assert.ok(!one.isFull);
  one.addSummaries([kernels.summarise(Float64Array.of(8, 9), Float64Array.of(1, 1), 0, 2)]);
  assert.ok(!one.isFull);
  one.addPoints(Float64Array.of(15), Float64Array.of(1), 0, 1);
  assert.ok(one.isFull);
  assert.deepEqual(one.finish(), { times: Float64Array.of(0), columns: [Float64Array.of(4)] });
});

test("a summary of values alone has the same bits as the whole one, and no mean", () => {
  const values = Float64Array.of(-0, 0, 0.1, -1e300, 0.2, 1e300, 3);
  const times = values.map((_, at) => 10 * at);
  for (let from = 0; from < values.length; from++)
    for (let to = from + 1; to <= values.length; to++) {
      const whole = encodeSummary(kernels.summarise(times, values, from, to));
      const found = encodeSummary(kernels.ofValues.summarise(times, values, from, to));
      assert.deepEqual(
        found,
        whole.map((field, at) => (at < 8 ? field : Number.NaN)),
      );
    }
});
