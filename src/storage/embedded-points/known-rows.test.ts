// Rows of blocks kept in memory answer as the table does, whatever is written, erased or broken in between.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import type { AggregateQuestion } from "../points.ts";
import { Shard } from "./shard.ts";

const pump = 4096;
const pointCount = 4_000;
const rounds = times(300, 10_000);
const wanted = ["count", "min", "max", "sum", "average", "totalVariation"] as const;

const open = () => {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  return { path, shard: new Shard(path, { file: "shard-0.sqlite", blockPoints: 10 }) };
};

const settle = (shard: Shard, sequence: number) => {
  shard.beginCheckpoint(sequence);
  while (shard.isBusy) shard.work();
};

const random = randomFrom(seed);
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
const walk = (count: number, fromMs: number, stepMs: number): [number, number][] =>
  Array.from({ length: count }, (_, i) => [fromMs + i * stepMs, whole(-1000, 1000) / 8]);

it(`long walks between writes, late points, erasures and checkpoints, PROOF_SEED=${seed}`, async () => {
  const { shard } = open();
  const naive = new NaivePointsStore();
  const append = async (points: [number, number][]) => {
    await naive.append(batchOf([pump, points]));
    shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  };
  const erase = async (startMs: number) => {
    const range = { startMs, endMs: startMs + whole(1, 4_000) };
    await naive.erase(pump, range);
    shard.apply({ kind: "erase", series: pump, range });
  };
  await append(walk(pointCount, 0, 100));
  let lastMs = pointCount * 100;
  for (let round = 0; round < rounds; round++) {
    const dice = random();
    if (dice < 0.3) {
      lastMs += 3_000;
      await append(walk(whole(1, 30), lastMs, 100));
    } else if (dice < 0.6) await append(walk(whole(1, 5), whole(-500, lastMs), whole(1, 2_000)));
    else if (dice < 0.7) await erase(whole(-500, lastMs));
    else if (dice < 0.8) settle(shard, round);
    const startMs = random() < 0.5 ? 0 : whole(-1_000, lastMs / 2);
    const bucketMs = random() < 0.5 ? 10_000 : whole(1, 60_000);
    const endMs = startMs + bucketMs * whole(1, Math.ceil((lastMs - startMs) / bucketMs));
    const question = { series: pump, isStep: random() < 0.5, startMs, endMs, bucketMs, wanted, limit: 1e6 };
    assertNear(shard.aggregate(question), await naive.aggregate(question), question);
  }
  shard.close();
});

it("a summary that rots is found by a long walk, and its block put aside", () => {
  const { path, shard } = open();
  const question = { series: pump, isStep: false, startMs: 0, endMs: 400_000, bucketMs: 400_000, limit: 1 };
  shard.apply({ kind: "append", batch: batchOf([pump, walk(pointCount, 0, 100)]) });
  settle(shard, 1);
  const database = new DatabaseSync(path);
  const place = "(SELECT first_ms FROM block ORDER BY first_ms LIMIT 1 OFFSET 300)";
  database.exec(`UPDATE block SET sealed = zeroblob(length(sealed)) WHERE first_ms = ${place}`);
  database.close();
  assert.throws(() => shard.aggregate({ ...question, wanted }), { failure: "points-damaged" });
  assert.equal(shard.stats().damage.length, 1);
  assert.throws(() => shard.aggregate({ ...question, wanted }), { failure: "points-damaged" });
  const before = { ...question, endMs: 100_000, bucketMs: 100_000, wanted };
  assert.equal(shard.aggregate(before).columns[0]![0], 1_000);
  shard.close();
});

it("a transaction that is taken back leaves nothing of it in memory", () => {
  const { path, shard } = open();
  const question = { series: pump, isStep: false, startMs: 0, endMs: 1e6, bucketMs: 1e6, limit: 1, wanted };
  const points = walk(pointCount, 0, 100);
  shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  settle(shard, 1);
  shard.aggregate(question);
  const database = new DatabaseSync(path);
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'full'); END`);
  shard.apply({ kind: "append", batch: batchOf([pump, [[50, 5000]]]) });
  assert.throws(() => settle(shard, 2), /full/);
  assert.equal(shard.aggregate(question).columns[0]![0], pointCount + 1);
  database.exec("DROP TRIGGER full");
  database.close();
  settle(shard, 3);
  const { columns } = shard.aggregate(question);
  assert.deepEqual([columns[0]![0], columns[2]![0]], [pointCount + 1, 5000]);
  shard.close();
});

type Rows = ReturnType<Shard["aggregate"]>;

function assertNear(found: Rows, expected: Rows, question: AggregateQuestion): void {
  const told = JSON.stringify(question);
  assert.deepEqual(found.times, expected.times, told);
  for (const [column, values] of expected.columns.entries())
    for (const [row, value] of values.entries()) {
      const got = found.columns[column]![row]!;
      const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
      assert.ok(isNear, `${wanted[column]} of row ${row} is ${value}, not ${got}: ${told}`);
    }
}
