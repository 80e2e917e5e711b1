// Random series, written in random batches and read over the API, equal the naive reference, to 1e-9.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { parseGranularity, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { naiveAggregate } from "../../storage/conformance/naive-aggregate.ts";
import { aggregateNames } from "../../storage/points.ts";

let server: TestServer;
let count = 0;

before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Point {
  readonly timestamp: number;
  readonly value: number;
}

const times = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -20_000, max: 400_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -400, max: 8_000 }).map((n) => n * 1000) },
);
/** Without minus zero, which JSON.stringify sends as 0. */
const values = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: -5000, max: 5000 }).map((n) => n / 100) },
    { weight: 1, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  )
  .map((value) => value + 0);
const points = fc.array(fc.record({ timestamp: times, value: values }, { noNullPrototype: true }), {
  maxLength: 60,
});
const granularities = fc.constantFrom("s", "7s", "m", "2m", "1h", "d");

const written = (batches: readonly (readonly Point[])[]) => {
  const byTime = new Map(batches.flat().map(({ timestamp, value }) => [timestamp, value]));
  const sorted = [...byTime].toSorted(([a], [b]) => a - b);
  return { times: sorted.map(([time]) => time), values: sorted.map(([, value]) => value) };
};

function assertClose(found: number | undefined, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.equal(found, undefined, what);
  else {
    assert.equal(typeof found, "number", what);
    const tolerance = 1e-9 * Math.max(1, Math.abs(expected), Math.abs(found!));
    assert.ok(Math.abs(found! - expected) <= tolerance, `${what}: ${found} is not ${expected}`);
  }
}

const scenario = fc.record({
  batches: fc.array(points, { maxLength: 3 }),
  isStep: fc.boolean(),
  ends: fc.tuple(times, times),
  granularity: granularities,
  limit: fc.oneof(fc.constant(10_000), fc.integer({ min: 0, max: 20 })),
});

test("points and aggregates of random series, as JSON and as a frame", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ batches, isStep, ends, granularity, limit }) => {
      count += 1;
      const name = `random-${count}`;
      await server.ask("POST /timeseries", { items: [{ name, isStep }] });
      for (const items of batches)
        assert.equal((await server.ask(`POST /timeseries/data/${name}`, { items })).status, 200);
      const series = written(batches);
      const [startMs, endMs] = ends.toSorted((a, b) => a - b) as [number, number];
      const range = `start=${startMs}&end=${endMs}&limit=${limit}`;
      const raw = await server.ask(`GET /timeseries/data/${name}?${range}`);
      const within = series.times
        .map((timestamp, i) => ({ timestamp, value: series.values[i]! }))
        .filter(({ timestamp }) => timestamp >= startMs && timestamp < endMs);
      assert.deepEqual(raw.items[0]!["datapoints"], within.slice(0, limit));

      const { bucketMs, unitMs } = parseGranularity(granularity, limits.granularityDaysMax)!;
      const buckets = wholeBuckets({ startMs, endMs }, { bucketMs, unitMs });
      const expected = naiveAggregate(series, {
        ...buckets,
        bucketMs,
        isStep,
        aggregates: aggregateNames,
        limit,
      });
      const query = `${range}&granularity=${granularity}&aggregates=${aggregateNames.join(",")}`;
      const response = await server.ask.v06(`GET /timeseries/data/${name}?${query}`);
      const found = response.items[0]!["datapoints"] as Record<string, number>[];
      assert.deepEqual(
        found.map(({ timestamp }) => timestamp),
        Array.from(expected.times),
      );
      for (const [row, one] of found.entries())
        for (const [i, aggregate] of aggregateNames.entries())
          assertClose(one[aggregate], expected.columns[i]![row]!, `${aggregate} at ${one["timestamp"]}`);

      const frame = await server.ask("POST /timeseries/dataframe", {
        items: [{ name }],
        aggregates: aggregateNames,
        granularity,
        start: startMs,
        end: endMs,
        limit,
      });
      const rows = frame.text.split("\n").slice(1, -1);
      const cells = found.map((one) =>
        ["timestamp", ...aggregateNames].map((member) => one[member] ?? "").join(","),
      );
      assert.deepEqual(rows, cells);
    }),
    { numRuns: 60 },
  );
});

test("variance is the continuous one, in frames and wherever aggregates are named", async () => {
  const { items } = await server.ask.v06("POST /timeseries", { items: [{ name: "varied" }] });
  const id = items[0]!["id"];
  const points = [0, 4, 1].map((value, i) => ({ timestamp: i * 1000, value }));
  await server.ask("POST /timeseries/data/varied", { items: points });
  const range = { start: 0, end: 60_000, granularity: "1m" };
  const frameOf = (aggregates: string[]) =>
    server.ask("POST /timeseries/dataframe", { items: [{ name: "varied" }], ...range, aggregates });
  const frame = await frameOf(["Variance", "avg"]);
  assert.equal(frame.status, 200);
  assert.equal(frame.text.split("\n")[0], "timestamp,varied|continuousvariance,varied|average");
  assert.equal(frame.text, (await frameOf(["continuousVariance", "average"])).text);
  assert.notEqual(frame.text.split("\n")[1], (await frameOf(["dv", "avg"])).text.split("\n")[1]);
  const expected = Number(frame.text.split("\n")[1]!.split(",")[1]);
  const read = await server.ask.v06(
    "GET /timeseries/data/varied?start=0&end=60000&granularity=1m&aggregates=variance",
  );
  assert.deepEqual(read.items[0]!["datapoints"], [{ timestamp: 0, continuousVariance: expected }]);
  const aliases = [{ alias: "a", id, aggregate: "variance", granularity: "1m" }];
  const calculated = await server.ask.v06("POST /timeseries/dataquery", {
    ...{ items: [{ name: "r", function: "[a]", aliases }], start: 0, end: 60_000 },
  });
  assert.deepEqual(calculated.items[0]!["datapoints"], [{ timestamp: 0, value: expected }]);
});

test("buckets without a wanted value do not appear, and the limit does not count them", async () => {
  const name = "late";
  const minuteMs = 60_000;
  await server.ask("POST /timeseries", { items: [{ name }] });
  const items = [30_000, minuteMs + 15_000, 5 * minuteMs].map((timestamp, i) => ({ timestamp, value: i }));
  await server.ask(`POST /timeseries/data/${name}`, { items });
  const range = `start=0&end=${6 * minuteMs}&granularity=1m`;
  const timesOf = async (query: string) => {
    const { items } = await server.ask(`GET /timeseries/data/${name}?${range}&${query}`);
    return (items[0]!["datapoints"] as { timestamp: number }[]).map(({ timestamp }) => timestamp / minuteMs);
  };
  // At the start of the first minute nothing is known yet.
  assert.deepEqual(await timesOf("aggregates=interpolation"), [1, 2, 3, 4, 5]);
  assert.deepEqual(await timesOf("aggregates=int,step"), [1, 2, 3, 4, 5]);
  assert.deepEqual(await timesOf("aggregates=step&limit=1"), [1]);
  assert.deepEqual(await timesOf("aggregates=interpolation,count"), [0, 1, 2, 3, 4, 5]);
  const frame = await server.ask("POST /timeseries/dataframe", {
    items: [{ name }],
    aggregates: ["stepInterpolation"],
    ...{ granularity: "1m", start: 0, end: 6 * minuteMs, limit: 2 },
  });
  assert.equal(frame.text, "timestamp,late|stepinterpolation\n60000,0\n120000,1\n");
});

test("a bucket that has been read comes again for a start 1 ms later, once by its link", async () => {
  const name = "paged";
  await server.ask("POST /timeseries", { items: [{ name }] });
  const hourMs = 3_600_000;
  const items = [0, 1, 2].map((hour) => ({ timestamp: hour * hourMs + 5, value: hour }));
  await server.ask(`POST /timeseries/data/${name}`, { items });
  const hourlyCount = { aggregates: "count", granularity: "1h" };
  const timesOf = ({ items }: TestResponse) =>
    (items[0]!["datapoints"] as { timestamp: number }[]).map(({ timestamp }) => timestamp / hourMs);
  const query = (more: object) => ({ items: [{ name, ...hourlyCount, ...more }] });
  // The start is rounded down to the unit (docs/aggregates.md#buckets).
  const again = query({ start: 2 * hourMs + 1, end: 3 * hourMs });
  assert.deepEqual(timesOf(await server.ask("POST /timeseries/dataquery", again)), [2]);
  const first = query({ start: 0, end: 3 * hourMs, limit: 2 });
  const page = await server.ask("POST /timeseries/dataquery", first);
  const [, next] = /^<http:\/\/[^/]+(\/[^>]+)>/.exec(page.headers.get("link")!)!;
  const rest = await server.ask.root(`POST ${next}`, first);
  assert.deepEqual([timesOf(page), timesOf(rest)], [[0, 1], [2]]);
  assert.equal(rest.headers.get("link"), null);
});
