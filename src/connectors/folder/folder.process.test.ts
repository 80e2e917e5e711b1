// Files that appear in a folder are read once, also when the connector is killed while it reads.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ConnectedServer, connect, stopped, until } from "../../../test/support/connector.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { endLeftProcesses } from "../../../test/support/process.ts";

type Json = Readonly<Record<string, unknown>>;
const server = new ConnectedServer();
before(() => server.start());
after(endLeftProcesses);

const points = { series: "{tag}", timestamp: "time", value: "value", unit: "{unit}" };
const configured = (name: string, path: string, files: readonly Json[], more: Json = {}) =>
  server.configured(name, { type: "folder", path, every: "50ms", settled: "0s", files, ...more });

/** A file that was last changed a minute ago. */
function put(folder: string, name: string, content: string | Buffer): void {
  writeFileSync(join(folder, name), content);
  const seconds = Date.now() / 1_000 - 60;
  utimesSync(join(folder, name), seconds, seconds);
}

const latestOf = async (name: string) => {
  const [found] = await server.items("POST", "timeseries/latest", { items: [{ name }] });
  return (found!["datapoints"] as { timestamp: number; value: number }[])[0];
};

test("CSV with decimal commas and JSON lines become points and rows; bad lines are counted", async () => {
  const folder = temporaryFolder();
  const lines = ["2026-01-01 00:00:00;1,5", "2026-01-02T00:00:00+01:00;-2,25", "x;1", "2026-01-03;0x10"];
  const latin = `tag;time;value;unit\n${lines.map((line) => `ofen;${line};°C\n`).join("")}`;
  put(folder, "lab.csv", Buffer.from(latin, "latin1"));
  put(folder, "orders.jsonl", '{"id":1,"n":1.5,"list":[1,null]}\n[]\n{"id":"ü","n":null}\n');
  put(folder, "other.txt", "not read");
  const file = configured("mixed", folder, [
    { pattern: "*.csv", delimiter: ";", encoding: "latin1", decimalComma: true, points },
    { pattern: "*.jsonl", rows: { database: "files", table: "orders", key: "{id}" } },
  ]);
  assert.match((await connect(file, "check").ended).output, /ok +source: .* has 2 files that match/);
  const connector = connect(file);
  await until(async () => (await server.countOf("mixed/ofen")) === 2, "the points");
  const rows = async () => (await server.page("/api/0.6/projects/default/raw/files/orders")).items;
  await until(
    async () => (await server.items("GET", "raw")).length > 0 && (await rows()).length === 2,
    "the rows",
  );
  assert.deepEqual(await latestOf("mixed/ofen"), { timestamp: Date.UTC(2026, 0, 1, 23), value: -2.25 });
  const found = new Map((await rows()).map(({ key, columns }) => [key, columns]));
  assert.deepEqual(found.get("1"), { id: 1, n: 1.5, list: [1, null] });
  assert.deepEqual(found.get("ü"), { id: "ü" });
  const output = await stopped(connector);
  assert.match(output, /source lab.csv: Refused lines: 2\n {2}line 4: ofen: time is "x", no time\n/);
  assert.match(output, /\n {2}line 5: ofen: value is "0x10", no number\n/);
  assert.match(output, /source orders.jsonl: Refused lines: 1\n {2}line 2: not a JSON object/);
  assert.match(output, /Stopped; not on the server: 3 refused\n/);
  const [report] = await server.items("GET", "connectors?name=mixed");
  assert.deepEqual(report!["counts"], { received: 7, written: 4, refused: 3, dropped: 0 });
  assert.deepEqual(readdirSync(folder).sort(), ["lab.csv", "orders.jsonl", "other.txt"]);
});

test("a killed connector continues in the file, and reads no file twice", async () => {
  const folder = temporaryFolder();
  const lines = Array.from({ length: 40_000 }, (_, i) => `s,${1_700_000_000_000 + i},${i}`);
  put(folder, "long.csv", `tag,time,value\n${lines.join("\n")}\n`);
  const mapping = { series: "{tag}", timestamp: "time", value: "value" };
  const file = configured("long", folder, [{ pattern: "*.csv", points: mapping }], { afterwards: "move" });
  for (const killedAfterMs of [600, 900]) {
    const killed = connect(file);
    await pause(killedAfterMs);
    killed.child.kill("SIGKILL");
    await killed.ended;
  }
  const connector = connect(file);
  await until(async () => (await server.countOf("long/s")) === lines.length, "all points");
  await until(() => existsSync(join(folder, "done", "long.csv")), "the file in its folder");
  put(folder, "next.csv", `tag,time,value\ns,${1_790_000_000_000},1\n`);
  await until(async () => (await server.countOf("long/s")) === lines.length + 1, "the next file");
  await stopped(connector);
  const [report] = await server.items("GET", "connectors?name=long");
  assert.deepEqual(report!["counts"], {
    ...{ received: 40_001, written: 40_001 },
    ...{ refused: 0, dropped: 0 },
  });
});

test("a file that still changes is left, and a folder that is away is a problem", async () => {
  const folder = temporaryFolder();
  const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
  const file = configured("growing", folder, files, { settled: "1h" });
  writeFileSync(join(folder, "now.csv"), "tag,time,value\ns,1,1\n");
  assert.match((await connect(file, "check").ended).output, /has 0 files that match/);
  const away = configured("away", join(folder, "none"), files);
  assert.match((await connect(away, "check").ended).output, /failed +source: .*none is no folder/);
});

test("a file whose time is in the future is read when it no longer changes", async () => {
  const folder = temporaryFolder();
  const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
  writeFileSync(join(folder, "ahead.csv"), "tag,time,value\ns,1,1\n");
  const seconds = Date.now() / 1_000 + 86_400;
  utimesSync(join(folder, "ahead.csv"), seconds, seconds);
  const connector = connect(configured("ahead", folder, files, { settled: "300ms" }));
  await until(async () => (await server.countOf("ahead/s")) === 1, "the point");
  await stopped(connector);
});

for (const afterwards of ["move", "delete"])
  test(`a dry run leaves the files as they are (${afterwards})`, async () => {
    const folder = temporaryFolder();
    const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
    put(folder, "once.csv", "tag,time,value\ns,1,1\n");
    const dry = connect(configured("dry", folder, files, { afterwards }), "--dry-run");
    await until(() => dry.output().includes("point "), "the point");
    await pause(300);
    await stopped(dry);
    assert.deepEqual(readdirSync(folder), ["once.csv"]);
  });

test("records stay in the buffer while the asset of the configuration does not exist", async () => {
  const folder = temporaryFolder();
  const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
  const file = configured("below", folder, files);
  const { destination, ...others } = JSON.parse(readFileSync(file, "utf8")) as { readonly destination: Json };
  writeFileSync(file, JSON.stringify({ ...others, destination: { ...destination, asset: 1 } }));
  put(folder, "once.csv", "tag,time,value\ns,1,1\n");
  const checked = await connect(file, "check").ended;
  assert.match(checked.output, /failed {2}server: destination\.asset: there is no asset 1 /);
  assert.equal(checked.status, 1);
  const connector = connect(file);
  await until(() => connector.output().includes("there is no asset 1 "), "the reason");
  assert.match(await stopped(connector), /Stopped; not on the server: 1 in the buffer\n/);
});

test("a file without the column that names its series stays, and makes no series", async () => {
  const folder = temporaryFolder();
  const files = [{ pattern: "*.csv", points: { series: "lab.{tag}", timestamp: "time", value: "value" } }];
  put(folder, "other.csv", "name,time,value\ns,1,1\n");
  put(folder, "tags.csv", "tag,time,value\ns,1,1\n");
  const connector = connect(configured("names", folder, files, { afterwards: "move" }));
  await until(async () => (await server.countOf("names/lab.s")) === 1, "the point of the other file");
  assert.match(await stopped(connector), /source other.csv: No line has the column tag/);
  assert.deepEqual(await server.countOf("names/lab."), 0);
  assert.ok(existsSync(join(folder, "other.csv")));
});

test("files with one name are all kept; one that cannot be read does not hold up the others", async () => {
  const folder = temporaryFolder();
  const files = [{ pattern: "*.csv", points: { series: "{tag}", timestamp: "time", value: "value" } }];
  put(folder, "bad.csv", "tag,when,value\ns,1,1\n");
  const connector = connect(configured("again", folder, files, { afterwards: "move" }));
  for (const n of [1, 2, 3]) {
    put(folder, "export.csv", `tag,time,value\n${"s".repeat(n)},${n},1\n`);
    await until(() => !existsSync(join(folder, "export.csv")), `file ${n} in its folder`);
  }
  await until(async () => (await server.countOf("again/sss")) === 1, "the last point");
  assert.match(await stopped(connector), /source bad.csv: No line has the column time/);
  const kept = readdirSync(join(folder, "done")).sort();
  assert.deepEqual(kept, ["export.2.csv", "export.3.csv", "export.csv"]);
  assert.deepEqual(readFileSync(join(folder, "done", "export.csv"), "utf8"), "tag,time,value\ns,1,1\n");
  assert.ok(existsSync(join(folder, "bad.csv")));
});
