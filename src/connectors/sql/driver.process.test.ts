// A database that the connector does not know, by the driver that docs/sql-drivers has for SQLite.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ConnectedServer, connect, stopped, until } from "../../../test/support/connector.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";

type Json = Readonly<Record<string, unknown>>;
const server = new ConnectedServer();
before(() => server.start());
after(endLeftProcesses);

const driver = fileURLToPath(new URL("../../../docs/sql-drivers/sqlite.js", import.meta.url));
const rows = { database: "lab", table: "samples", key: "{id}" };
const query = { name: "samples", sql: "SELECT * FROM samples", every: "50ms", rows };

test("rows and points of a driver's database are read further, with all digits", async () => {
  const file = join(temporaryFolder(), "lab.db");
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE samples (id INTEGER PRIMARY KEY, at TEXT, value REAL, note TEXT, bytes BLOB)");
  const insert = database.prepare("INSERT INTO samples VALUES (?, ?, ?, ?, x'00ff')");
  // Of the key that `run` returns.
  insert.setReadBigInts(true);
  const add = (...given: (number | bigint | string | null)[]) => void insert.run(...given);
  add(1, "2026-01-01T00:00:00Z", 7.5, "läuft");
  add(9_007_199_254_740_993n, "2026-01-02T00:00:00Z", null, null);
  const points = { series: "ph", timestamp: "at", value: "value" };
  const queries = [
    { ...query, incremental: { column: "id" } },
    { ...query, name: "points", rows: undefined, incremental: { column: "at" }, points },
  ];
  const source = { type: "sql", url: `sqlite:${file}`, driver, queries };
  const configuration = server.configured("lab", source);
  assert.match((await connect(configuration, "check").ended).output, /ok +source: .*accepts all 2 queries/);
  const stored = async () => (await server.page("/api/0.6/projects/default/raw/lab/samples")).items;
  const read = () =>
    until(
      async () => (await server.items("GET", "raw")).length > 0 && (await stored()).length > 1,
      "the rows",
    );
  const connector = connect(configuration);
  await read();
  const found = new Map((await stored()).map(({ key, columns }) => [key, columns as Json]));
  assert.deepEqual(found.get("1"), {
    ...{ id: 1, at: "2026-01-01T00:00:00Z", value: 7.5, note: "läuft", bytes: "AP8=" },
  });
  assert.deepEqual(found.get("9007199254740993")?.["id"], "9007199254740993");
  await until(async () => (await server.countOf("lab/ph")) === 1, "the point");
  add(2, "2026-01-03T00:00:00Z", 8, "late");
  add(9_007_199_254_740_995n, "2026-01-04T00:00:00Z", 9, "new");
  await until(async () => (await stored()).length === 3, "the row after the position");
  await until(async () => (await server.countOf("lab/ph")) === 3, "the points after the position");
  await stopped(connector);
  const [report] = await server.items("GET", "connectors?name=lab");
  assert.deepEqual(report!["counts"], { received: 6, written: 6, refused: 0, dropped: 0 });
  database.close();
});

test("a driver that is missing, wrong, or of a connector that the server runs is refused", async () => {
  const wrong = join(temporaryFolder(), "wrong.js");
  writeFileSync(wrong, "export const close = 1;");
  const source = { type: "sql", url: "sqlite:/none", queries: [query] };
  const refused = async (more: Json, ...words: string[]) =>
    (await connect(server.configured("wrong", { ...source, ...more }), "check", ...words).ended).output;
  assert.match(await refused({}), /source.url: sqlite:.. needs a driver/);
  assert.match(await refused({ driver: wrong }), /wrong.js exports no function open/);
  assert.match(await refused({ driver: `${wrong}.none` }), /wrong.js.none cannot be loaded/);
  assert.match(await refused({ driver }), /failed +source: unable to open database file/);
  assert.match(await refused({ url: "postgres://h:x;d" }), /source.url is not of the form/);
  for (const url of ["mysql://reader:p@se/cret@h/d", "postgres://reader:p@s#ecret@h/d"]) {
    const message = await refused({ url });
    assert.match(message, /source.url: .* must be percent-encoded/);
    assert.doesNotMatch(message, /cret/);
  }
  const secret = join(temporaryFolder(), "secret.js");
  writeFileSync(secret, "export const open = () => ({ read: () => [], close() {} });");
  const found = await refused({ url: "sqlserver://h:1433;user=sa;password=hunter2", driver: secret });
  assert.match(found, /sqlserver: by secret.js accepts the query/);
  assert.doesNotMatch(found, /hunter2/);
  assert.match(await refused({ driver }, "--supervised"), /the server runs no connector with a module/);
});
