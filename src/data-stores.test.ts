// A data folder that lacks a part, or has one of another folder or of an older backup: a start refuses it and
// leaves it as it is, and the doctor finds the damage.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { clickHouseUnderTest, newClickHouseDatabase, statement } from "../test/support/clickhouse.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import { needs } from "../test/support/needs.ts";
import { endLeftProcesses, runMillrace } from "../test/support/process.ts";
import { openApp } from "./app.ts";
import type { Settings } from "./config.ts";
import { StartRefused } from "./data-folder.ts";
import { realSystem } from "./lib/system.ts";
import { parseClickHouseShards } from "./storage/clickhouse-points/location.ts";

const adminKey = "a-key-of-this-test-with-enough-letters";
const open = async (data: string, more: Pick<Settings, "points"> = {}) => {
  const settings = {
    host: "127.0.0.1",
    port: 0,
    data,
    project: "demo",
    adminKey,
    logLevel: "silent",
    trustedProxies: [],
    outboundNetworks: [],
    attemptsPerMinute: 1_000_000,
    consoleFolder: data,
    ...more,
  } as const;
  return openApp(settings, realSystem, pino({ level: "silent" }));
};

/** A data folder with a series, a point and a file, of a server that has stopped. */
async function made(): Promise<string> {
  const data = temporaryFolder();
  const app = await open(data);
  const { address } = await app.listen();
  const post = async (path: string, body: unknown) => {
    const url = `${address}/api/0.5/projects/demo${path}`;
    const response = await fetch(url, {
      method: "POST",
      headers: { "api-key": adminKey },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 200);
    return ((await response.json()) as { data: { uploadURL: string } }).data;
  };
  await post("/timeseries", { items: [{ name: "pump" }] });
  await post("/timeseries/data/pump", { items: [{ timestamp: 1, value: 1 }] });
  const { uploadURL } = await post("/files/initupload", { fileName: "manual" });
  assert.equal((await fetch(uploadURL, { method: "PUT", body: "twelve bytes" })).status, 200);
  await app.close();
  return data;
}

let good: string;
let older: string;
let other: string;
before(async () => {
  [good, other] = await Promise.all([made(), made()]);
  older = copyOf(good);
  await (await open(good)).close();
});
after(endLeftProcesses);

function copyOf(data: string): string {
  const copy = temporaryFolder();
  cpSync(data, copy, { recursive: true });
  return copy;
}

/** The content of all files but those of SQLite and of the lock, which every process makes. */
const filesIn = (data: string) =>
  readdirSync(data, { recursive: true })
    .map((name) => `${name}`)
    .filter((name) => statSync(join(data, name)).isFile() && !/-shm$|-wal$|^lock$|^holder\.pid$/.test(name))
    .map((name) => [name, hash("sha1", readFileSync(join(data, name)))]);

const doctor = (data: string, ...words: string[]) =>
  runMillrace(["doctor", ...words], { MILLRACE_DATA: data }, data).ended;

const take = (data: string, name: string) => rmSync(join(data, name), { recursive: true });
const swap = (data: string, name: string, from: string) => {
  take(data, name);
  cpSync(join(from, name), join(data, name), { recursive: true });
};
const empty = (data: string, name: string) => {
  take(data, name);
  mkdirSync(join(data, name));
};

/** The lost part, and the messages of a start and of the doctor. */
const losses: readonly [title: string, lose: (data: string) => void, says: RegExp][] = [
  ["no catalog", (data) => take(data, "catalog.db"), /^catalog\.db.* found no file/],
  [
    "an empty catalog",
    (data) => writeFileSync(join(data, "catalog.db"), ""),
    /^catalog\.db.* without records/,
  ],
  ["no points", (data) => take(data, "points"), /^points\/.* found an empty folder or none/],
  ["points that are empty", (data) => empty(data, "points"), /^points\/.* found an empty folder or none/],
  ["no blobs", (data) => take(data, "blobs"), /^blobs\/.* found an empty folder or none/],
  ["blobs that are empty", (data) => empty(data, "blobs"), /^blobs\/.* found an empty folder or none/],
  ["points of another folder", (data) => swap(data, "points", other), /^points\/.* found folder \d+/],
  ["blobs of another folder", (data) => swap(data, "blobs", other), /^blobs\/.* found folder \d+/],
  ["a catalog of another folder", (data) => swap(data, "catalog.db", other), /^points\/.* found folder \d+/],
  ["points of an older backup", (data) => swap(data, "points", older), /^points\/.* as of start 1$/],
  ["blobs of an older backup", (data) => swap(data, "blobs", older), /^blobs\/.* as of start 1$/],
  ["a catalog of an older backup", (data) => swap(data, "catalog.db", older), /^points\/.* as of start 2$/],
  ["no store.json", (data) => take(data, "points/store.json"), /store\.json.*(missing|no file)/],
  ["no shard", (data) => take(data, "points/shard-0.sqlite"), /shard-0\.sqlite.*(missing|none)/],
  ["a mark with a flipped bit", (data) => spoil(data, "blobs/identity.json"), /^blobs\/.* is damaged/],
];

function spoil(data: string, name: string): void {
  const bytes = readFileSync(join(data, name));
  bytes[bytes.indexOf(":", 15) + 2]! ^= 1;
  writeFileSync(join(data, name), bytes);
}

for (const [title, lose, says] of losses)
  test(`${title}: refused at start, which changes nothing, and found by the doctor`, async () => {
    const data = copyOf(good);
    lose(data);
    const found = filesIn(data);
    for (const time of ["first", "second"]) {
      const refusal = await open(data).then(
        () => assert.fail("it starts"),
        (problem: unknown) => problem,
      );
      assert.ok(refusal instanceof StartRefused, String(refusal));
      const [line = "", nextStep = ""] = refusal.message.replaceAll(`${data}/`, "").split("\n");
      assert.match(line.replace(/^The data folder \S+ is incomplete: |\.$/g, ""), says, time);
      assert.match(nextStep, /backup/);
    }
    assert.deepEqual(filesIn(data), found);
    const { status, output } = await doctor(data);
    assert.equal(status, 3, output);
    assert.match(output.replaceAll(`${data}/`, ""), new RegExp(says.source, "m"));
  });

test("a folder with datapoints is refused if ClickHouse is to store them, and stays as it is", async () => {
  const data = copyOf(good);
  const before = filesIn(data);
  const points = parseClickHouseShards("clickhouse://127.0.0.1:9/plant")!;
  await assert.rejects(open(data, { points }), (problem: Error) => {
    assert.ok(problem instanceof StartRefused);
    assert.match(problem.message, /the data folder has datapoints, but MILLRACE_POINTS names a database/);
    assert.match(problem.message, /Start without MILLRACE_POINTS, or with a new data folder/);
    return true;
  });
  assert.deepEqual(filesIn(data), before);
  await (await open(data)).close();
});

test("a folder whose datapoints are in ClickHouse names the place", needs("clickhouse"), async () => {
  const data = temporaryFolder();
  const { server, end } = await clickHouseUnderTest();
  const points = parseClickHouseShards(await newClickHouseDatabase(server))!;
  await (await open(data, { points })).close();
  const before = filesIn(data);
  const isNamed = (text: string) => {
    assert.match(
      text,
      new RegExp(`the datapoints are in clickhouse://millrace@[^ ]+/${points[0].database}, and`),
    );
    assert.match(text, /Set MILLRACE_POINTS to this address, with the password/);
    assert.ok(!text.includes(points[0].password) && !text.includes("backup"));
  };
  await assert.rejects(open(data), (problem: Error) => {
    assert.ok(problem instanceof StartRefused);
    isNamed(problem.message);
    return true;
  });
  const examined = await doctor(data);
  assert.equal(examined.status, 1);
  isNamed(examined.errors);
  assert.deepEqual(filesIn(data), before);
  const record = readFileSync(join(data, "points", "clickhouse.json"), "utf8");
  assert.ok(!record.includes(points[0].password) && !record.includes(encodeURIComponent(points[0].password)));
  await (await open(data, { points })).close();
  await end();
});

test("an empty ClickHouse is refused where datapoints were", needs("clickhouse"), async () => {
  const data = temporaryFolder();
  const { server, end } = await clickHouseUnderTest();
  const url = await newClickHouseDatabase(server);
  const points = parseClickHouseShards(url)!;
  await (await open(data, { points })).close();
  const lose = async (...names: readonly string[]) => {
    for (const name of names) await statement(server, `DROP TABLE ${name}`, points[0].database);
  };
  await lose("points", "tombstones", "reservations");
  let owner = "";
  for (const time of ["first", "second"])
    await assert.rejects(open(data, { points }), (problem: Error) => {
      assert.ok(problem instanceof StartRefused, time);
      const named = /the database clickhouse:\S+ is empty, but this installation, owner (\d+), has its/;
      assert.match(problem.message, named);
      assert.match(problem.message, /Restore the database, or let MILLRACE_POINTS name the one/);
      assert.ok(!problem.message.includes(points[0].password));
      owner = named.exec(problem.message)![1]!;
      return true;
    });
  await statement(server, `INSERT INTO reservations VALUES (${owner}, 1)`, points[0].database);
  await (await open(data, { points })).close();
  await end();
});

test("the doctor repairs a mark; files that are gone with their folder stay missing", async () => {
  const data = copyOf(good);
  take(data, "blobs/identity.json");
  assert.equal((await doctor(data, "--repair")).status, 0);
  await (await open(data)).close();
  const hollow = copyOf(good);
  empty(hollow, "blobs");
  const { status, output } = await doctor(hollow, "--repair");
  assert.equal(status, 3);
  assert.match(output, /^blobs\/\d+\/\d+ at 0: expected 12 bytes, found no file\n {2}cannot be repaired/m);
});

test("the doctor finds files that are gone or have another size", async () => {
  const data = copyOf(good);
  const [name] = readdirSync(join(data, "blobs"), { recursive: true }).filter((one) =>
    /\d+\/\d+$/.test(`${one}`),
  );
  writeFileSync(join(data, "blobs", `${name}`), "cut");
  const cut = await doctor(data, "--repair");
  assert.equal(cut.status, 3);
  assert.match(cut.output, /^blobs\/\d+\/\d+ at 0: expected 12 bytes, found 3 bytes\n {2}cannot be repaired/);
  take(data, `blobs/${name}`);
  assert.match((await doctor(data)).output, /^blobs\/\d+\/\d+ at 0: expected 12 bytes, found no file/);
});

test("folders that are empty, and that of a whole disk, may be there before the first start", async () => {
  const data = temporaryFolder();
  for (const name of ["points", "blobs", "blobs/lost+found"]) mkdirSync(join(data, name));
  await (await open(data)).close();
  await (await open(data)).close();
});
