// Queries of a real MariaDB arrive as raw rows and points: exact, and further from where they were.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ConnectedServer, connect, stopped, until } from "../../../test/support/connector.ts";
import { type MariaDbServer, startMariaDb } from "../../../test/support/mariadb.ts";
import { needs } from "../../../test/support/needs.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";

type Json = Readonly<Record<string, unknown>>;

describe("MySQL", needs("mariadb"), () => {
  let mariadb: MariaDbServer;
  const server = new ConnectedServer();
  before(async () => {
    mariadb = await startMariaDb();
    await server.start();
  });
  after(async () => {
    endLeftProcesses();
    await mariadb.remove();
  });

  const configured = (name: string, queries: readonly Json[]) =>
    server.configured(name, { type: "sql", url: mariadb.url, queries });
  const rowsOf = async (table: string): Promise<ReadonlyMap<unknown, Json>> => {
    const found = new Map<unknown, Json>();
    const listed = await server.items("GET", "raw?limit=1000");
    if (!listed.some(({ dbName }) => dbName === `of ${table}`)) return found;
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const query = `limit=1000${cursor && `&cursor=${cursor}`}`;
      const page = await server.page(`/api/0.6/projects/default/raw/of%20${table}/${table}?${query}`);
      for (const { key, columns } of page.items) found.set(key, columns as Json);
      cursor = page.nextCursor;
    }
    return found;
  };
  const rows = (table: string) => ({ database: `of ${table}`, table, key: "{id}" });

  test("values of every type are kept, more rows than one read, and nulls", async () => {
    await mariadb.statement(`CREATE TABLE kinds (id bigint unsigned PRIMARY KEY, t timestamp(6) NULL,
      dt datetime(3), d date, n decimal(40, 2), b boolean, f double, j json, x varbinary(9), s text,
      bits bit(12))`);
    await mariadb.statement(`SET time_zone = '+01:00'; INSERT INTO kinds VALUES
      (18446744073709551615, '2026-01-31 11:00:00.123456', '2026-01-31 11:00:00.5', '2026-02-01',
        12345678901234567890.50, true, 0.1, '{"a": [1, null]}', x'00ff', 'ä "q" 😀', b'100000000001'),
      (2, null, null, null, 12.5, false, -1e300, null, null, '', null)`);
    await mariadb.statement("INSERT INTO kinds (id) SELECT seq FROM seq_3_to_2500");
    const query = { name: "kinds", sql: "SELECT * FROM kinds", rows: rows("kinds") };
    const connector = connect(configured("kinds", [query]));
    await until(async () => (await rowsOf("kinds")).size === 2_500, "all rows");
    await stopped(connector);
    const found = await rowsOf("kinds");
    assert.deepEqual(found.get("18446744073709551615"), {
      id: "18446744073709551615",
      ...{ t: "2026-01-31T10:00:00.123456Z", dt: "2026-01-31T11:00:00.500", d: "2026-02-01" },
      ...{ n: "12345678901234567890.50", b: 1, f: 0.1, j: '{"a": [1, null]}' },
      ...{ x: Buffer.from([0, 255]).toString("base64"), s: 'ä "q" 😀', bits: 2_049 },
    });
    assert.deepEqual(found.get("2"), {
      ...{ id: 2, t: null, dt: null, d: null, n: "12.50", b: 0, f: "-1e300", j: null, x: null },
      ...{ s: "", bits: null },
    });
  });

  test("an incremental query continues where it was, also after kills of both sides", async () => {
    await mariadb.statement("CREATE TABLE orders (id integer PRIMARY KEY, changed datetime(6), state text)");
    const add = (from: number, to: number, time: string, state = "new") =>
      mariadb.statement(`INSERT INTO orders SELECT seq, '${time}', '${state}' FROM seq_${from}_to_${to}
        ON DUPLICATE KEY UPDATE changed = VALUES(changed), state = VALUES(state)`);
    await add(1, 3_000, "2026-01-01");
    await mariadb.statement("INSERT INTO orders VALUES (0, NULL, 'without')");
    const query = { name: "orders", sql: "SELECT * FROM orders", every: "200ms", rows: rows("orders") };
    // It runs when MariaDB is killed, and when the connector is stopped.
    const long = { name: "long", sql: "SELECT 1 AS id, sleep(500)", rows: rows("long") };
    const file = configured("orders", [{ ...query, incremental: { column: "changed" } }, long]);
    let connector = connect(file);
    await until(async () => (await rowsOf("orders")).size > 0, "the first rows");
    connector.child.kill("SIGKILL");
    await connector.ended;
    connector = connect(file);
    await until(async () => (await rowsOf("orders")).size === 3_001, "all rows");
    await add(3_001, 3_010, "2026-01-01");
    await until(async () => (await rowsOf("orders")).size === 3_011, "rows with the time of the last ones");
    await mariadb.kill();
    const told = (name: string) => connector.output().includes(`source ${name}:`);
    await until(() => told("orders") && told("long"), "the problems");
    await mariadb.start();
    await add(5, 5, "2026-01-02", "done");
    await until(async () => (await rowsOf("orders")).get("5")!["state"] === "done", "a changed row");
    // Told after the rows of the query are stored.
    await until(() => connector.output().includes("source orders: works again"), "the end of the problem");
    await stopped(connector);
    assert.equal((await rowsOf("orders")).size, 3_011);
  });

  test("discover proposes queries that check accepts; wrong ones are refused with their reason", async () => {
    await mariadb.statement(
      "CREATE TABLE `Odd ``name` (`A b` integer PRIMARY KEY, changedAt timestamp NULL)",
    );
    const query = { name: "q", sql: "SELECT 1 AS id", rows: rows("t") };
    const { output } = await connect(configured("found", [query]), "discover").ended;
    assert.ok(output.includes("plant.Odd `name") && output.includes("column: changedAt"), output);
    assert.ok(output.includes('key: "{A b}"'), output);
    const check = async (wrong: Json) => await connect(configured("wrong", [wrong]), "check").ended;
    assert.equal((await check({ ...query, sql: "SELECT * FROM `Odd ``name` -- all" })).status, 0);
    assert.match((await check({ ...query, sql: "SELECT * FROM nowhere" })).output, /nowhere' doesn't exist/);
    assert.notEqual((await check({ ...query, sql: "SELECT 1; DROP TABLE orders" })).status, 0);
  });
});
