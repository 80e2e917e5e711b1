// Buckets kept in memory answer as their points do, whatever is written, erased or broken in between.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import { type AggregateQuery, aggregateNames } from "../points.ts";
import { KnownBuckets } from "./known-buckets.ts";
import { Shard } from "./shard.ts";
import { summarise } from "./summary.ts";

const pump = 4096;
const pointCount = 4_000;
const rounds = times(300, 10_000);
const aggregates = ["count", "min", "max", "sum", "average", "totalVariation"] as const;

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

/** More than are kept of one series, so that some are forgotten for others. */
const grids = [
  ...[1_000, 3_000, 7_000, 10_000, 60_000, 150_000].map((bucketMs) => ({ bucketMs, phaseMs: 0 })),
  ...[500, 3_000, 9_999].map((phaseMs) => ({ bucketMs: 10_000, phaseMs })),
  { bucketMs: 2_000_000, phaseMs: 0 },
];

it(`buckets asked for again between changes of all kinds, PROOF_SEED=${seed}`, async () => {
  const { path, shard } = open();
  const naive = new NaivePointsStore();
  const append = async (points: [number, number][]) => {
    await naive.append(batchOf([pump, points]));
    shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  };
  const erase = async (startMs: number) => {
    const range = { startMs, endMs: startMs + (random() < 0.1 ? 50_000 : whole(1, 4_000)) };
    await naive.delete(pump, range);
    shard.apply({ kind: "erase", series: pump, range });
  };
  const database = new DatabaseSync(path);
  const settleInVain = (sequence: number) => {
    database.exec("CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'full'); END");
    assert.throws(() => settle(shard, sequence), /full/);
    shard.giveUpCheckpoint();
    database.exec("DROP TRIGGER full");
  };
  const compare = async (bucketMs: number, startMs: number) => {
    const endMs = startMs + bucketMs * whole(1, Math.ceil(Math.max(1, lastMs - startMs) / bucketMs) + 1);
    const limit = random() < 0.2 ? whole(1, 20) : 1e6;
    const range = { startMs, endMs, bucketMs, limit };
    const query = { series: pump, isStep: random() < 0.5, aggregates: aggregateNames, ...range };
    assertNear(shard.aggregate(query), await naive.aggregate(query), query);
  };
  let lastMs = pointCount * 100;
  await append(walk(pointCount, 0, 100));
  for (let round = 0; round < rounds; round++) {
    const dice = random();
    if (dice < 0.2) {
      lastMs += random() < 0.2 ? 40_000 : 3_000;
      await append(walk(whole(1, 30), lastMs, 100));
    } else if (dice < 0.4) await append(walk(whole(1, 5), whole(-500, lastMs), whole(1, 2_000)));
    else if (dice < 0.5) await append(walk(whole(1, 30), 100 * whole(0, lastMs / 100), 100));
    else if (dice < 0.6) await erase(whole(-500, lastMs));
    else if (dice < 0.7) while (shard.isBusy) shard.work();
    else if (dice < 0.8) settle(shard, round);
    else if (dice < 0.85) settleInVain(round);
    const { bucketMs, phaseMs } = grids[whole(0, grids.length - 1)]!;
    await compare(bucketMs, random() < 0.5 ? phaseMs - bucketMs : phaseMs + bucketMs * whole(0, 10));
    if (random() < 0.2) await compare(whole(1, 60_000), whole(-1_000, lastMs));
  }
  database.close();
  shard.close();
});

it("a query that is asked again reads only what late points and blocks have changed", () => {
  const { path, shard } = open();
  const query = {
    series: pump,
    isStep: false,
    startMs: 0,
    endMs: 400_000,
    bucketMs: 2_000,
    limit: 1e6,
    aggregates,
  };
  shard.apply({ kind: "append", batch: batchOf([pump, walk(pointCount, 50, 100)]) });
  settle(shard, 1);
  const before = shard.aggregate(query);
  const database = new DatabaseSync(path);
  // A walk looks at the block before it, and whoever looks behind the range meets the last one.
  database.exec(`
    UPDATE block SET sealed = zeroblob(8) WHERE last_ms < 99000 OR first_ms BETWEEN 102000 AND 399000;
    UPDATE data SET bytes = x'00' WHERE id IN (SELECT data_id FROM block WHERE sealed = zeroblob(8))`);
  assert.deepEqual(shard.aggregate(query), before);
  assert.deepEqual(shard.aggregate({ ...query, limit: 100 }).times, before.times.slice(0, 100));
  shard.apply({ kind: "append", batch: batchOf([pump, [[100_001, 5_000]]]) });
  const after = shard.aggregate(query);
  assert.deepEqual([after.columns[0]![50], after.columns[2]![50]], [21, 5_000]);
  assert.deepEqual(shard.stats().damage, []);
  shard.apply({ kind: "append", batch: batchOf([pump, [[300_001, 5_000]]]) });
  assert.throws(() => shard.aggregate(query), { failure: "points-damaged" });
  database.close();
  shard.close();
});

it("what is known of all series together is bounded, and what was used last stays", () => {
  const known = new KnownBuckets();
  const none = { times: new Float64Array(0), values: new Float64Array(0) };
  const late = { times: Float64Array.from({ length: 200 }, (_, i) => i), values: new Float64Array(200) };
  const buckets = { startMs: 0, bucketMs: 1_000 };
  const learn = (series: number, count: number, points: typeof none) => {
    const grid = known.of(series, buckets);
    for (let i = 0; i < count; i++) {
      const startMs = i * 1_000;
      const summary = summarise(Float64Array.of(startMs), Float64Array.of(1), 0, 1);
      known.put(grid, { startMs, nextMs: startMs + 1_000, late: points, summary, edges: [] });
    }
  };
  const isKnown = (series: number) => known.of(series, buckets).at(0) !== undefined;
  learn(1, 1_000, none);
  for (let series = 2; series < 20; series++) {
    learn(series, 1_000, none);
    assert.ok(isKnown(1));
  }
  learn(30, 12_000, none);
  assert.deepEqual([isKnown(2), isKnown(1), isKnown(30)], [false, true, true]);
  learn(31, 100_000, late);
  const { bytes } = known.of(31, buckets);
  assert.ok(bytes > 15 * 2 ** 20 && bytes <= 16 * 2 ** 20, `${bytes}`);
  assert.deepEqual([isKnown(1), isKnown(30)], [false, false]);
});

it("a summary that rots is found by whoever reads it first, and its block put aside", () => {
  const { path, shard } = open();
  const query = { series: pump, isStep: false, startMs: 0, endMs: 400_000, bucketMs: 400_000, limit: 1 };
  shard.apply({ kind: "append", batch: batchOf([pump, walk(pointCount, 0, 100)]) });
  settle(shard, 1);
  const database = new DatabaseSync(path);
  const place = "(SELECT first_ms FROM block ORDER BY first_ms LIMIT 1 OFFSET 300)";
  database.exec(`UPDATE block SET sealed = zeroblob(length(sealed)) WHERE first_ms = ${place}`);
  database.close();
  assert.throws(() => shard.aggregate({ ...query, aggregates }), { failure: "points-damaged" });
  assert.equal(shard.stats().damage.length, 1);
  assert.throws(() => shard.aggregate({ ...query, aggregates }), { failure: "points-damaged" });
  const before = { ...query, endMs: 100_000, bucketMs: 100_000, aggregates };
  assert.equal(shard.aggregate(before).columns[0]![0], 1_000);
  shard.close();
});

it("a transaction that is taken back leaves nothing of it in memory", () => {
  const { path, shard } = open();
  const query = { series: pump, isStep: false, startMs: 0, endMs: 1e6, bucketMs: 1e6, limit: 1, aggregates };
  const points = walk(pointCount, 0, 100);
  shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  settle(shard, 1);
  shard.aggregate(query);
  const database = new DatabaseSync(path);
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'full'); END`);
  shard.apply({ kind: "append", batch: batchOf([pump, [[50, 5000]]]) });
  assert.throws(() => settle(shard, 2), /full/);
  assert.equal(shard.aggregate(query).columns[0]![0], pointCount + 1);
  database.exec("DROP TRIGGER full");
  database.close();
  settle(shard, 3);
  const { columns } = shard.aggregate(query);
  assert.deepEqual([columns[0]![0], columns[2]![0]], [pointCount + 1, 5000]);
  shard.close();
});

type Rows = ReturnType<Shard["aggregate"]>;

function assertNear(found: Rows, expected: Rows, query: AggregateQuery): void {
  const told = JSON.stringify(query);
  assert.deepEqual(found.times, expected.times, told);
  for (const [column, values] of expected.columns.entries())
    for (const [row, value] of values.entries()) {
      const got = found.columns[column]![row]!;
      const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
      assert.ok(isNear, `${query.aggregates[column]} of row ${row} is ${value}, not ${got}: ${told}`);
    }
}
