// Calculated series over the API: compared with a naive evaluator over the written points, and refusals.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { allItems, odataOf } from "../../../test/support/odata.ts";
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
  readonly value: number | string;
}

async function series(
  points: readonly Point[],
  kind: { isStep?: boolean; isString?: boolean } = {},
): Promise<number> {
  count += 1;
  const name = `s${count}`;
  const { items } = await server.ask.v06("POST /timeseries", { items: [{ name, ...kind }] });
  if (points.length > 0) await server.ask(`POST /timeseries/data/${name}`, { items: points });
  return items[0]!["id"] as number;
}

const ramp = (values: readonly number[], stepMs = 1000): Point[] =>
  values.map((value, i) => ({ timestamp: i * stepMs, value }));

const wide = { start: 0, end: 1_000_000, limit: 10_000 };

const calculate = (item: object, body: object = wide) =>
  server.ask.v06("POST /timeseries/dataquery", { items: [{ name: "r", aliases: [], ...item }], ...body });

const pointsOf = ({ items }: TestResponse) =>
  (items[0]!["datapoints"] as Point[]).map(({ timestamp, value }) => [timestamp, value] as const);

test("a function over ids is read in 0.5 and 0.6, with stored series, in the requested order", async () => {
  const id = await series(ramp([0, 10, 20]));
  for (const ask of [server.ask.v05, server.ask.v06]) {
    const { status, items } = await ask("POST /timeseries/dataquery", {
      items: [
        { name: "fahrenheit", function: `[${id}] * 9/5 + 32` },
        { name: `s${count}` },
        { name: "", function: `[${id}]-[${id}]`, start: 1000, limit: 1 },
      ],
      ...wide,
    });
    assert.equal(status, 200);
    assert.deepEqual(items, [
      { name: "fahrenheit", datapoints: ramp([32, 50, 68]) },
      { name: `s${count}`, datapoints: ramp([0, 10, 20]) },
      { name: "", datapoints: [{ timestamp: 1000, value: 0 }] },
    ]);
  }
});

test("leaves are joined on all of their times: lines are interpolated, steps repeat", async () => {
  const line = await series([
    { timestamp: 0, value: 0 },
    { timestamp: 4000, value: 40 },
  ]);
  const step = await series(
    [
      { timestamp: 1000, value: 1 },
      { timestamp: 3000, value: 3 },
    ],
    { isStep: true },
  );
  const response = await calculate({ function: `[${line}] + [${step}]` });
  // None at 0, where the step series has no value yet; the step series continues after its last point.
  assert.deepEqual(pointsOf(response), [
    [1000, 11],
    [3000, 33],
    [4000, 43],
  ]);
  const part = await calculate({ function: `[${line}] + [${step}]` }, { start: 2000, end: 3500 });
  assert.deepEqual(pointsOf(part), [[3000, 33]]);
});

test("aggregates and points are mixed, each alias with a granularity of its own", async () => {
  const a = await series(ramp([0, 10, 20, 30, 40, 50]));
  const b = await series(ramp([5, 7], 4000));
  const aliases = [
    { alias: "mean", id: a, aggregate: "max", granularity: "2s" },
    { alias: "b", id: b, aggregate: "none", granularity: "1h" },
    { alias: "c", id: b, granularity: "4s" },
  ];
  const response = await calculate({ function: "[mean] * 100 + [b] + 0 * max([c])", aliases });
  assert.deepEqual(pointsOf(response), [
    [0, 1005],
    [2000, 3006],
    [4000, 5007],
  ]);
});

test("where a result is no number there is none", async () => {
  const id = await series(ramp([-1, 0, 1, 4]));
  assert.deepEqual(pointsOf(await calculate({ function: `1 / [${id}]` })), [
    [0, -1],
    [2000, 1],
    [3000, 0.25],
  ]);
  const aliases = [{ alias: "a", id, aggregate: "max", granularity: "1s" }];
  assert.deepEqual(pointsOf(await calculate({ function: "sqrt([a])", aliases, limit: 2 })), [
    [1000, 0],
    [2000, 1],
  ]);
});

test("functions take aggregates alone in 0.6, and points as well in 0.5; 0.4 has none", async () => {
  const id = await series(ramp([1, 4, 9]));
  const raw = { alias: "raw", id };
  const mean = { alias: "mean", id, aggregate: "avg", granularity: "1s" };
  const fine = { alias: "fine", id, granularity: "1s" };
  const inVersion = (ask: typeof server.ask.v06, text: string) =>
    ask("POST /timeseries/dataquery", {
      items: [{ name: "r", function: text, aliases: [raw, mean, fine] }],
      ...wide,
    });
  const ofPoints = [
    "sqrt([raw])",
    "max([raw], [raw])",
    `max(max([${id}], 5), 5)`,
    "round(avg([fine]) + [raw])",
  ];
  for (const text of ofPoints) {
    const { status, error } = await inVersion(server.ask.v06, text);
    assert.equal(status, 400, text);
    assert.match(error!.message, /expected aggregates in \w+, such as an alias with an aggregate and a gran/);
    assert.equal((await inVersion(server.ask.v05, text)).status, 200, text);
  }
  const ofAggregates = ["sqrt([mean])", "max([mean], [mean]) + [raw]", "abs(avg([fine]) + avg([mean])) % 5"];
  for (const text of [...ofAggregates, "CASE WHEN [raw] > 1 THEN [raw] ELSE 0 END", "avg([mean])"])
    for (const ask of [server.ask.v05, server.ask.v06])
      assert.equal((await inVersion(ask, text)).status, 200, text);
  for (const text of [`[${id}]`, "sqrt([mean])"]) {
    const { status, error } = await inVersion(server.ask.v04, text);
    assert.equal(status, 400);
    assert.match(
      error!.message,
      /items\[0\]\.function - expected a version that has functions, 0\.5 or 0\.6/,
    );
  }
});

test("an alias of one aggregate is refused in the function of another", async () => {
  const id = await series(ramp([1, 4, 9]));
  const aliases = [{ alias: "a", id, aggregate: "max", granularity: "1s" }];
  for (const ask of [server.ask.v05, server.ask.v06]) {
    const item = { name: "r", function: "1 + min([a])", aliases };
    const { status, error } = await ask("POST /timeseries/dataquery", { items: [item], ...wide });
    assert.equal(status, 400);
    assert.match(error!.message, /expected an alias of the aggregate min, or of none, .* but got \[a\]$/);
  }
  assert.equal((await calculate({ function: "max([a])", aliases })).status, 200);
});

test("a hundred thousand results are streamed whole", async () => {
  const points = Array.from({ length: 30_000 }, (_, i) => ({ timestamp: i * 10, value: i }));
  const [a, b] = [
    await series(points),
    await series(points.map(({ timestamp }) => ({ timestamp: timestamp + 5, value: 1 }))),
  ];
  const found = pointsOf(await calculate({ function: `[${a}] * [${b}]`, limit: 100_000 }));
  assert.equal(found.length, 59_998);
  assert.ok(found.every(([timestamp, value]) => value === timestamp / 10));
});

test("a function that a filter names is calculated over OData, page by page", async () => {
  const ask = odataOf(server);
  const id = await series(ramp(Array.from({ length: 12_000 }, (_, i) => i)));
  const set = `DataPointsSynthetic?$filter=Id eq '2*[${id}]'`;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
  const range = `TimeStamp ge ${time(3)} and TimeStamp lt ${time(5)}`;
  const result = (seconds: number) => ({
    ...{ Id: `2*[${id}]`, TimeStamp: time(seconds) },
    ...{ Value: 2 * seconds, Error: null },
  });
  assert.deepEqual((await ask(`${set} and ${range}`)).items, [result(3), result(4)]);
  const all = await allItems(ask, `${set}&$select=Value`);
  assert.deepEqual(
    all.map(({ Value }) => Value),
    Array.from({ length: 12_000 }, (_, i) => 2 * i),
  );
  assert.equal((await ask(`DataPointsSynthetic/$count?$filter=Id eq '2*[${id}]' and ${range}`)).text, "2");
  const refused = await ask("DataPointsSynthetic?$filter=Id eq '2*['");
  assert.deepEqual([refused.status, refused.items], [400, []]);
  assert.match(refused.message!, /at character 3 but got \[/);
});

interface Sampled {
  readonly points: readonly (readonly [timeMs: number, value: number])[];
  readonly isStep: boolean;
}

/** The value of a series at a time, from all of its points. */
function naiveValue({ points, isStep }: Sampled, timeMs: number): number {
  const before = points.findLast(([time]) => time <= timeMs);
  const next = points.find(([time]) => time >= timeMs);
  if (!before) return Number.NaN;
  if (before[0] === timeMs || isStep) return before[1];
  if (!next) return Number.NaN;
  return before[1] + ((next[1] - before[1]) * (timeMs - before[0])) / (next[0] - before[0]);
}

const time = fc.integer({ min: -50, max: 300 }).map((n) => n * 100);
const sampled = fc.record({
  points: fc
    .uniqueArray(fc.tuple(time, fc.integer({ min: -1000, max: 1000 })), {
      selector: ([at]) => at,
      maxLength: 40,
    })
    .map((points) => points.toSorted(([a], [b]) => a - b)),
  isStep: fc.boolean(),
  granularity: fc.option(fc.constantFrom("1s", "3s", "1m"), { nil: undefined }),
});

/** The maximum of each bucket that has one, in the range and far around it. */
function maxima({ points, isStep }: Sampled, granularity: string, startMs: number): Sampled {
  const { bucketMs, unitMs } = parseGranularity(granularity, limits.granularityDaysMax)!;
  const { startMs: from } = wholeBuckets({ startMs, endMs: startMs + 1 }, { bucketMs, unitMs });
  const farMs = 10 * 60_000;
  const series = { times: points.map(([at]) => at), values: points.map(([, value]) => value) };
  const around = { startMs: from - farMs, endMs: from + farMs, bucketMs, limit: 10_000 };
  const found = naiveAggregate(series, { ...around, isStep, aggregates: ["max"] });
  return { points: Array.from(found.times, (at, i) => [at, found.columns[0]![i]!]), isStep };
}

test("random series, raw and aggregated, are combined as a naive evaluator says", async () => {
  const leaves = fc.array(sampled, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      leaves,
      fc.tuple(time, time),
      fc.integer({ min: 0, max: 60 }),
      async (all, ends, limit) => {
        const [start, end] = ends.toSorted((a, b) => a - b) as [number, number];
        const ids = await Promise.all(
          all.map(({ points, isStep }) =>
            series(
              points.map(([timestamp, value]) => ({ timestamp, value })),
              { isStep },
            ),
          ),
        );
        const aliases = all.map(({ granularity }, i) => ({
          alias: `l${i}`,
          id: ids[i],
          ...(granularity && { aggregate: "max", granularity }),
        }));
        const text = aliases.map(({ alias }, i) => `${i + 1} * [${alias}]`).join(" + ");
        const found = pointsOf(await calculate({ function: text, aliases }, { start, end, limit }));
        const known = all.map((one) => (one.granularity ? maxima(one, one.granularity, start) : one));
        const times = [...new Set(known.flatMap(({ points }) => points.map(([at]) => at)))];
        const expected = times
          .filter((at) => at >= start && at < end)
          .toSorted((a, b) => a - b)
          .map((at) => [at, known.reduce((sum, one, i) => sum + (i + 1) * naiveValue(one, at), 0)] as const)
          .filter(([, value]) => !Number.isNaN(value))
          .slice(0, limit);
        assert.deepEqual(
          found.map(([at]) => at),
          expected.map(([at]) => at),
        );
        for (const [i, [at, value]] of expected.entries())
          assert.ok(
            Math.abs((found[i]![1] as number) - value) <= 1e-9 * Math.max(1, Math.abs(value)),
            `at ${at}`,
          );
      },
    ),
    { numRuns: 100 },
  );
});

test("what cannot be calculated is refused, naming what is wrong", async () => {
  const numbers = await series(ramp([1]));
  const strings = await series([{ timestamp: 0, value: "open" }], { isString: true });
  const a = { alias: "a", id: numbers };
  const withAlias = (sent: object) => ({ function: "[a]", aliases: [{ ...a, ...sent }] });
  const cases: [item: object, field: string, expected: string, got: string][] = [
    [
      { function: "1+1" },
      "function",
      "a series in square brackets, as in [123] or [alias] at character 1",
      "none",
    ],
    [
      { function: "[x]" },
      "function",
      "an alias of this item or the id of a series in square brackets",
      "[x]",
    ],
    [
      { function: `avg([${numbers}])` },
      "function",
      "an alias with an aggregate and a granularity, as functions apply to aggregates,",
      `[${numbers}]`,
    ],
    [
      { function: "avg([a] + [a])", aliases: [a] },
      "function",
      "avg of one series, as in avg([a]) + avg([b]), at character 1",
      "a combined expression",
    ],
    [{ function: `[${strings}]` }, "function", "series of numbers", `s${count}, which has strings`],
    [{ function: "[a]", aliases: [a, a] }, "aliases[1].alias", "a name of its own", "a"],
    [
      withAlias({ aggregate: "most", granularity: "1h" }),
      "aliases[0].aggregate",
      `one of ${aggregateNames.join(", ")}`,
      "most",
    ],
    [
      withAlias({ granularity: "1w" }),
      "aliases[0].granularity",
      "d, h, m or s, or a multiple such as 12h of at most 100000 days",
      "1w",
    ],
    [{ aliases: [a] }, "aliases", "a function that names them", "a"],
    [
      { ...withAlias({}), aggregates: "avg" },
      "aggregates",
      "nothing beside a function, whose aliases name aggregates,",
      "average",
    ],
  ];
  for (const [item, field, expected, got] of cases) {
    const { status, error } = await calculate(item);
    assert.equal(status, 400);
    assert.equal(error?.message, `Invalid field - items[0].${field} - expected ${expected} but got ${got}`);
  }
});

test("an error has the position in the expression, also of an alias that it cannot use", async () => {
  const numbers = await series(ramp([1]));
  const strings = await series([{ timestamp: 0, value: "open" }], { isString: true });
  const aliases = [{ alias: "a", id: numbers }];
  const cases: [text: string, position: number | undefined][] = [
    ["([a] + 1", 9],
    ["1 + [a] + [x]", 11],
    ["1 + sqrt([a])", 10],
    [`[a] * [${strings}]`, 7],
    [`[a] + ${" ".repeat(5_000)}1`, undefined],
  ];
  for (const [text, position] of cases) {
    const { status, error } = await calculate({ function: text, aliases });
    assert.deepEqual([status, error?.["position"]], [400, position], text);
  }
});

test("what a calculation lacks is named, and series that do not exist are not found", async () => {
  const a = { alias: "a", id: await series(ramp([1])) };
  const withAlias = (sent: object) => ({ function: "[a]", aliases: [{ ...a, ...sent }] });
  const missing: [item: object, field: string][] = [
    [withAlias({ aggregate: "avg" }), "items[0].aliases[0].granularity"],
    [withAlias({ id: undefined }), "items[0].aliases[0].id"],
    [{ function: "[a]", name: undefined }, "items[0].name"],
  ];
  for (const [item, field] of missing) {
    const { status, error } = await calculate(item);
    assert.deepEqual([status, error?.["missingFields"]], [400, [field]]);
  }
  const unknown = await calculate({ function: `[${a.id}] + [77]` });
  assert.deepEqual([unknown.status, unknown.error?.["notFound"]], [404, [77]]);
});
