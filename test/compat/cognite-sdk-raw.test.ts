// The raw data methods of @cognite/sdk 1.7.7 from npm, unmodified, against the real server.
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sdk from "@cognite/sdk";
import { recordReturns } from "../support/every-method.ts";
import { startTestServer, type TestServer, withFront } from "../support/server.ts";

const calls = recordReturns({ Raw: sdk.Raw });
const { Raw } = calls.recorded;
const refused = (status: number) => (error: unknown) => (error as { status?: number }).status === status;

let server: TestServer;

before(async () => {
  server = await startTestServer(withFront);
  sdk.configure({ baseUrl: server.baseUrl, project: server.project, apiKey: server.key });
});
after(() => server.close());

const rows = [
  { key: "p/1", columns: { site: "north", size: { height: 2.5, tags: ["a", null] } } },
  { key: "p/2", columns: { speed: 12.5, site: 'so"uth' } },
];
const withoutTimes = (all: readonly object[]) =>
  all.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== "lastUpdatedTime")));

it("createDatabases, createTables, listDatabases and listTables", async () => {
  await Raw.createDatabases(["plant", "æ/b"]);
  await Raw.createDatabases(["plant"]);
  await Raw.createTables("æ/b", ["pumps + fans", "motors"]);
  assert.deepEqual(await Raw.listDatabases(), ["plant", "æ/b"]);
  assert.deepEqual(await Raw.listDatabases({ limit: 1 }), ["plant"]);
  assert.deepEqual(await Raw.listTables("æ/b", { limit: 10 }), ["motors", "pumps + fans"]);
  await assert.rejects(Raw.listTables("elsewhere"), refused(404));
});

it("insertRows, retrieveRow, retrieveRowsAsJSON and deleteRows", async () => {
  await assert.rejects(Raw.insertRows("new", "pumps", rows), refused(404));
  await Raw.insertRows("new", "pumps", rows, { ensureParent: true });
  assert.deepEqual(withoutTimes([await Raw.retrieveRow("new", "pumps", "p/1")]), [rows[0]]);
  assert.deepEqual(withoutTimes(await Raw.retrieveRowsAsJSON("new", "pumps")), rows);
  const chosen = await Raw.retrieveRowsAsJSON("new", "pumps", { columns: ["site", "speed"], limit: 2 });
  assert.deepEqual(
    chosen.map((row) => row.columns),
    [{ site: "north" }, rows[1]!.columns],
  );
  await Raw.insertRows("new", "pumps", [{ key: "p/2" }]);
  assert.deepEqual((await Raw.retrieveRow("new", "pumps", "p/2")).columns, {});
  await Raw.deleteRows("new", "pumps", ["p/2", "p/3"]);
  await assert.rejects(Raw.retrieveRow("new", "pumps", "p/2"), refused(404));
});

it("retrieveRowsAsCSV", async () => {
  await Raw.insertRows("csv", "pumps", rows, { ensureParent: true });
  const csv = await Raw.retrieveRowsAsCSV("csv", "pumps");
  const nested = '"{""height"":2.5,""tags"":[""a"",null]}"';
  assert.equal(csv, `"key","site","size","speed"\np/1,north,${nested},\np/2,"so""uth",,12.5\n`);
  assert.equal(
    await Raw.retrieveRowsAsCSV("csv", "pumps", { columns: ["speed"], limit: 1 }),
    '"key","speed"\np/1,\n',
  );
});

it("deleteTables and deleteDatabases", async () => {
  await Raw.insertRows("old", "pumps", rows, { ensureParent: true });
  await assert.rejects(Raw.deleteDatabases(["old"]), refused(400));
  await assert.rejects(Raw.deleteTables("old", ["elsewhere"]), refused(404));
  await Raw.deleteTables("old", ["pumps"]);
  assert.deepEqual(await Raw.listTables("old"), []);
  await Raw.deleteDatabases(["old"]);
  await assert.rejects(Raw.deleteDatabases(["old"]), refused(404));
  assert.ok(!(await Raw.listDatabases()).includes("old"));
});

it("every method has returned", () => calls.assertAllReturned());
