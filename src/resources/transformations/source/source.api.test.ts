// The tables of queries over the API: columns of raw rows, and runs that read new rows alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Item, startTestServer, type TestServer } from "../../../../test/support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const ask = (methodAndPath: string, body?: unknown) => server.ask.v06(methodAndPath, body);

async function putRaw(table: string, rows: Readonly<Record<string, object>>): Promise<void> {
  const items = Object.entries(rows).map(([key, columns]) => ({ key, columns }));
  const { status } = await ask(`POST /raw/plant/${table}/create?ensureParent=true`, { items });
  assert.equal(status, 200);
}

async function eventsFrom(externalId: string, query: string): Promise<number> {
  const item = { externalId, name: externalId, query, destination: { type: "events" }, action: "upsert" };
  const { status, items, error } = await ask("POST /transformations", { items: [item] });
  assert.equal(status, 200, error?.message ?? "");
  return items[0]!["id"] as number;
}

async function run(id: number): Promise<Item> {
  const started = await ask(`POST /transformations/${id}/run`);
  assert.equal(started.status, 200, started.error?.message ?? "");
  for (;;) {
    const [now] = (await ask(`GET /transformations/${id}/runs/${started.items[0]!["id"]}`)).items;
    if (now!["status"] !== "RUNNING") return now!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const outcome = ({ status, read, created, changed }: Item) => [status, read, created, changed];

test("a run reads the rows that changed since the last successful one", async () => {
  await putRaw("orders", { a: { kind: "stop" }, b: { kind: "start" } });
  const query = "SELECT key AS externalId, kind AS type FROM plant.orders WHERE is_new('orders')";
  const id = await eventsFrom("new-orders", query);
  assert.deepEqual(outcome(await run(id)), ["COMPLETED", 2, 2, 0]);
  assert.deepEqual(outcome(await run(id)), ["COMPLETED", 0, 0, 0]);
  await putRaw("orders", { b: { kind: "trip" }, c: { kind: "stop", shift: "night" } });
  assert.deepEqual(outcome(await run(id)), ["COMPLETED", 2, 1, 1]);
  await server.restart();
  assert.deepEqual(outcome(await run(id)), ["COMPLETED", 0, 0, 0]);
});

test("a run of changed rows finds the same records as a run of all rows", async () => {
  const made = ["7", "7.0", "07", "x y", "é", "none"].map((externalId) => ({ name: externalId, externalId }));
  assert.equal((await ask("POST /assets", { items: made })).status, 201);
  const values = [7, "7", 7.5, "07", "x y", "é", null, true, { a: 1 }, ["7"]];
  await putRaw("links", Object.fromEntries(values.map((at, i) => [`l${i}`, { at, key2: `k${i % 3}` }])));
  await putRaw("kinds", { k0: { kind: "stop" }, k1: { kind: "start" } });
  const query = (
    join: string,
    condition: string,
  ) => `SELECT l.key || '-' || ifnull(a.externalId, '') AS externalId,
    k.kind AS type FROM plant.links l ${join} millrace.assets a ON a.externalId = l.at
    LEFT JOIN plant.kinds k ON k.key = l.key2 WHERE ${condition}`;
  for (const join of ["JOIN", "LEFT JOIN"]) {
    const all = await ask("POST /transformations/preview", { query: query(join, "l.key || '' > ''") });
    const id = await eventsFrom(`links ${join}`, query(join, "is_new('links', l.commitNumber)"));
    await run(id);
    await putRaw("links", Object.fromEntries(values.map((at, i) => [`l${i}`, { at, key2: `k${i % 3}` }])));
    await putRaw("kinds", { k0: { kind: "stop" }, k1: { kind: "start" } });
    const { read, unchanged } = await run(id);
    const { rows } = (all.json as { data: { rows: unknown[] } }).data;
    assert.deepEqual([read, unchanged], [rows.length, rows.length], join);
    assert.equal(rows.length, join === "JOIN" ? 4 : 10, JSON.stringify(rows));
  }
});

test("a run that fails moves no mark", async () => {
  await putRaw("trips", { a: { kind: "trip", at: 1 }, b: { kind: "trip", at: "no time" } });
  const query = `SELECT key AS externalId, kind AS type, at AS startTime FROM plant.trips
    WHERE is_new('trips')`;
  const id = await eventsFrom("new-trips", query);
  assert.equal((await run(id))["status"], "FAILED");
  await putRaw("trips", { b: { kind: "trip", at: 2 } });
  const { status, read } = await run(id);
  assert.deepEqual([status, read], ["COMPLETED", 2]);
});

test("keys of later rows become columns, also in a table that was made again", async () => {
  await putRaw("pumps", { a: { rpm: 1 } });
  const preview = async (query: string) => {
    const { status, json, error } = await ask("POST /transformations/preview", { query });
    return status === 200 ? (json as { data: { rows: unknown[] } }).data.rows : error?.message;
  };
  assert.deepEqual(await preview("SELECT * FROM plant.pumps").then((rows) => rows?.length), 1);
  assert.match(String(await preview("SELECT speed FROM plant.pumps")), /no such column: speed/);
  await putRaw("pumps", { b: { speed: 2 } });
  assert.notEqual(typeof (await preview("SELECT speed FROM plant.pumps")), "string");
  await ask("POST /raw/plant/delete", { items: [{ tableName: "pumps" }] });
  await putRaw("pumps", { a: { rpm: 1 } });
  assert.match(String(await preview("SELECT speed FROM plant.pumps")), /no such column: speed/);
});

test("tables of records have their columns, and the latest datapoints", async () => {
  const made = await ask("POST /assets", {
    items: [{ name: "pump", externalId: "p", metadata: { a: "1" } }],
  });
  const assetId = made.items[0]!["id"] as number;
  await ask("POST /timeseries", {
    items: [
      { name: "rpm", assetId },
      { name: "state", isString: true },
    ],
  });
  await ask("POST /timeseries/data", {
    items: [{ name: "rpm", datapoints: [{ timestamp: 5, value: 1.5 }] }],
  });
  const rows = async (query: string) => {
    const { status, json, error } = await ask("POST /transformations/preview", { query });
    assert.equal(status, 200, error?.message ?? "");
    return (json as { data: { rows: unknown[] } }).data.rows;
  };
  const values = async (query: string) => JSON.stringify(await rows(query));
  assert.match(await values("SELECT id, metadata ->> 'a' m, parentId FROM millrace.assets"), /"1"/);
  assert.match(await values("SELECT json_array_length(path) n FROM millrace.assets"), /1/);
  assert.match(await values("SELECT isString s FROM millrace.series WHERE name = 'state'"), /1/);
  assert.match(await values("SELECT timestamp, value FROM millrace.latest WHERE name = 'rpm'"), /5.*1\.5/);
  assert.equal((await rows("SELECT * FROM millrace.latest")).length, 1);
  assert.equal((await rows("SELECT * FROM millrace.files")).length, 0);
  assert.equal((await rows(`SELECT series_id('rpm') r, asset_id('p') a WHERE a = ${assetId}`)).length, 1);
});

async function preview(query: string) {
  const { status, json, error } = await ask("POST /transformations/preview", { query });
  const { data } = json as { data?: { rows: unknown[][] } };
  return { status, message: error?.message ?? "", rows: data?.rows };
}

test("aggregates are computed by the store, for named series and for all", async () => {
  const hourMs = 3_600_000;
  await ask("POST /timeseries", {
    items: [{ name: "[odd]" }, { name: "agg b" }, { name: "agg text", isString: true }],
  });
  const datapoints = Array.from({ length: 30_000 }, (_, at) => ({
    timestamp: at * 1_000_000,
    value: at % 7,
  }));
  for (const name of ["[odd]", "agg b"]) {
    const items = [{ name, datapoints: name === "agg b" ? datapoints.slice(0, 10) : datapoints }];
    assert.equal((await ask("POST /timeseries/data", { items })).status, 200);
  }
  const end = 30_000 * 1_000_000;
  const call = (series: string, more = "'average', 'max'") =>
    `millrace.aggregates(${series}, 0, ${end}, '1h', ${more})`;
  const counted = await preview(
    `SELECT count(*), sum(count), max(timestamp) FROM ${call("'[odd]'", "'count'")}`,
  );
  const buckets = Math.ceil(end / hourMs);
  assert.deepEqual(counted.rows, [[buckets, 30_000, (buckets - 1) * hourMs]], "more rows than one read has");
  const compared = await preview(`SELECT name, timestamp, average, max FROM ${call("'agg b'")}`);
  const { items } = await ask(
    `GET /timeseries/data/agg%20b?start=0&end=${end}&granularity=1h&aggregates=average,max`,
  );
  const points = (items[0] as unknown as { datapoints: Item[] }).datapoints;
  assert.deepEqual(
    compared.rows,
    points.map(({ timestamp, average, max }) => ["agg b", timestamp, average, max]),
  );
  assert.ok(points.length > 1);
  const listed = await preview(`SELECT DISTINCT name FROM ${call(`'["agg b","[odd]"]'`)} ORDER BY 1`);
  assert.deepEqual(listed.rows, [["[odd]"], ["agg b"]]);
  const all = await preview(`SELECT DISTINCT name FROM ${call("NULL")} ORDER BY 1`);
  assert.deepEqual(all.rows, [["[odd]"], ["agg b"], ["rpm"]]);
  const joined = await preview(
    `SELECT s.unit IS NULL, max(a.average) > 0
     FROM ${call("NULL")} a JOIN millrace.series s ON s.id = a.seriesId GROUP BY 1`,
  );
  assert.deepEqual(joined.rows, [[1, 1]]);
  const days = await preview(
    `SELECT count(*) FROM millrace.aggregates('[odd]', 0, 864000000, '1d Europe/Oslo', 'count')`,
  );
  assert.deepEqual(days.rows, [[11]], "days of the zone");
});

test("arguments that are not those of aggregates are refused with their reason", async () => {
  for (const [wrong, pattern] of [
    ["'nothing', 0, 1, '1h', 'max'", /aggregates\.series.*nothing/],
    ["'agg text', 0, 1, '1h', 'max'", /strings/],
    ["'agg b', 0, 1, '1h'", /aggregates\.aggregates/],
    ["'agg b', 0, 1, '1x', 'max'", /granularity/],
    ["'agg b', 'x', 1, '1h', 'max'", /aggregates\.start/],
    ["'agg b', 0, 1, '1h', 'middle'", /middle/],
    ["name, 0, 1, '1h', 'max'", /no expressions/],
  ] as const) {
    const { status, message } = await preview(`SELECT 1 FROM millrace.aggregates(${wrong})`);
    assert.deepEqual([status, pattern.test(message)], [400, true], `${wrong}: ${message}`);
  }
});
