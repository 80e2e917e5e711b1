// Random SELECT statements on a real server, compared with a naive evaluation over all points.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { naiveBucketStarts } from "../../../test/support/naive-buckets.ts";
import { startTestServer, type TestServer, withFront } from "../../../test/support/server.ts";
import { naiveAggregate } from "../../storage/conformance/naive-aggregate.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer(withFront);
  await write();
});
after(() => server.close());

const quarterMs = 15 * 60_000;
const dayMs = 96 * quarterMs;
/** Clocks go back in Europe on October 29 and in St. John's on November 5. */
const startMs = Date.UTC(2023, 9, 20);
const spanMs = 20 * dayMs;
const hosts = ["a", "b", "c"];

interface Point {
  readonly timeMs: number;
  readonly host: string;
  readonly x: number;
  readonly y: number | undefined;
}

/** No two points have the same time, so that first and last points are defined. */
const points: readonly Point[] = hosts.flatMap((host, h) => {
  const random = randomFrom(h + 1);
  const times = Array.from({ length: 150 }, () => Math.floor((random() * spanMs) / 30_000) * 30_000 + h);
  return [...new Set(times)].map((offset) => ({
    timeMs: startMs + offset,
    host,
    x: Math.round(random() * 1000) / 8,
    y: random() < 0.5 ? Math.round(random() * 100) : undefined,
  }));
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

async function write(): Promise<void> {
  const lines = points.map(
    ({ host, x, y, timeMs }) => `m,host=${host} x=${x}${y === undefined ? "" : `,y=${y}`} ${timeMs}`,
  );
  const response = await fetch(`${server.baseUrl}/write?precision=ms`, {
    method: "POST",
    headers: { "api-key": server.key },
    body: lines.join("\n"),
  });
  assert.equal(response.status, 204);
}

type Cell = number | string | null;

interface Series {
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly Cell[])[];
}

async function query(q: string): Promise<readonly Series[]> {
  const parameters = new URLSearchParams({ q, epoch: "ms", db: "any" });
  const response = await fetch(`${server.baseUrl}/query?${parameters}`, {
    headers: { "api-key": server.key },
  });
  const { results } = (await response.json()) as {
    readonly results: readonly [{ readonly series?: readonly Series[]; readonly error?: string }];
  };
  assert.equal(results[0].error, undefined, q);
  return results[0].series ?? [];
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

type Values = readonly number[];

/** Over the values in order of time: at least one. */
const functions: Readonly<Record<string, (values: Values) => number | null>> = {
  count: (values) => values.length,
  sum,
  mean,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  spread: (values) => Math.max(...values) - Math.min(...values),
  first: (values) => values[0]!,
  last: (values) => values.at(-1)!,
  stddev: (values) =>
    values.length < 2
      ? null
      : Math.sqrt(sum(values.map((one) => (one - mean(values)) ** 2)) / (values.length - 1)),
};

interface Case {
  readonly names: readonly string[];
  readonly field: "x" | "y";
  readonly isGrouped: boolean;
  readonly timeZone: string;
  readonly lengthMs: number;
  readonly offsetMs: number;
  readonly range: readonly [startMs: number, endMs: number];
  readonly fill: string;
  readonly isDescending: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly hosts: readonly string[];
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    names: fc.uniqueArray(fc.constantFrom(...Object.keys(functions)), { minLength: 1, maxLength: 4 }),
    field: fc.constantFrom("x", "y"),
    isGrouped: fc.boolean(),
    timeZone: fc.constantFrom("UTC", "Europe/Oslo", "America/St_Johns", "Asia/Kolkata"),
    quarters: fc.constantFrom(1, 2, 3, 4, 7, 24, 28, 96, 192, 672),
    offset: fc.integer({ min: -100, max: 100 }),
    from: fc.integer({ min: -dayMs, max: spanMs }),
    length: fc.integer({ min: 1, max: 6 * dayMs }),
    fill: fc.constantFrom("null", "none", "previous", "linear", "7.5"),
    isDescending: fc.boolean(),
    limit: fc.constantFrom(0, 1, 5, 1000),
    skip: fc.constantFrom(0, 0, 2),
    hosts: fc.subarray(hosts, { minLength: 1 }),
  })
  .map(({ quarters, offset, from, length, skip, field, ...rest }) => ({
    ...rest,
    field: field as "x" | "y",
    offset: skip,
    lengthMs: quarters * quarterMs,
    offsetMs: (offset % quarters) * quarterMs,
    range: [startMs + from, startMs + from + length],
  }));

function textOf(one: Case): string {
  const [from, to] = one.range;
  const list = one.names.map((name) => `${name}("${one.field}")`).join(", ");
  const among = one.hosts.map((host) => `"host" = '${host}'`).join(" OR ");
  const time = `time(${one.lengthMs}ms, ${one.offsetMs}ms)`;
  return [
    `SELECT ${list} FROM "m" WHERE (${among}) AND time >= ${from}ms AND time < ${to}ms`,
    `GROUP BY ${one.isGrouped ? `${time}, "host"` : time} fill(${one.fill})`,
    one.isDescending ? "ORDER BY time DESC" : "",
    one.limit > 0 ? `LIMIT ${one.limit}` : "",
    one.offset > 0 ? `OFFSET ${one.offset}` : "",
    `tz('${one.timeZone}')`,
  ].join(" ");
}

/** The points of the group and of the range that have the field. */
function pointsOf({ field, range: [from, to], hosts: among }: Case, group: readonly string[]) {
  return points
    .filter(
      ({ host, timeMs }) => group.includes(host) && among.includes(host) && timeMs >= from && timeMs < to,
    )
    .map((point) => ({ timeMs: point.timeMs, value: point[field] }))
    .filter((point): point is { timeMs: number; value: number } => point.value !== undefined)
    .sort((a, b) => a.timeMs - b.timeMs);
}

function naive(one: Case): Series[] {
  const groups = one.isGrouped ? hosts.map((host) => [host]) : [hosts];
  return groups.flatMap((group) => {
    const inGroup = pointsOf(one, group);
    if (inGroup.length === 0) return [];
    const starts = naiveBucketStarts(...one.range, one);
    const valuesAt = starts.map((start, at) =>
      inGroup
        .filter(({ timeMs }) => timeMs >= start && timeMs < (starts[at + 1] ?? Number.POSITIVE_INFINITY))
        .map(({ value }) => value),
    );
    const columns = one.names.map((name) =>
      fill(
        valuesAt.map((values) => (values.length === 0 ? null : functions[name]!(values))),
        one.fill === "null" && name === "count" ? "0" : one.fill,
      ),
    );
    const rows = starts.map((start, at) => [start, ...columns.map((column) => column[at]!)]);
    const kept =
      one.fill === "none" ? rows.filter(([, ...cells]) => cells.some((cell) => cell !== null)) : rows;
    const ordered = one.isDescending ? kept.toReversed() : kept;
    const values = ordered.slice(one.offset, one.limit > 0 ? one.offset + one.limit : undefined);
    if (values.length === 0) return [];
    const tags = one.isGrouped ? { tags: { host: group[0]! } } : {};
    return [{ name: "m", ...tags, columns: ["time", ...one.names], values }];
  });
}

function fill(cells: readonly (number | null)[], how: string): (number | null)[] {
  if (how === "null" || how === "none") return [...cells];
  return cells.map((cell, at) => {
    if (cell !== null) return cell;
    const before = cells.findLastIndex((other, i) => i < at && other !== null);
    const next = cells.findIndex((other, i) => i > at && other !== null);
    if (how === "previous") return before < 0 ? null : cells[before]!;
    if (how !== "linear") return Number(how);
    if (before < 0 || next < 0) return null;
    return cells[before]! + ((cells[next]! - cells[before]!) / (next - before)) * (at - before);
  });
}

/** Numbers differ by rounding. */
function assertSame(found: readonly Series[], expected: readonly Series[], message: string): void {
  const shape = (all: readonly Series[]) =>
    all.map(({ values, ...rest }) => ({
      ...rest,
      values: values.map((row) =>
        row.map((cell, at) => (at > 0 && typeof cell === "number" ? "number" : cell)),
      ),
    }));
  assert.deepEqual(shape(found), shape(expected), message);
  for (const [at, { values }] of expected.entries())
    for (const [row, cells] of values.entries())
      for (const [column, cell] of cells.entries()) {
        const got = found[at]!.values[row]![column];
        if (typeof cell === "number" && typeof got === "number")
          assert.ok(
            Math.abs(got - cell) <= 1e-9 * Math.max(1, Math.abs(cell)),
            `${message}: ${got} is not ${cell}`,
          );
      }
}

test("aggregates of buckets on the clock of a zone are those of the points in them", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const text = textOf(one);
      assertSame(await query(text), naive(one), text);
    }),
    { numRuns: 150 },
  );
});

test("aggregates over time are those of the definitions, in each bucket", async () => {
  const series = points.filter(({ host }) => host === "a").sort((a, b) => a.timeMs - b.timeMs);
  const columns = { times: series.map(({ timeMs }) => timeMs), values: series.map(({ x }) => x) };
  const [from, to] = [startMs + dayMs / 3, startMs + 12 * dayMs];
  const text =
    "SELECT average(x), integral(x, 1h), totalVariation(x) FROM m WHERE host = 'a' AND " +
    `time >= ${from}ms AND time < ${to}ms GROUP BY time(1d) fill(none) tz('Europe/Oslo')`;
  const starts = naiveBucketStarts(from, to, { timeZone: "Europe/Oslo", lengthMs: dayMs, offsetMs: 0 });
  const values = starts.flatMap((start, at) => {
    const bucket = { startMs: Math.max(from, start), endMs: starts[at + 1] ?? to };
    const aggregates = ["average", "totalVariation", "definedMs"] as const;
    const bucketMs = bucket.endMs - bucket.startMs;
    const found = naiveAggregate(columns, { ...bucket, bucketMs, isStep: false, limit: 1, aggregates });
    const [average, variation, definedMs] = found.columns.map(([value]) => value);
    return average === undefined ? [] : [[start, average, (average * definedMs!) / 3_600_000, variation!]];
  });
  assert.ok(values.length > 8);
  const names = ["time", "average", "integral", "totalvariation"];
  assertSame(await query(text), [{ name: "m", columns: names, values } as Series], text);
});

test("rows of points are merged by time, filtered, ordered and limited", async () => {
  const sorted = points.toSorted((a, b) => a.timeMs - b.timeMs);
  const rows = fc.record({
    from: fc.integer({ min: 0, max: spanMs }),
    length: fc.integer({ min: 1, max: spanMs }),
    isDescending: fc.boolean(),
    limit: fc.constantFrom(1, 3, 100, 1000),
    offset: fc.constantFrom(0, 5),
    above: fc.option(fc.integer({ min: 0, max: 125 })),
    isGrouped: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(rows, async ({ from, length, isDescending, limit, offset, above, isGrouped }) => {
      const [start, end] = [startMs + from, startMs + from + length];
      const text =
        `SELECT x, y, host FROM m WHERE time >= ${start}ms AND time < ${end}ms` +
        `${above === null ? "" : ` AND (x > ${above} OR y = 50)`}${isGrouped ? " GROUP BY host" : ""}` +
        `${isDescending ? " ORDER BY time DESC" : ""} LIMIT ${limit} OFFSET ${offset}`;
      const among = sorted
        .filter(({ timeMs }) => timeMs >= start && timeMs < end)
        .filter(({ x, y }) => above === null || x > above || y === 50);
      const ordered = isDescending ? among.toReversed() : among;
      const expected = (isGrouped ? hosts : [undefined]).flatMap((host) => {
        const ofGroup = ordered.filter((point) => host === undefined || point.host === host);
        const values = ofGroup
          .slice(offset, offset + limit)
          .map((point) => [point.timeMs, point.x, point.y ?? null, point.host]);
        const tags = host === undefined ? {} : { tags: { host } };
        return values.length === 0
          ? []
          : [{ name: "m", ...tags, columns: ["time", "x", "y", "host"], values }];
      });
      assert.deepEqual(await query(text), expected, text);
    }),
    { numRuns: 100 },
  );
});
