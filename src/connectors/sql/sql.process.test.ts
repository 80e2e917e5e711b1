// Queries of a real PostgreSQL arrive as raw rows and points: once, exact, and further from where they were.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { adminKey, ConnectedServer, connect, stopped, until } from "../../../test/support/connector.ts";
import { needs } from "../../../test/support/needs.ts";
import { type PostgresServer, startPostgres, statement } from "../../../test/support/postgres.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";

type Json = Readonly<Record<string, unknown>>;

describe("SQL", needs("postgresql"), () => {
  let postgres: PostgresServer;
  const server = new ConnectedServer();
  const sql = (text: string) => statement(postgres.url("postgres"), text);
  before(async () => {
    postgres = await startPostgres();
    await server.start();
  });
  after(() => {
    endLeftProcesses();
    postgres.remove();
  });

  const configured = (name: string, queries: readonly Json[], more: Json = {}) =>
    server.configured(name, { type: "sql", url: postgres.url("postgres"), queries, ...more });
  const reportOf = async (name: string) => (await server.items("GET", `connectors?name=${name}`))[0];
  async function rowsOf(database: string, table: string): Promise<Map<unknown, Json>> {
    const found = new Map<unknown, Json>();
    const listed = await server.items("GET", "raw?limit=1000");
    if (!listed.some(({ dbName }) => dbName === database)) return found;
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const query = `limit=1000${cursor && `&cursor=${cursor}`}`;
      const page = await server.page(`/api/0.6/projects/default/raw/${database}/${table}?${query}`);
      for (const { key, columns } of page.items) found.set(key, columns as Json);
      cursor = page.nextCursor;
    }
    return found;
  }

  test("values of every type are kept, more rows than one fetch, and nulls", async () => {
    await sql(`CREATE TABLE kinds (id bigint PRIMARY KEY, t timestamptz, d date, n numeric, b boolean,
      f float8, j jsonb, x bytea, s text)`);
    await sql(`INSERT INTO kinds VALUES
      (9007199254740993, '2026-01-31 11:00:00.123456+01', '2026-02-01', 1.50, true, 0.1,
        '{"a": [1, null]}', '\\x00ff', 'ä "q"'),
      (2, null, null, 12.5, false, 'NaN', null, null, '')`);
    await sql("INSERT INTO kinds (id) SELECT generate_series(3, 2500)");
    const rows = { database: "erp", table: "kinds", key: "{id}" };
    const connector = connect(configured("kinds", [{ name: "kinds", sql: "SELECT * FROM kinds", rows }]));
    await until(async () => (await rowsOf("erp", "kinds")).size === 2_500, "all rows");
    await stopped(connector);
    const found = await rowsOf("erp", "kinds");
    assert.deepEqual(found.get("9007199254740993"), {
      ...{
        id: "9007199254740993",
        t: "2026-01-31T10:00:00.123456Z",
        d: "2026-02-01",
        n: "1.50",
        b: true,
        f: 0.1,
      },
      ...{ j: { a: [1, null] }, x: Buffer.from([0, 255]).toString("base64"), s: 'ä "q"' },
    });
    assert.deepEqual(found.get("2"), {
      ...{ id: 2, t: null, d: null, n: 12.5, b: false, f: "NaN", j: null, x: null, s: "" },
    });
  });

  test("an incremental query continues where it was, also after a kill; ties are not lost", async () => {
    await sql("CREATE TABLE orders (id integer PRIMARY KEY, changed timestamptz, state text)");
    const add = (from: number, to: number, time: string, state = "new") =>
      sql(`INSERT INTO orders SELECT i, '${time}', '${state}' FROM generate_series(${from}, ${to}) i
        ON CONFLICT (id) DO UPDATE SET changed = excluded.changed, state = excluded.state`);
    await add(1, 3_000, "2026-01-01");
    const rows = { database: "shop", table: "orders", key: "{id}" };
    const query = { name: "orders", sql: "SELECT * FROM orders", every: "200ms", rows };
    // It runs when the connector is stopped.
    const long = { name: "long", sql: "SELECT pg_sleep(500)", rows: { ...rows, key: "k" } };
    const file = configured("orders", [{ ...query, incremental: { column: "changed" } }, long]);
    let connector = connect(file);
    await until(async () => (await rowsOf("shop", "orders")).size > 0, "the first rows");
    connector.child.kill("SIGKILL");
    await connector.ended;
    connector = connect(file);
    await until(async () => (await rowsOf("shop", "orders")).size === 3_000, "all rows");
    await add(3_001, 3_010, "2026-01-01");
    await until(
      async () => (await rowsOf("shop", "orders")).size === 3_010,
      "rows with the time of the last ones",
    );
    await add(5, 5, "2026-01-02", "done");
    await until(async () => (await rowsOf("shop", "orders")).get("5")!["state"] === "done", "a changed row");
    await stopped(connector);
    assert.equal((await rowsOf("shop", "orders")).size, 3_010);
  });

  test("a query makes points; a database that was away is read further", async () => {
    await sql("CREATE TABLE lab (tag text, at timestamptz, value numeric, unit text)");
    await sql("INSERT INTO lab VALUES ('ph', '2026-01-01', 7.25, 'pH'), ('ph', '2026-01-02', null, 'pH')");
    const points = { series: "lab.{tag}", timestamp: "at", value: "value", unit: "{unit}" };
    const query = {
      name: "lab",
      sql: "SELECT * FROM lab",
      every: "100ms",
      incremental: { column: "at" },
      points,
    };
    const connector = connect(configured("lab", [query]));
    await until(async () => (await server.countOf("lab/lab.ph")) === 1, "the point");
    postgres.stop("immediate");
    await until(() => connector.output().includes("source lab:"), "the problem");
    postgres.start();
    await sql("INSERT INTO lab VALUES ('ph', '2026-01-03', 7.5, 'pH'), ('ph', '2026-01-03', 'NaN', 'pH')");
    await until(async () => (await server.countOf("lab/lab.ph")) === 2, "the second point");
    await until(async () => (await reportOf("lab"))?.["status"] === "RUNNING", "the report");
    const [series] = await server.items("GET", "timeseries?name=lab/lab.ph");
    assert.equal(series!["unit"], "pH");
    const output = await stopped(connector);
    const { status, counts, error } = (await reportOf("lab"))!;
    assert.deepEqual([status, counts], ["STOPPED", { received: 3, written: 2, refused: 1, dropped: 0 }]);
    assert.match((error as Json)["message"] as string, /value is "NaN", no number/);
    assert.match(output, /source lab: works again/);
    assert.match(output, /query lab: lab.ph: value is "NaN", no number/);
  });

  test("discover proposes queries that check accepts; wrong ones are refused with their reason", async () => {
    await sql('CREATE TABLE "Odd name" ("A b" integer PRIMARY KEY, "changedAt" timestamptz)');
    await sql(`CREATE ROLE plant_reader LOGIN PASSWORD '${adminKey}'`);
    await sql('GRANT SELECT ON "Odd name" TO plant_reader');
    const query = { name: "q", sql: "SELECT 1 AS id", rows: { database: "d", table: "t", key: "{id}" } };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the connector replaces it.
    const reader = "plant_reader:${MILLRACE_KEY}@";
    const url = postgres.url("postgres").replace(/\/\/.*@/, `//${reader}`);
    const { output } = await connect(configured("found", [], { url }), "discover").ended;
    assert.ok(output.includes(reader) && !output.includes(adminKey), output);
    assert.ok(output.includes("name: public.Odd name") && output.includes("column: changedAt"), output);
    assert.ok(output.includes('key: "{A b}"'), output);
    const check = async (wrong: Json) => await connect(configured("wrong", [wrong]), "check").ended;
    assert.equal((await check({ ...query, sql: 'SELECT * FROM "Odd name"' })).status, 0);
    assert.match(
      (await check({ ...query, sql: "SELECT * FROM nowhere" })).output,
      /failed.*"nowhere" does not exist/,
    );
    const empty = await connect(configured("wrong", []), "check").ended;
    assert.match(empty.output, /failed +source: source.queries is empty: `discover` proposes queries/);
    assert.match((await check({ name: "q", sql: "SELECT 1" })).output, /q has neither rows nor points/);
    assert.equal((await check({ ...query, sql: "SELECT 1 AS id -- the only one" })).status, 0);
    const twice = connect(configured("wrong", [query, query]), "check");
    assert.match((await twice.ended).output, /source.queries: several have the name q/);
    assert.match((await check({ ...query, every: "often" })).output, /every is a number with one of/);
  });
});
