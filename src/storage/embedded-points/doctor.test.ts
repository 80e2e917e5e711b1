// The doctor finds each kind of damage in a closed store. It changes nothing without `repair`; with it, the
// store opens again and has all points that were not damaged.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { type EmbeddedUnderTest, embeddedUnderTest } from "../../../test/support/points-store.ts";
import { at, batchOf, pointsOf, sineWave } from "../conformance/points.ts";
import type { Finding } from "../findings.ts";
import { type Examination, examineStore } from "./doctor.ts";
import {
  readStateSql,
  type StoredShardState,
  stateOf,
  stateValues,
  writeStateSql,
} from "./stored-shard-state.ts";

const [pump, motor, valve] = [4096, 8192, 12_288];

/** A closed store of one shard with ten blocks of the pump and a string. */
async function play(work: (test: EmbeddedUnderTest) => Promise<void>): Promise<void> {
  const test = await embeddedUnderTest({ shards: 1, blockPoints: 100 });
  try {
    await test.store.append(batchOf([pump, sineWave(1000, 0, 10)], [motor, [[1, "open"]]]));
    await test.store.close();
    await work(test);
  } finally {
    await test.end();
  }
}

const look = (folder: string) =>
  examineStore(folder, { repair: false, onRepaired: () => assert.fail("repaired") });

async function repair(folder: string): Promise<Examination & { readonly repaired: Finding[] }> {
  const repaired: Finding[] = [];
  const left = await examineStore(folder, { repair: true, onRepaired: (one) => repaired.push(one) });
  return { ...left, repaired };
}

function edit(folder: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(join(folder, "shard-0.sqlite"));
  for (const sql of statements) database.exec(sql);
  database.close();
}

function rewriteState(folder: string, change: Partial<StoredShardState>): void {
  const database = new DatabaseSync(join(folder, "shard-0.sqlite"));
  const state = { ...stateOf(database.prepare(readStateSql).get())!, ...change };
  database.prepare(writeStateSql).run(...stateValues(state));
  database.close();
}

const spoil = "bytes = CAST(substr(bytes, 1, 50) || 'x' || substr(bytes, 52) AS BLOB)";
const blockAt3000 = `(SELECT data_id FROM block WHERE series = ${pump} AND first_ms = 3000)`;
function idOfBlockAt3000(folder: string): number {
  const database = new DatabaseSync(join(folder, "shard-0.sqlite"));
  const found = database.prepare(`SELECT ${blockAt3000} AS id`).get();
  database.close();
  return Number(found!["id"]);
}
const summed = { series: pump, isStep: false, startMs: 0, endMs: 10_000, bucketMs: 10_000, limit: 10 };
const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !/-shm$|-wal$|^set-aside$/.test(name))
    .map((name) => [name, hash("sha1", readFileSync(join(folder, name)))]);

it("an undamaged store is not changed, nor is a folder without a store", () =>
  play(async ({ folder }) => {
    const before = filesIn(folder);
    assert.deepEqual(await look(folder), { findings: [], tornBytes: 0 });
    assert.deepEqual(await repair(folder), { findings: [], tornBytes: 0, repaired: [] });
    assert.deepEqual(filesIn(folder), before);
    assert.deepEqual(await look(join(folder, "none")), { findings: [], tornBytes: 0 });
  }));

it("a damaged block is reported, and with repair moved to a file of its own", () =>
  play(async ({ folder, restart }) => {
    const id = idOfBlockAt3000(folder);
    edit(folder, `UPDATE data SET ${spoil} WHERE id = ${id}`);
    const before = filesIn(folder);
    const { findings } = await look(folder);
    assert.deepEqual(
      findings.map(({ file, offset }) => [file, offset]),
      [["shard-0.sqlite", id]],
    );
    assert.match(findings[0]!.expected, /^checksum [0-9a-f]{8}$/);
    assert.match(findings[0]!.found, /^checksum [0-9a-f]{8}$/);
    assert.match(findings[0]!.remedy!.says, /^remove the points of series 4096 from 3000 to 3990 ms/);
    assert.deepEqual(filesIn(folder), before);
    const { findings: left, repaired } = await repair(folder);
    assert.deepEqual([left.length, repaired.length], [0, 1]);
    const aside = readdirSync(join(folder, "set-aside"));
    assert.deepEqual(aside, [`shard-0.sqlite-block-${id}-series-4096-from-3000-to-3990`]);
    assert.ok(readFileSync(join(folder, "set-aside", aside[0]!)).length > 36);
    const store = await restart();
    assert.equal((await pointsOf(store, pump)).length, 900);
    const { points, blocks, quarantined } = await store.stats();
    assert.deepEqual({ points, blocks, quarantined }, { points: 901, blocks: 10, quarantined: [] });
  }));

it("a block that the store has quarantined is removed as well", () =>
  play(async ({ folder, restart }) => {
    edit(folder, `UPDATE data SET ${spoil} WHERE id = ${blockAt3000}`);
    const store = await restart();
    await assert.rejects(pointsOf(store, pump));
    await store.close();
    assert.equal((await look(folder)).findings.length, 1);
    assert.deepEqual((await repair(folder)).findings, []);
    assert.equal((await pointsOf(await restart(), pump)).length, 900);
  }));

it("a damaged summary and wrong totals are recalculated from the points", () =>
  play(async ({ folder, restart }) => {
    const store = await restart();
    const right = await store.aggregate({ ...summed, aggregates: ["sum", "average"] });
    await store.close();
    edit(
      folder,
      `UPDATE block SET header = CAST('changed!' || substr(header, 9) AS BLOB)
        WHERE data_id = ${blockAt3000}`,
    );
    rewriteState(folder, { points: 7 });
    assert.deepEqual(
      (await look(folder)).findings.map(({ offset, remedy }) => [offset, remedy!.says]),
      [
        [idOfBlockAt3000(folder), "recalculate the summaries"],
        [0, "count again"],
      ],
    );
    const { findings, repaired } = await repair(folder);
    assert.deepEqual([findings.length, repaired.length], [0, 2]);
    const again = await restart();
    assert.deepEqual(await again.aggregate({ ...summed, aggregates: ["sum", "average"] }), right);
    assert.equal((await again.stats()).points, 1001);
  }));

it("a wrong summary of a day is reported, and calculated again", async () => {
  const test = await embeddedUnderTest({ shards: 1, blockPoints: 32 });
  try {
    const dayMs = 86_400_000;
    await test.store.append(batchOf([pump, sineWave(128 * 5, 0, dayMs / 128)]));
    await test.store.close();
    assert.deepEqual(await look(test.folder), { findings: [], tornBytes: 0 });
    edit(test.folder, `UPDATE day SET header = zeroblob(128) WHERE start_ms = ${dayMs}`);
    const { findings } = await look(test.folder);
    assert.deepEqual(
      findings.map(({ offset, remedy }) => [offset, remedy!.says]),
      [[0, "calculate the summary of the day again"]],
    );
    assert.match(findings[0]!.found, /series 4096 from 86400000 ms on$/);
    assert.equal((await repair(test.folder)).repaired.length, 1);
    assert.deepEqual(await look(test.folder), { findings: [], tornBytes: 0 });
  } finally {
    await test.end();
  }
});

it("a shard with a damaged state is not opened, and its state is restored from its blocks", () =>
  play(async ({ folder, restart }) => {
    edit(folder, "UPDATE state SET applied = applied + 1");
    await assert.rejects(restart(), /the state of shard-0.sqlite is damaged/);
    assert.deepEqual((await repair(folder)).repaired.length, 1);
    const store = await restart();
    assert.equal((await pointsOf(store, pump)).length, 1000);
    await store.append(batchOf([pump, [[20_000, 1]]]));
    assert.equal((await pointsOf(await restart(), pump)).length, 1001);
  }));

it("all whole records of a damaged journal are applied, and the segment is set aside", () =>
  play(async ({ folder, restart }) => {
    const other = await embeddedUnderTest({ shards: 1 });
    for (const value of [1, 2, 3]) await other.store.append(batchOf([valve, [[value, value]]]));
    const name = readdirSync(other.folder).find((one) => one.endsWith(".log"))!;
    const bytes = readFileSync(join(other.folder, name));
    await other.end();
    // As after a crash, with one flipped bit and half a record.
    bytes[60]! ^= 1;
    rewriteState(folder, { flushedSequence: 0 });
    for (const one of readdirSync(folder)) if (one.endsWith(".log")) rmSync(join(folder, one));
    writeFileSync(join(folder, name), Buffer.concat([bytes, bytes.subarray(16, 60)]));
    const { findings, tornBytes } = await look(folder);
    assert.deepEqual(
      findings.map(({ file, offset, expected }) => [file, offset, expected]),
      [[name, 16, "record 1"]],
    );
    assert.equal(tornBytes, 44);
    const left = await repair(folder);
    assert.deepEqual([left.findings.length, left.repaired.length, left.tornBytes], [0, 1, 0]);
    assert.deepEqual(readdirSync(join(folder, "set-aside")), [`damaged-${name}`]);
    const store = await restart();
    assert.deepEqual(await pointsOf(store, valve), at("2=2 3=3"));
    assert.equal((await pointsOf(store, pump)).length, 1000);
    assert.deepEqual((await store.stats()).quarantined, []);
  }));

it("unrepairable damage is reported and left: no database, a missing shard, a damaged store.json", () =>
  play(async ({ folder }) => {
    const path = join(folder, "shard-0.sqlite");
    const bytes = readFileSync(path);
    const ruin: readonly (() => void)[] = [
      () => writeFileSync(path, "no database at all ".repeat(1000)),
      () => writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(8192, 7)])),
      () => rmSync(path),
    ];
    for (const work of ruin) {
      work();
      const { findings, repaired } = await repair(folder);
      assert.ok(findings.length > 0 && repaired.length === 0);
      assert.equal(findings[0]!.remedy, undefined);
      assert.equal(findings[0]!.file, "shard-0.sqlite");
    }
    writeFileSync(path, bytes);
    const spoiled = '{"format":"millrace-points","version":1,"store":1,"shards":3,"crc":1}';
    writeFileSync(join(folder, "store.json"), spoiled);
    assert.deepEqual(
      (await repair(folder)).findings.map(({ file }) => file),
      ["store.json"],
    );
  }));

it("a store with a missing shard file is not opened as an empty one", async () => {
  const test = await embeddedUnderTest({ shards: 2 });
  try {
    await test.store.append(batchOf([pump, at("1=1")], [motor, at("1=1")], [valve, at("1=1")]));
    await test.store.close();
    rmSync(join(test.folder, "shard-1.sqlite"));
    for (const time of ["first", "again"])
      await assert.rejects(test.restart(), /shard-1.sqlite is missing or empty/, time);
    assert.ok(!existsSync(join(test.folder, "shard-1.sqlite")), "a refused start makes nothing");
  } finally {
    await test.end();
  }
});

const shardFiles = (folder: string) => [0, 1].map((shard) => join(folder, `shard-${shard}.sqlite`));

/** The ways to lose a part of a store with two shards. Each is refused, and found by the doctor. */
const losses: Readonly<Record<string, (folder: string, other: string) => void>> = {
  "a shard is empty": (folder) => writeFileSync(shardFiles(folder)[1]!, ""),
  "swapped shards": (folder) => {
    const [one, two] = shardFiles(folder) as [string, string];
    renameSync(one, `${one}.kept`);
    renameSync(two, one);
    renameSync(`${one}.kept`, two);
  },
  "a shard is of another store": (folder, other) => cpSync(shardFiles(other)[0]!, shardFiles(folder)[0]!),
  "store.json is of a store with more shards": (folder, other) =>
    cpSync(join(other, "store.json"), join(folder, "store.json")),
  "store.json is gone": (folder) => rmSync(join(folder, "store.json")),
};

for (const [title, lose] of Object.entries(losses)) {
  it(`${title}: the store is not opened, and its files are not changed`, async () => {
    const test = await embeddedUnderTest({ shards: 2 });
    const other = await embeddedUnderTest({ shards: 3 });
    try {
      await test.store.append(batchOf([pump, at("1=1")], [motor, at("1=1")], [valve, at("1=1")]));
      for (const { store } of [test, other]) await store.close();
      lose(test.folder, other.folder);
      const before = filesIn(test.folder);
      await assert.rejects(test.restart());
      await assert.rejects(test.restart());
      assert.deepEqual(filesIn(test.folder), before);
      if (title !== "store.json is gone") assert.ok((await look(test.folder)).findings.length > 0);
    } finally {
      await test.end();
      await other.end();
    }
  });
}
