// Datapoints over REST: writes, reads of every kind and version, deletes (docs/reference/datapoints.md).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import protobuf from "protobufjs";
import { startTestServer, type TestResponse, type TestServer } from "../../../test/support/server.ts";
import { realSystem } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import { aggregateNames } from "../../storage/points.ts";

const nowMs = Date.UTC(2026, 5, 1, 12);
const hour = 3_600_000;

let server: TestServer;
let count = 0;

before(async () => {
  server = await startTestServer({
    system: { ...realSystem, nowMs: () => nowMs },
  });
});
after(() => server.close());

interface Series {
  readonly name: string;
  readonly id: number;
}

/** A new series, by default of numbers. */
async function series(kind: { isString?: boolean; isStep?: boolean; name?: string } = {}): Promise<Series> {
  count += 1;
  const name = `${kind.name ?? "series"}-${count}`;
  const made = await server.ask.v06("POST /timeseries", { items: [{ ...kind, name }] });
  return { name, id: made.items[0]!["id"] as number };
}

const point = (timestamp: number, value: number | string) => ({ timestamp, value });
const path = ({ name }: Series) => `/timeseries/data/${encodeURIComponent(name)}`;
const write = (to: Series, points: readonly object[]) => server.ask(`POST ${path(to)}`, { items: points });
const pointsOf = (response: TestResponse) => response.items[0]!["datapoints"] as Record<string, number>[];
const read = async (from: Series, query = "") => pointsOf(await server.ask(`GET ${path(from)}?${query}`));

async function filled(points: readonly object[], kind = {}): Promise<Series> {
  const made = await series(kind);
  assert.deepEqual((await write(made, points)).json, {});
  return made;
}

test("points come back as written, in every version, by name and by id", async () => {
  const points = [
    point(-5, 1.5),
    point(0, -0.25),
    point(1000, 84.12345678901234),
    point(2000, 1e-9),
    point(3000, 3),
  ];
  const made = await filled(points, { name: "plant/unit 1+2 ø%" });
  const { ask } = server;
  const query = "?start=-10&end=5000";
  assert.deepEqual((await ask.v04(`GET ${path(made)}${query}`)).items, [
    { tagId: made.name, datapoints: points },
  ]);
  for (const version of [ask.v05, ask.v06]) {
    const expected = [{ name: made.name, datapoints: points }];
    assert.deepEqual((await version(`GET ${path(made)}${query}`)).items, expected);
    assert.deepEqual((await version(`GET /timeseries/${made.id}/data${query}`)).items, expected);
  }
});

test("minus zero comes back as such from every read of points, and is no time", async () => {
  const made = await series();
  await server.ask(`POST ${path(made)}`, '{"items":[{"timestamp":1,"value":-0}]}');
  const minusZero = /"timestamp":1,"value":-0}/;
  for (const [version, path] of [
    ["v04", `/timeseries/data/${made.name}`],
    ["v05", `/timeseries/latest/${made.name}`],
    ["v06", `/timeseries/${made.id}/latest`],
  ] as const)
    assert.match((await server.ask[version](`GET ${path}`)).text, minusZero);
  const many = await server.ask("POST /timeseries/dataquery", { items: [{ name: made.name }] });
  assert.match(many.text, minusZero);
  await server.ask(`POST ${path(made)}`, '{"items":[{"timestamp":-0,"value":1}]}');
  assert.match((await server.ask(`GET ${path(made)}`)).text, /"timestamp":0,"value":1}/);
});

test("series may be called like a part of a path", async () => {
  for (const name of ["data", "latest", "deletesingle", "byids"]) {
    await server.ask("POST /timeseries", { items: [{ name }] });
    await server.ask(`POST /timeseries/data/${name}`, { items: [point(1, 1), point(2, 2)] });
    await server.ask(`DELETE /timeseries/data/${name}/deletesingle?timestamp=2`);
    assert.deepEqual((await server.ask(`GET /timeseries/data/${name}`)).items, [
      { name, datapoints: [point(1, 1)] },
    ]);
    assert.deepEqual((await server.ask(`GET /timeseries/latest/${name}`)).items, [point(1, 1)]);
  }
});

test("writing by id, in 0.4 and 0.6, and packed with gzip", async () => {
  const made = await series();
  const { ask } = server;
  assert.deepEqual((await ask.v06(`POST /timeseries/${made.id}/data`, { items: [point(1, 1)] })).json, {});
  assert.deepEqual((await ask.v04(`POST ${path(made)}`, { items: [point(2, 2)] })).json, {});
  const packed = gzipSync(JSON.stringify({ items: [point(3, 3)] }));
  assert.equal((await ask(`POST ${path(made)}`, packed, { "content-encoding": "gzip" })).status, 200);
  assert.deepEqual(await read(made), [point(1, 1), point(2, 2), point(3, 3)]);
});

test("many series in one insert, named by name, tagId or id, one of them twice", async () => {
  const [a, b] = [await series(), await series({ isString: true })];
  const insert = {
    items: [
      { name: a.name, datapoints: [point(1, 1), point(2, 2)] },
      { tagId: b.name, datapoints: [point(1, "eins"), point(2, 'zw"ei\n')] },
      { id: a.id, datapoints: [point(2, 22), point(3, 3)] },
      { name: a.name, datapoints: [] },
    ],
  };
  for (const version of [server.ask.v04, server.ask.v05, server.ask.v06])
    assert.deepEqual((await version("POST /timeseries/data", insert)).json, {});
  assert.deepEqual(await read(a), [point(1, 1), point(2, 22), point(3, 3)]);
  assert.deepEqual(await read(b), [point(1, "eins"), point(2, 'zw"ei\n')]);
});

test("of equal times the last written wins, in one insert and over several", async () => {
  const made = await filled([point(5, 1), point(3, 1), point(5, 2), point(4, 1)]);
  assert.deepEqual(await read(made), [point(3, 1), point(4, 1), point(5, 2)]);
  await write(made, [point(3, 9)]);
  assert.deepEqual(await read(made), [point(3, 9), point(4, 1), point(5, 2)]);
});

test("an insert of nothing gets the usual response", async () => {
  const made = await filled([]);
  assert.deepEqual((await server.ask("POST /timeseries/data", { items: [] })).json, {});
  assert.deepEqual(await read(made), []);
});

const { root } = protobuf.parse(`
  syntax = "proto3";
  message S { int64 timestamp = 1; string value = 2; }
  message N { int64 timestamp = 1; double value = 2; }
  message Ss { repeated S points = 1; }
  message Ns { repeated N points = 1; }
  message One { oneof data { Ss stringData = 1; Ns numericData = 2; } }
  message Named { string name = 1; oneof data { Ss stringData = 2; Ns numericData = 3; } }
  message Many { repeated Named namedTimeseriesData = 1; }
`);
const encoded = (type: string, message: object) => {
  const found = root.lookupType(type);
  return Buffer.from(found.encode(found.fromObject(message)).finish());
};
const decoded = (response: TestResponse) => {
  const found = root.lookupType("One");
  return found.toObject(found.decode(response.bytes), { longs: Number, defaults: true, arrays: true });
};

test("protobuf in and out, numbers and strings", async () => {
  const [a, b] = [await series(), await series({ isString: true })];
  const numbers = [point(-1000, 0), point(0, 2.5), point(1000, -1)];
  const strings = [point(0, ""), point(7, "ø")];
  const message = encoded("Many", {
    namedTimeseriesData: [
      { name: a.name, numericData: { points: numbers } },
      { name: b.name, stringData: { points: strings } },
    ],
  });
  const isMessage = { "content-type": "application/protobuf" };
  assert.deepEqual((await server.ask("POST /timeseries/data", message, isMessage)).json, {});
  const one = encoded("One", { numericData: { points: [point(2000, 4)] } });
  assert.deepEqual((await server.ask(`POST ${path(a)}`, one, isMessage)).json, {});
  const headers = { accept: "application/protobuf" };
  const found = await server.ask(`GET ${path(a)}?start=-5000`, undefined, headers);
  assert.equal(found.headers.get("content-type"), "application/protobuf");
  assert.deepEqual(decoded(found)["numericData"], { points: [...numbers, point(2000, 4)] });
  assert.deepEqual(decoded(await server.ask.v04(`GET ${path(b)}`, undefined, headers))["stringData"], {
    points: strings,
  });
  assert.equal((await server.ask(`GET ${path(a)}?end=0`, undefined, headers)).bytes.length, 0);
  const aggregates = await server.ask(`GET ${path(a)}?aggregates=max&granularity=d`, undefined, headers);
  assert.deepEqual(pointsOf(aggregates), [{ timestamp: 0, max: 4 }]);
});

test("start is included, end is not; defaults are 0, now and 100 points", async () => {
  const made = await filled([point(-1, 0), point(0, 1), point(10, 2), point(nowMs - 1, 3), point(nowMs, 4)]);
  assert.deepEqual(
    (await read(made)).map(({ value }) => value),
    [1, 2, 3],
  );
  assert.deepEqual(await read(made, "start=0&end=10"), [point(0, 1)]);
  assert.deepEqual(await read(made, "start=10&end=10"), []);
  assert.deepEqual(await read(made, "start=10.0&end=11"), [point(10, 2)]);
  assert.deepEqual(await read(made, "start=1s-ago&end=now"), [point(nowMs - 1, 3)]);
  assert.deepEqual(await read(made, "start=1w-ago"), [point(nowMs - 1, 3)]);
  const many = await filled(Array.from({ length: 150 }, (_, i) => point(i, i)));
  assert.equal((await read(many)).length, 100);
  assert.equal((await read(many, "limit=149")).length, 149);
  assert.equal((await read(many, "limit=100000000")).length, 150);
  assert.deepEqual(await read(many, "limit=0"), []);
});

test("outside points are returned when requested, and count towards the limit", async () => {
  const made = await filled([point(1, 1), point(5, 5), point(10, 10), point(15, 15), point(20, 20)]);
  const times = async (query: string) =>
    (await read(made, `includeOutsidePoints=True&${query}`)).map((p) => p["timestamp"]);
  assert.deepEqual(await times("start=6&end=12"), [5, 10, 15]);
  assert.deepEqual(await times("start=6&end=15"), [5, 10, 15]);
  assert.deepEqual(await times("start=0&end=12"), [1, 5, 10, 15]);
  assert.deepEqual(await times("start=16&end=100"), [15, 20]);
  assert.deepEqual(await times("start=6&end=12&limit=2"), [5, 10]);
  assert.deepEqual(await times("start=21&end=22"), [20]);
  const withAggregates = "aggregates=count&granularity=1s&includeOutsidePoints=false";
  assert.deepEqual(await read(made, withAggregates), [{ timestamp: 0, count: 5 }]);
});

test("pages of exactly `limit` points meet every point once", async () => {
  const all = Array.from({ length: 41_003 }, (_, i) => point(1000 + i * 7, i / 8));
  const made = await filled(all);
  for (const limit of [100_000, 20_000, 10_001]) {
    const seen: object[] = [];
    for (let start = 0; ; ) {
      const page = await read(made, `start=${start}&limit=${limit}`);
      seen.push(...page);
      if (page.length < limit) break;
      start = page.at(-1)!["timestamp"]! + 1;
    }
    assert.deepEqual(seen, all);
  }
  const outside = await read(
    made,
    `start=1001&end=${1000 + 41_001 * 7}&limit=100000&includeOutsidePoints=true`,
  );
  assert.deepEqual(outside, all.slice(0, 41_002));
});

test("long responses of strings stream in order", async () => {
  const all = Array.from({ length: 1_200 }, (_, i) => point(i, `${i} ü `.repeat(20)));
  const made = await filled(all, { isString: true });
  assert.deepEqual(await read(made, "limit=5000"), all);
  const headers = { accept: "application/protobuf" };
  const found = await server.ask(`GET ${path(made)}?limit=5000`, undefined, headers);
  assert.deepEqual(decoded(found)["stringData"], { points: all });
});

test("aggregates have their time and the requested values, in the spelling of the version", async () => {
  const made = await filled([point(0, 0), point(hour, 10), point(2 * hour, 20)]);
  const query = `aggregates=Min,MAX&aggregates=avg&granularity=hour&end=${hour}`;
  assert.deepEqual(await read(made, query), [{ timestamp: 0, min: 0, max: 0, average: 5 }]);
  const variance = `?aggregates=cv&granularity=h&end=${hour}`;
  for (const [ask, members] of [
    [server.ask.v04, ["timestamp", "continousVariance", "continuousVariance"]],
    [server.ask.v05, ["timestamp", "continousVariance", "continuousVariance"]],
    [server.ask.v06, ["timestamp", "continuousVariance"]],
  ] as const)
    assert.deepEqual(Object.keys(pointsOf(await ask(`GET ${path(made)}${variance}`))[0]!), members);
  const all = aggregateNames.join(",");
  const short = "avg,max,min,count,sum,int,step,cv,dv,tv";
  assert.deepEqual(
    await read(made, `aggregates=${short}&granularity=2h`),
    await read(made, `aggregates=${all}&granularity=2h`),
  );
});

test("latest is strictly earlier than before, and empty when there is none", async () => {
  const made = await filled([point(5, 1), point(10, 2), point(nowMs, 3)]);
  const latest = async (query = "", ask = server.ask.v05) =>
    (await ask(`GET /timeseries/latest/${made.name}${query}`)).items;
  assert.deepEqual(await latest(), [point(10, 2)]);
  assert.deepEqual(await latest("?before=now", server.ask.v04), [point(10, 2)]);
  assert.deepEqual(await latest("?before=10"), [point(5, 1)]);
  assert.deepEqual(await latest("?before=11"), [point(10, 2)]);
  assert.deepEqual(await latest("?before=1d-ago"), [point(10, 2)]);
  assert.deepEqual(await latest(`?before=${nowMs + 1}`), [point(nowMs, 3)]);
  assert.deepEqual(await latest("?before=5"), []);
  assert.deepEqual((await server.ask.v06(`GET /timeseries/${made.id}/latest`)).items, [point(10, 2)]);
  const strings = await filled([point(1, "on")], { isString: true });
  assert.deepEqual((await server.ask(`GET /timeseries/latest/${strings.name}`)).items, [point(1, "on")]);
});

test("the latest points of many series, in the order of the request, empty when there is none", async () => {
  const a = await filled([point(5, 1), point(10, 2), point(nowMs, 3)]);
  const b = await filled([point(7, "on")], { isString: true });
  const empty = await series();
  const latest = async (body: object) => (await server.ask.v06("POST /timeseries/latest", body)).items;
  const items = [{ id: b.id }, { name: empty.name }, { name: a.name }, { id: b.id }];
  const last = { name: b.name, datapoints: [point(7, "on")] };
  const none = { name: empty.name, datapoints: [] };
  assert.deepEqual(await latest({ items }), [
    ...[last, none, { name: a.name, datapoints: [point(10, 2)] }],
    last,
  ]);
  assert.deepEqual(await latest({ items: [{ id: b.id }, { id: a.id }], before: 7 }), [
    { name: b.name, datapoints: [] },
    { name: a.name, datapoints: [point(5, 1)] },
  ]);
  assert.deepEqual(await latest({ items: [{ id: a.id }], before: "1d-ago" }), [
    { name: a.name, datapoints: [point(10, 2)] },
  ]);
  assert.deepEqual(await latest({ items: [] }), []);
  const most = Array.from({ length: limits.latestSeriesMax }, (_, i) => ({ name: i % 2 ? a.name : b.name }));
  assert.deepEqual(
    await latest({ items: most, before: 8 }),
    most.map(({ name }) => ({ name, datapoints: [name === a.name ? point(5, 1) : point(7, "on")] })),
  );
  await server.ask(`POST ${path(empty)}`, '{"items":[{"timestamp":1,"value":-0}]}');
  assert.match(
    (await server.ask.v06("POST /timeseries/latest", { items: [{ id: empty.id }] })).text,
    /"timestamp":1,"value":-0}/,
  );
});

test("the count of points in a range, of numbers and of strings, by name and by id", async () => {
  const a = await filled([point(5, 1), point(10, 2), point(nowMs, 3)]);
  const b = await filled([point(7, "on"), point(8, "off")], { isString: true });
  const count = async (path: string) => (await server.ask.v06(`GET /timeseries/${path}`)).items;
  assert.deepEqual(await count(`data/${a.name}/count`), [{ count: 2 }]);
  assert.deepEqual(await count(`${a.id}/data/count?start=5&end=10`), [{ count: 1 }]);
  assert.deepEqual(await count(`${a.id}/data/count?start=6&end=${nowMs + 1}`), [{ count: 2 }]);
  assert.deepEqual(await count(`${a.id}/data/count?start=6&end=6`), [{ count: 0 }]);
  assert.equal((await server.ask.v06("GET /timeseries/data/none/count?start=6&end=6")).status, 404);
  assert.deepEqual(await count(`${b.id}/data/count?start=8&end=9`), [{ count: 1 }]);
  assert.equal((await server.ask.v06("GET /timeseries/data/none/count")).status, 404);
  assert.equal((await server.ask.v06(`GET /timeseries/${a.id}/data/count?start=7&end=6`)).status, 400);
});

test("a query over many series: items before the body, order and repeats kept", async () => {
  const a = await filled([point(1, 1), point(2, 2), point(3, 3)]);
  const b = await filled([point(1, "x"), point(2, "y")], { isString: true });
  const raw = { name: a.name, datapoints: [point(1, 1), point(2, 2)] };
  const query = {
    items: [
      { name: a.name, aggregates: "" },
      { tagId: b.name, aggregates: "", limit: 1, start: "2" },
      { id: a.id, aggregates: ["max", "avg"], granularity: "s" },
      { name: a.name, aggregates: null, start: null },
      { name: a.name, aggregateFunctions: "min", end: 2 },
      { name: a.name, aggregates: "", start: 3, end: "now", includeOutsidePoints: true },
      { name: a.name, aggregates: "" },
    ],
    aggregates: "count",
    granularity: "1d",
    start: 0,
    end: 3,
  };
  const expected = [
    raw,
    { name: b.name, datapoints: [point(2, "y")] },
    { name: a.name, datapoints: [{ timestamp: 0, max: 3, average: 2 }] },
    { name: a.name, datapoints: [{ timestamp: 0, count: 3 }] },
    { name: a.name, datapoints: [{ timestamp: 0, min: 1 }] },
    { name: a.name, datapoints: [point(2, 2), point(3, 3)] },
    raw,
  ];
  assert.deepEqual((await server.ask.v05("POST /timeseries/dataquery", query)).items, expected);
  assert.deepEqual((await server.ask.v06("POST /timeseries/dataquery", query)).items, expected);
  const tags = (await server.ask.v04("POST /timeseries/dataquery", query)).items;
  assert.deepEqual(
    tags,
    expected.map(({ name, datapoints }) => ({ tagId: name, datapoints })),
  );
  assert.deepEqual((await server.ask("POST /timeseries/dataquery", { items: [] })).items, []);
});

test("a frame: header, columns, empty cells, rows in order, limit", async () => {
  const a = await filled([point(0, 1), point(1500, 2), point(10_000, 3.25)], { name: "a" });
  const b = await filled([point(1000, 5), point(20_000, 6)], { name: 'b,"x"' });
  const query = {
    items: [
      { name: a.name },
      { name: b.name, aggregates: ["min", "cv", "min"] },
      { name: a.name, aggregates: [] },
    ],
    aggregates: ["Max", "count"],
    granularity: "s",
    start: 0,
    end: "now",
  };
  const [x, y] = [a.name, b.name.replaceAll('"', '""')];
  const ofA = `${x}|max,${x}|count`;
  const header = `timestamp,${ofA},"${y}|min","${y}|continuousvariance","${y}|min",${ofA}`;
  const response = await server.ask("POST /timeseries/dataframe", query, { accept: "text/csv" });
  assert.match(response.headers.get("content-type")!, /^text\/csv/);
  const lines = response.text.split("\n");
  assert.equal(lines[0], header);
  assert.equal(lines[1], "0,1,1,,,,1,1");
  assert.match(lines[2]!, /^1000,2,1,5,[-0-9.e]+,5,2,1$/);
  assert.equal(lines[3], "10000,3.25,1,,,,3.25,1");
  assert.match(lines[4]!, /^20000,,,6,[-0-9.e]+,6,,$/);
  assert.deepEqual(lines.slice(5), [""]);
  const some = await server.ask.v06("POST /timeseries/dataframe", { ...query, limit: 2 });
  assert.deepEqual(some.text.split("\n"), [...lines.slice(0, 3), ""]);
  const none = await server.ask("POST /timeseries/dataframe", { ...query, start: 30_000, end: 40_000 });
  assert.equal(none.text, `${header}\n`);
  const tags = { ...query, items: [{ tagId: a.name, aggregates: ["sum"] }], end: 1000 };
  const frame = await server.ask.v04("POST /timeseries/dataframe", tags);
  assert.equal(frame.text, `timestamp,${x}|sum\n0,1\n`);
});

test("a frame longer than its batches has every row once", async () => {
  const dense = await filled(Array.from({ length: 5_000 }, (_, i) => point(i * 1000, i)));
  const sparse = await filled(Array.from({ length: 1_700 }, (_, i) => point(i * 3000, i)));
  const items = [{ name: dense.name }, { name: sparse.name }];
  const query = { items, aggregates: ["sum"], granularity: "s", start: 0, end: 6_000_000, limit: 100_000 };
  const { text } = await server.ask("POST /timeseries/dataframe", query);
  const expected = Array.from({ length: 5_098 }, (_, i) => i)
    .filter((i) => i < 5_000 || i % 3 === 0)
    .map((i) => `${i * 1000},${i < 5_000 ? i : ""},${i % 3 === 0 ? i / 3 : ""}`);
  assert.deepEqual(text.split("\n").slice(1, -1), expected);
});

test("a frame of series with equal times over several batches, of which one ends early", async () => {
  const seconds = (count: number) => Array.from({ length: count }, (_, i) => point(i * 1000, i));
  const made = [await filled(seconds(2_500)), await filled(seconds(2_500)), await filled(seconds(1_200))];
  const items = made.map(({ name }) => ({ name, aggregates: ["sum", "count"] }));
  const query = { items, granularity: "s", start: 0, end: 6_000_000, limit: 100_000 };
  const { text } = await server.ask("POST /timeseries/dataframe", query);
  const cells = (i: number, count: number) => (i < count ? `${i},1` : ",");
  const expected = Array.from({ length: 2_500 }, (_, i) =>
    [i * 1000, cells(i, 2_500), cells(i, 2_500), cells(i, 1_200)].join(),
  );
  assert.deepEqual(text.split("\n").slice(1, -1), expected);
});

test("points are removed one by one and by range, by name and by id, and are gone at once", async () => {
  const made = await filled([1, 2, 3, 4, 5, 6].map((t) => point(t, t)));
  const { ask } = server;
  const times = async () => (await read(made)).map((p) => p["timestamp"]);
  assert.deepEqual((await ask(`DELETE ${path(made)}/deletesingle?timestamp=2`)).json, {});
  assert.deepEqual(await times(), [1, 3, 4, 5, 6]);
  assert.deepEqual((await ask.v06(`DELETE /timeseries/${made.id}/data/deletesingle?timestamp=2`)).json, {});
  const range = "deleterange?timestampInclusiveBegin=3&timestampExclusiveEnd=5";
  assert.deepEqual((await ask(`DELETE ${path(made)}/${range}`)).json, {});
  assert.deepEqual(await times(), [1, 5, 6]);
  const rest = "deleterange?timestampInclusiveBegin=5&timestampExclusiveEnd=now";
  assert.deepEqual((await ask.v06(`DELETE /timeseries/${made.id}/data/${rest}`)).json, {});
  assert.deepEqual(await times(), [1]);
  assert.deepEqual((await ask(`GET /timeseries/latest/${made.name}`)).items, [point(1, 1)]);
});

test("points survive a restart", async () => {
  const made = await filled([point(1, 1.5), point(2, 2.5)]);
  await server.restart();
  assert.deepEqual(await read(made), [point(1, 1.5), point(2, 2.5)]);
});
