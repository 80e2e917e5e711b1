// One shard: when points are flushed to blocks, the size of these blocks, and a file that cannot be written.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { batchOf, sineWave } from "../conformance/points.ts";
import { Shard } from "./shard.ts";

const pump = 4096;
const everything = { series: pump, isString: false, startMs: -Infinity, endMs: Infinity, limit: 1e9 };

async function play(work: (shard: Shard, path: string) => void): Promise<void> {
  const folder = temporaryFolder();
  const path = join(folder, "shard-0.sqlite");
  const shard = new Shard(path, { file: "shard-0.sqlite", blockPoints: 100 });
  try {
    work(shard, path);
  } finally {
    shard.close();
  }
}

const append = (shard: Shard, points: readonly (readonly [number, number])[]) =>
  shard.apply({ kind: "append", batch: batchOf([pump, points]) });

function workAll(shard: Shard): void {
  while (shard.hasWork) shard.work();
}

/** Number of points of each block, in order of time. */
function blockSizes(path: string): number[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare("SELECT count FROM block ORDER BY first_ms").all();
  database.close();
  return rows.map((row) => Number(row["count"]));
}

/** Damages these blocks, so that a read of one fails. */
function spoilBlocksBefore(path: string, beforeMs: number): void {
  const database = new DatabaseSync(path);
  const spoil = "UPDATE data SET bytes = x'00' WHERE id IN (SELECT data_id FROM block WHERE last_ms < ?)";
  assert.ok(Number(database.prepare(spoil).run(beforeMs).changes) > 0);
  database.close();
}

it("points in order become full blocks, each written once; the rest waits for a checkpoint", () =>
  play((shard, path) => {
    for (let from = 0; from < 3250; from += 125) {
      append(shard, sineWave(125, from, 1));
      workAll(shard);
    }
    assert.deepEqual(new Set(blockSizes(path)), new Set([100]));
    shard.startCheckpoint(10);
    workAll(shard);
    assert.equal(shard.flushedSequence, 10);
    assert.equal(blockSizes(path).at(-1), 50);
    assert.deepEqual(shard.stats(), { points: 3250, blocks: 33, damage: [] });
  }));

it("heads are flushed earlier the more of them grow, so that together they have a bounded size", () =>
  play((shard, path) => {
    append(shard, sineWave(1_550, 0, 1));
    assert.equal(shard.hasWork, false);
    const others = Array.from({ length: 2_000 }, (_, at) => [8192 + at, sineWave(70, 0, 1)] as const);
    shard.apply({ kind: "append", batch: batchOf(...others) });
    assert.equal(shard.hasWork, false);
    append(shard, sineWave(10, 1_550, 1));
    assert.equal(shard.hasWork, true);
    workAll(shard);
    assert.deepEqual(new Set(blockSizes(path)), new Set([100]));
    assert.equal(shard.scan(everything).times.length, 1_560);
    for (const [series] of others) shard.apply({ kind: "delete", series });
    append(shard, sineWave(1_400, 1_560, 1));
    assert.equal(shard.hasWork, false);
  }));

it("a checkpoint writes series in the order of their rows, whatever order they were written in", () =>
  play((shard, path) => {
    for (const series of [8, 2, 9, 1, 5])
      shard.apply({ kind: "append", batch: batchOf([series, sineWave(250, 0, 1)]) });
    shard.startCheckpoint(1);
    workAll(shard);
    const database = new DatabaseSync(path);
    const rows = database.prepare("SELECT series, first_ms FROM block ORDER BY data_id").all();
    const ordered = database.prepare("SELECT series, first_ms FROM block ORDER BY series, first_ms").all();
    database.close();
    assert.equal(rows.length, 15);
    assert.deepEqual(rows, ordered);
  }));

it("late points for many blocks are merged a few blocks at a time, until all are merged", () =>
  play((shard) => {
    append(shard, sineWave(5000, 0, 10));
    shard.startCheckpoint(1);
    workAll(shard);
    append(shard, sineWave(500, 5, 100));
    shard.startCheckpoint(2);
    shard.work();
    assert.equal(shard.flushedSequence, 1);
    assert.equal(shard.scan(everything).times.length, 5500);
    workAll(shard);
    assert.equal(shard.flushedSequence, 2);
    assert.equal(shard.scan(everything).times.length, 5500);
    assert.equal(shard.stats().points, 5500);
  }));

it("many checkpoints with few points each do not leave one block for each", () =>
  play((shard, path) => {
    for (let sequence = 1; sequence <= 60; sequence++) {
      append(shard, sineWave(5, sequence * 5, 1));
      shard.startCheckpoint(sequence);
      workAll(shard);
    }
    assert.ok(blockSizes(path).length <= 10, `${blockSizes(path)}`);
    assert.equal(shard.scan(everything).times.length, 300);
  }));

for (const [name, of] of [
  ["numbers, a block and a half at a time", (index: number) => index],
  ["long strings", (index: number) => `${index} ${"x".repeat(5000)}`],
] as const) {
  it(`a checkpoint reads and writes only the newest blocks, however long the series is: ${name}`, () =>
    play((shard, path) => {
      const checkpoint = (sequence: number) => {
        const points = Array.from({ length: 155 }, (_, i) => [sequence * 155 + i, of(i)] as const);
        shard.apply({ kind: "append", batch: batchOf([pump, points]) });
        shard.startCheckpoint(sequence);
        workAll(shard);
      };
      for (let sequence = 1; sequence <= 5; sequence++) checkpoint(sequence);
      spoilBlocksBefore(path, 3 * 155);
      for (let sequence = 6; sequence <= 10; sequence++) checkpoint(sequence);
      assert.deepEqual(shard.stats().damage, []);
    }));
}

it("late points are merged into the blocks with their times", () =>
  play((shard, path) => {
    append(shard, sineWave(1000, 0, 10));
    workAll(shard);
    append(shard, [
      [55, 1],
      [9985, 2],
      [-5, 3],
      [10, 4],
    ]);
    shard.startCheckpoint(2);
    workAll(shard);
    assert.equal(shard.scan(everything).times.length, 1003);
    assert.equal(
      blockSizes(path).reduce((sum, size) => sum + size, 0),
      1003,
    );
    assert.ok(Math.max(...blockSizes(path)) <= 150);
  }));

it("a cached block is not returned for a new block with the same id", () =>
  play((shard) => {
    const query = { ...everything, startMs: 0, endMs: 1000, isStep: false, bucketMs: 70 };
    const sums = () => [...shard.aggregate({ ...query, aggregates: ["sum"] }).columns[0]!];
    append(shard, sineWave(300, 0, 1));
    workAll(shard);
    for (let round = 1; round <= 3; round++) {
      sums();
      shard.apply({ kind: "delete", series: pump, range: { startMs: 0, endMs: 1000 } });
      append(
        shard,
        Array.from({ length: 300 }, (_, timeMs) => [timeMs, round] as const),
      );
      shard.startCheckpoint(round);
      workAll(shard);
      assert.deepEqual(
        sums(),
        [70, 70, 70, 70, 20].map((points) => points * round),
      );
      assert.deepEqual([...shard.scan(everything).values], new Array(300).fill(round));
    }
  }));

it("full blocks are flushed after a checkpoint that failed", () =>
  play((shard, path) => {
    append(shard, sineWave(2000, 0, 10));
    const other = new DatabaseSync(path);
    other.exec("CREATE TRIGGER refuse BEFORE INSERT ON block BEGIN SELECT RAISE(ABORT, 'no space'); END");
    shard.startCheckpoint(1);
    assert.throws(() => workAll(shard), /no space/);
    shard.cancelCheckpoint();
    assert.equal(shard.headsToFlush, 1);
    other.exec("DROP TRIGGER refuse");
    other.close();
    workAll(shard);
    assert.ok(shard.stats().blocks > 0);
    assert.equal(shard.scan(everything).times.length, 2000);
  }));

it("a file that cannot be written loses nothing: points stay in memory, and are flushed later", () =>
  play((shard, path) => {
    append(shard, sineWave(2000, 0, 10));
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    shard.startCheckpoint(1);
    assert.throws(() => workAll(shard), /locked/);
    shard.cancelCheckpoint();
    assert.throws(() => workAll(shard), /locked/);
    assert.equal(shard.scan(everything).times.length, 2000);
    assert.equal(shard.flushedSequence, 0);
    other.exec("ROLLBACK");
    other.close();
    shard.startCheckpoint(2);
    workAll(shard);
    assert.equal(shard.flushedSequence, 2);
    assert.deepEqual(shard.stats(), { points: 2000, blocks: 20, damage: [] });
  }));

it("reads of one transaction see each other's quarantine, and a write among them ends it", () =>
  play((shard, path) => {
    append(shard, sineWave(3000, 0, 1));
    workAll(shard);
    spoilBlocksBefore(path, 100);
    shard.withReads(() => {
      assert.equal(shard.scan({ ...everything, startMs: 1000 }).times.length, 2000);
      assert.throws(() => shard.scan(everything), /damaged/);
      assert.equal(shard.scan({ ...everything, startMs: 100 }).times.length, 2900);
    });
    assert.equal(shard.stats().damage.length, 1);
    append(shard, sineWave(3000, 3000, 1));
    workAll(shard);
    assert.equal(shard.scan({ ...everything, startMs: 100 }).times.length, 5900);
  }));
