// Aggregates of days, months and other buckets of time zones, over REST and OData, compared with a naive walk
// over the clock and with the naive aggregates of each bucket.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { clockOf, naiveBucketStarts, naiveMonthStarts } from "../../../test/support/naive-buckets.ts";
import { type AskOData, odataOf } from "../../../test/support/odata.ts";
import { runs } from "../../../test/support/proof.ts";
import {
  type Item,
  startTestServer,
  type TestResponse,
  type TestServer,
} from "../../../test/support/server.ts";
import { type NaiveSeries, naiveAggregate } from "../../storage/conformance/naive-aggregate.ts";
import { aggregateNames } from "../../storage/points.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

let server: TestServer;
let odata: AskOData;
let count = 0;

before(async () => {
  server = await startTestServer();
  odata = odataOf(server);
});
after(() => server.close());

interface Length {
  readonly unit: "m" | "h" | "d" | "w" | "mo" | "y";
  readonly times: number;
}

const unitMs = { m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs, mo: 30 * dayMs, y: 365 * dayMs };

const lengths = fc.oneof(
  fc.record({ unit: fc.constant("m" as const), times: fc.constantFrom(15, 30, 60) }),
  fc.record({ unit: fc.constantFrom("h" as const, "d" as const), times: fc.integer({ min: 1, max: 26 }) }),
  fc.record({ unit: fc.constantFrom("d" as const, "mo" as const), times: fc.constantFrom(1, 1, 2, 3, 7) }),
  fc.record({ unit: fc.constant("w" as const), times: fc.constantFrom(1, 1, 2) }),
  fc.record({ unit: fc.constant("y" as const), times: fc.constantFrom(1, 2) }),
) as fc.Arbitrary<Length>;

const scenario = fc.record({
  timeZone: fc.constantFrom(
    ...["UTC", "Europe/Oslo", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns"],
    "Asia/Beirut",
  ),
  length: lengths,
  /** The clocks of most zones change within some days of these. */
  near: fc.constantFrom("2018-03-25", "2018-11-04", "2019-02-17", "2020-04-05", "2022-10-02", "2023-10-29"),
  before: fc.integer({ min: 0, max: 40 * 96 }),
  buckets: fc.integer({ min: 1, max: 12 }),
  points: fc.array(
    fc.record({
      at: fc.double({ min: -0.2, max: 1.2, noNaN: true }),
      value: fc.integer({ min: -99, max: 99 }),
    }),
    { maxLength: 30 },
  ),
  isStep: fc.boolean(),
  limit: fc.constantFrom(1, 3, 1_000),
});

/** The starts of the naive buckets, and the end of the last one. */
function naiveBounds(
  { startMs, endMs }: { startMs: number; endMs: number },
  { unit, times }: Length,
  { timeZone, isFromStart }: { timeZone: string; isFromStart: boolean },
): number[] {
  const shown = clockOf(timeZone)(startMs);
  const laterMs = endMs + 2 * times * unitMs[unit] + 40 * dayMs;
  const grid = { timeZone };
  if (unit === "mo" || unit === "y") {
    const perUnit = unit === "y" ? 12 : 1;
    const [year, month] = [new Date(shown).getUTCFullYear() - 1970, new Date(shown).getUTCMonth()];
    const offsetMonths = isFromStart ? year * 12 + (unit === "y" ? 0 : month) : 0;
    const starts = naiveMonthStarts(startMs, laterMs, { ...grid, months: times * perUnit, offsetMonths });
    return starts.slice(0, starts.findIndex((one) => one >= endMs) + 1);
  }
  const offsetMs = offsetOf(shown, unit, isFromStart);
  const starts = naiveBucketStarts(startMs, laterMs, { ...grid, lengthMs: times * unitMs[unit], offsetMs });
  return starts.slice(0, starts.findIndex((one) => one >= endMs) + 1);
}

/** A time on the clock at which a bucket starts. */
function offsetOf(shown: number, unit: "m" | "h" | "d" | "w", isFromStart: boolean): number {
  if (unit !== "w") return isFromStart ? Math.floor(shown / unitMs[unit]) * unitMs[unit] : 0;
  let day = isFromStart ? Math.floor(shown / dayMs) * dayMs : 6 * dayMs;
  while (new Date(day).getUTCDay() !== 1) day -= dayMs;
  return day;
}

function naiveRows(series: NaiveSeries, bounds: readonly number[], isStep: boolean): Item[] {
  return bounds.slice(0, -1).flatMap((startMs, at) => {
    const endMs = bounds[at + 1]!;
    const bucket = { startMs, endMs, bucketMs: endMs - startMs, limit: 1 };
    const { times, columns } = naiveAggregate(series, { ...bucket, isStep, aggregates: aggregateNames });
    if (times.length === 0) return [];
    const values = aggregateNames.map((name, i) => [name, columns[i]![0]!] as const);
    const present = values.filter(([, value]) => !Number.isNaN(value));
    return [{ timestamp: startMs, ...Object.fromEntries(present) }];
  });
}

function assertRows(found: readonly Item[], expected: readonly Item[], what: string): void {
  const timesOf = (rows: readonly Item[]) =>
    rows.map(({ timestamp }) => new Date(timestamp as number).toISOString());
  assert.deepEqual(timesOf(found), timesOf(expected), what);
  for (const [at, row] of expected.entries()) {
    assert.deepEqual(Object.keys(found[at]!).sort(), Object.keys(row).sort(), what);
    for (const [name, value] of Object.entries(row)) {
      const got = found[at]![name] as number;
      const tolerance = 1e-9 * Math.max(1, Math.abs(value as number));
      assert.ok(Math.abs(got - (value as number)) <= tolerance, `${what} ${name}: ${got} is not ${value}`);
    }
  }
}

/** The rows of all responses that `Link` leads to. */
async function allRows(request: string, rowsOf: (response: TestResponse) => readonly Item[], body?: unknown) {
  const method = request.split(" ")[0]!;
  let response = await server.ask.v06(request, body);
  const rows: Item[] = [];
  for (;;) {
    assert.equal(response.status, 200, response.text);
    rows.push(...rowsOf(response));
    const [, next] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
    if (!next) return rows;
    const { pathname, search } = new URL(next, server.baseUrl);
    response = await server.ask.root(`${method} ${pathname}${search}`, body);
  }
}

const pointsIn = ({ items }: TestResponse) => items[0]!["datapoints"] as Item[];

function frameRows({ text }: TestResponse): Item[] {
  return text
    .split("\n")
    .slice(1, -1)
    .map((line) => {
      const members = line
        .split(",")
        .map((cell, at) => [["timestamp", ...aggregateNames][at]!, cell] as const);
      return Object.fromEntries(members.flatMap(([name, cell]) => (cell ? [[name, Number(cell)]] : [])));
    });
}

const member = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

async function odataRows(call: string): Promise<Item[]> {
  const response = await odata(call);
  assert.equal(response.status, 200, response.text);
  const { value } = response.json as { value: Item[] };
  return value.map((row) => {
    const values = aggregateNames.map((name) => [name, row[member(name)]]);
    const present = values.filter(([, one]) => one !== null && one !== undefined);
    return { timestamp: Date.parse(row["TimeStamp"] as string), ...Object.fromEntries(present) };
  });
}

test("buckets of random time zones and lengths, over REST and OData", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ timeZone, length, isStep, limit, ...one }) => {
      count += 1;
      const name = `zoned-${count}`;
      const made = await server.ask.v06("POST /timeseries", { items: [{ name, isStep }] });
      const startMs = Date.parse(one.near) - one.before * 15 * minuteMs;
      // The naive walk over more than some years is slow.
      const endMs = startMs + Math.min(one.buckets * length.times * unitMs[length.unit], 900 * dayMs);
      const pointMs = (at: number) => Math.round(startMs + at * (endMs - startMs));
      const byTime = new Map(one.points.map(({ at, value }) => [pointMs(at), value]));
      const sorted = [...byTime].toSorted(([a], [b]) => a - b);
      const series = { times: sorted.map(([time]) => time), values: sorted.map(([, value]) => value) };
      const items = sorted.map(([timestamp, value]) => ({ timestamp, value }));
      await server.ask(`POST /timeseries/data/${name}`, { items });

      const rowsFor = (isFromStart: boolean) =>
        naiveRows(series, naiveBounds({ startMs, endMs }, length, { timeZone, isFromStart }), isStep);
      const expected = rowsFor(true);
      const granularity = `${length.times}${length.unit}`;
      const options = { start: startMs, end: endMs, granularity, timeZone, limit };
      const query = new URLSearchParams(
        Object.entries({ ...options, aggregates: aggregateNames.join() }).map(([k, v]) => [k, String(v)]),
      );
      assertRows(await allRows(`GET /timeseries/data/${name}?${query}`, pointsIn), expected, "single series");
      const body = { items: [{ name }], ...options, aggregates: aggregateNames };
      assertRows(await allRows("POST /timeseries/dataquery", pointsIn, body), expected, "several series");
      assertRows(await allRows("POST /timeseries/dataframe", frameRows, body), expected, "frame");

      const iso = (timeMs: number) => new Date(timeMs).toISOString();
      const zone = encodeURIComponent(timeZone);
      const range = `Start=${iso(startMs)},End=${iso(endMs)}`;
      const common = `${range},Granularity='${granularity}',TimeZone='${zone}'`;
      // OData leaves out buckets without points.
      const aligned = rowsFor(false).filter((row) => (row["count"] as number) > 0);
      const bound = await odataRows(`Timeseries('${made.items[0]!["id"]}')/Aggregate(${common})`);
      assertRows(bound, aligned, "Aggregate");
      assertRows(
        await odataRows(`TimeseriesAggregate(Tags='${name}',${common})`),
        aligned,
        "TimeseriesAggregate",
      );
    }),
    runs(15, 400),
  );
});

test("months without a time zone are months of UTC, also years from 1970 on", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "monthly" }] });
  const items = ["2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "2024-02-29T12:00:00Z"].map(
    (text, value) => ({
      timestamp: Date.parse(text),
      value,
    }),
  );
  await server.ask("POST /timeseries/data/monthly", { items });
  const counts = async (query: string) => {
    const response = await server.ask.v06(`GET /timeseries/data/monthly?aggregates=count&${query}`);
    return pointsIn(response).map(({ timestamp, count }) => [
      new Date(timestamp as number).toISOString(),
      count,
    ]);
  };
  assert.deepEqual(await counts("granularity=1mo"), [
    ["2023-12-01T00:00:00.000Z", 1],
    ["2024-01-01T00:00:00.000Z", 1],
    ["2024-02-01T00:00:00.000Z", 1],
  ]);
  assert.deepEqual(await counts("granularity=year"), [
    ["2023-01-01T00:00:00.000Z", 1],
    ["2024-01-01T00:00:00.000Z", 2],
  ]);
  assert.deepEqual(await counts("granularity=1y&timeZone=Europe/Oslo"), [["2023-12-31T23:00:00.000Z", 3]]);
  assert.deepEqual(await counts("granularity=1mo&start=-8640000000000001&end=9007199254740991"), [
    ["2023-12-01T00:00:00.000Z", 1],
    ["2024-01-01T00:00:00.000Z", 1],
    ["2024-02-01T00:00:00.000Z", 1],
  ]);
});

test("unknown time zones, zones without aggregates, and weeks before 0.6 are refused", async () => {
  await server.ask("POST /timeseries", { items: [{ name: "refused" }] });
  const single = "GET /timeseries/data/refused?";
  const refused = (response: TestResponse, pattern: RegExp) => {
    assert.equal(response.status, 400, response.text);
    assert.match(response.error!.message, pattern);
  };
  const days = "aggregates=avg&granularity=1d";
  refused(await server.ask.v06(`${single}${days}&timeZone=Mars/Olympus`), /timeZone.*IANA.*Mars\/Olympus/);
  refused(await server.ask.v06(`${single}timeZone=Europe/Oslo`), /aggregates/);
  refused(await server.ask.v06(`${single}aggregates=avg&granularity=0mo`), /granularity/);
  refused(await server.ask.v06(`${single}aggregates=avg&granularity=0w`), /granularity/);
  refused(await server.ask.v06(`${single}aggregates=avg&granularity=50001w`), /granularity/);
  refused(await server.ask.v06(`${single}aggregates=avg&granularity=99999mo`), /granularity/);
  const months = { items: [{ name: "refused", granularity: "1mo" }], aggregates: "avg" };
  for (const ask of [server.ask.v04, server.ask.v05]) {
    refused(await ask(`${single}${days}&timeZone=Europe/Oslo`), /timeZone.*0\.6/);
    refused(await ask(`${single}aggregates=avg&granularity=1mo`), /granularity.*0\.6/);
    refused(await ask(`${single}aggregates=avg&granularity=2week`), /granularity.*0\.6/);
    refused(await ask("POST /timeseries/dataquery", months), /items\[0\]\.granularity.*0\.6/);
    const frame = { items: [{ name: "refused" }], aggregates: "avg", granularity: "1d", timeZone: "UTC" };
    refused(await ask("POST /timeseries/dataframe", frame), /timeZone.*0\.6/);
  }
  const zoned = { items: [{ name: "refused", function: "[1]", timeZone: "UTC" }] };
  refused(await server.ask.v06("POST /timeseries/dataquery", zoned), /items\[0\]\.timeZone/);
  const range = "Start=2024-01-01T00:00:00Z,End=2024-02-01T00:00:00Z";
  for (const wrong of ["Granularity='1d',TimeZone='Mars%2FOlympus'", "Granularity='1fortnight'"]) {
    const response = await odata(`TimeseriesAggregate(Tags='refused',${range},${wrong})`);
    assert.equal(response.status, 400, response.text);
  }
});
