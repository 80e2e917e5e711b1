// Cached buckets give the same results as the points, whatever is written, deleted or damaged in between.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed, times } from "../../../test/support/proof.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import { Kernels } from "../kernels.ts";
import { numberKind } from "../point-columns.ts";
import { type AggregateQuery, aggregateNames } from "../points.ts";
import { BlockTable } from "./block-table.ts";
import { BucketCache } from "./bucket-cache.ts";
import { SeriesReader } from "./series-reader.ts";
import { Shard } from "./shard.ts";

const kernels = new Kernels();

const pump = 4096;
const pointCount = 4_000;
const rounds = times(300, 10_000);
const aggregates = ["count", "min", "max", "sum", "average", "totalVariation"] as const;

const open = () => {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  return { path, shard: new Shard(path, { file: "shard-0.sqlite", blockPoints: 10 }) };
};

const settle = (shard: Shard, sequence: number) => {
  shard.startCheckpoint(sequence);
  while (shard.hasWork) shard.work();
};

const random = randomFrom(seed);
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
const randomPoints = (count: number, fromMs: number, stepMs: number): [number, number][] =>
  Array.from({ length: count }, (_, i) => [fromMs + i * stepMs, whole(-1000, 1000) / 8]);

/** More grids than are cached for one series, so that some are dropped. */
const grids = [
  ...[1_000, 3_000, 7_000, 10_000, 60_000, 150_000].map((bucketMs) => ({ bucketMs, phaseMs: 0 })),
  ...[500, 3_000, 9_999].map((phaseMs) => ({ bucketMs: 10_000, phaseMs })),
  { bucketMs: 2_000_000, phaseMs: 0 },
];

it(`cached buckets are right after changes of all kinds, PROOF_SEED=${seed}`, async () => {
  const { path, shard } = open();
  const naive = new NaivePointsStore();
  const append = async (points: [number, number][]) => {
    await naive.append(batchOf([pump, points]));
    shard.apply({ kind: "append", batch: batchOf([pump, points]) });
  };
  const deleteRange = async (startMs: number) => {
    const range = { startMs, endMs: startMs + (random() < 0.1 ? 50_000 : whole(1, 4_000)) };
    await naive.delete(pump, range);
    shard.apply({ kind: "delete", series: pump, range });
  };
  const database = new DatabaseSync(path);
  const settleInVain = (sequence: number) => {
    database.exec("CREATE TRIGGER full BEFORE INSERT ON state BEGIN SELECT RAISE(ABORT, 'full'); END");
    assert.throws(() => settle(shard, sequence), /full/);
    shard.cancelCheckpoint();
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
  await append(randomPoints(pointCount, 0, 100));
  for (let round = 0; round < rounds; round++) {
    const dice = random();
    if (dice < 0.2) {
      lastMs += random() < 0.2 ? 40_000 : 3_000;
      await append(randomPoints(whole(1, 30), lastMs, 100));
    } else if (dice < 0.4) await append(randomPoints(whole(1, 5), whole(-500, lastMs), whole(1, 2_000)));
    else if (dice < 0.5) await append(randomPoints(whole(1, 30), 100 * whole(0, lastMs / 100), 100));
    else if (dice < 0.6) await deleteRange(whole(-500, lastMs));
    else if (dice < 0.7) while (shard.hasWork) shard.work();
    else if (dice < 0.8) settle(shard, round);
    else if (dice < 0.85) settleInVain(round);
    const { bucketMs, phaseMs } = grids[whole(0, grids.length - 1)]!;
    await compare(bucketMs, random() < 0.5 ? phaseMs - bucketMs : phaseMs + bucketMs * whole(0, 10));
    if (random() < 0.2) await compare(whole(1, 60_000), whole(-1_000, lastMs));
  }
  database.close();
  shard.close();
});

it("a repeated query reads only the buckets that late points and blocks have changed", () => {
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
  shard.apply({ kind: "append", batch: batchOf([pump, randomPoints(pointCount, 50, 100)]) });
  settle(shard, 1);
  const before = shard.aggregate(query);
  const database = new DatabaseSync(path);
  // A read may look at the block before its range and at the block after it, so these two stay intact.
  database.exec(`
    UPDATE block SET header = zeroblob(8) WHERE last_ms < 99000 OR first_ms BETWEEN 102000 AND 399000;
    UPDATE data SET bytes = x'00' WHERE id IN (SELECT data_id FROM block WHERE header = zeroblob(8))`);
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

it("a bucket with late points stays cached when others come before and after it", () => {
  const { path, shard } = open();
  const query = { series: pump, isStep: false, startMs: 0, endMs: 400_000, bucketMs: 2_000, limit: 1e6 };
  const counts = () => shard.aggregate({ ...query, aggregates: ["count"] }).columns[0]!;
  const add = (timeMs: number) => shard.apply({ kind: "append", batch: batchOf([pump, [[timeMs, 5_000]]]) });
  shard.apply({ kind: "append", batch: batchOf([pump, randomPoints(pointCount, 50, 100)]) });
  settle(shard, 1);
  counts();
  add(200_001);
  counts();
  const database = new DatabaseSync(path);
  database.exec(`
    UPDATE block SET header = zeroblob(8) WHERE first_ms BETWEEN 198000 AND 204000;
    UPDATE data SET bytes = x'00' WHERE id IN (SELECT data_id FROM block WHERE header = zeroblob(8))`);
  // More than a head remembers apart.
  for (let more = 1; more < 50; more++) {
    add(more * 100 + 1);
    add(399_999 - more * 100);
    const found = counts();
    assert.equal(found[100], 21);
    assert.equal(
      found.reduce((sum, count) => sum + count, 0),
      pointCount + 1 + 2 * more,
    );
  }
  add(200_002);
  assert.throws(counts, { failure: "points-damaged" });
  database.close();
  shard.close();
});

it("a cache without memory keeps nothing", () => {
  const cache = new BucketCache(0);
  const buckets = { startMs: 0, bucketMs: 1_000 };
  const summary = kernels.summarise(Float64Array.of(0), Float64Array.of(1), 0, 1);
  const bucket = { startMs: 0, noBlocksUntilMs: 1_000, headPoints: 0, headVersion: 0 };
  for (const series of [1, 2, 1]) {
    const grid = cache.gridFor(series, buckets);
    assert.equal(grid.get(0), undefined);
    cache.put(grid, [{ ...bucket, summary, blockSummaries: [] }]);
    assert.equal(grid.get(0), undefined);
  }
});

it("a query that caches no bucket leaves nothing", () => {
  const cache = new BucketCache();
  const hours = { startMs: 0, bucketMs: 3_600_000 };
  const days = { startMs: 0, bucketMs: 86_400_000 };
  const filled = cache.gridFor(1, hours);
  const summary = kernels.summarise(Float64Array.of(0), Float64Array.of(1), 0, 1);
  const bucket = { startMs: 0, noBlocksUntilMs: 3_600_000, headPoints: 0, headVersion: 0 };
  cache.put(filled, [{ ...bucket, summary, blockSummaries: [] }]);
  cache.dropIfEmpty(1, filled);
  const empty = cache.gridFor(1, days);
  cache.dropIfEmpty(1, empty);
  assert.notEqual(cache.gridFor(1, days), empty);
  assert.equal(cache.gridFor(1, hours), filled);

  const path = join(temporaryFolder(), "shard-0.sqlite");
  const table = new BlockTable(path, { file: "shard-0.sqlite", blockPoints: 10 });
  const key = { series: pump, kind: numberKind };
  const query = { ...{ series: pump, isStep: false, startMs: 0, endMs: 7_200_000 }, ...hours, limit: 10 };
  const grid = table.bucketCache.gridFor(pump, query);
  const reader = new SeriesReader({ table, sharing: undefined }, key, undefined);
  assert.equal(reader.aggregate({ ...query, aggregates }).times.length, 0);
  assert.notEqual(table.bucketCache.gridFor(pump, query), grid);
  table.close();
});

it("the cache of all series together is bounded, and the most recently used buckets stay", () => {
  const cache = new BucketCache();
  const buckets = { startMs: 0, bucketMs: 1_000 };
  const fill = (series: number, count: number) => {
    const grid = cache.gridFor(series, buckets);
    for (let i = 0; i < count; i++) {
      const startMs = i * 1_000;
      const summary = kernels.summarise(Float64Array.of(startMs), Float64Array.of(1), 0, 1);
      const bucket = { startMs, noBlocksUntilMs: startMs + 1_000, headPoints: 0, headVersion: 0 };
      cache.put(grid, [{ ...bucket, summary, blockSummaries: [] }]);
    }
  };
  const isCached = (series: number) => cache.gridFor(series, buckets).get(0) !== undefined;
  fill(1, 1_000);
  for (let series = 2; series < 20; series++) {
    fill(series, 1_000);
    assert.ok(isCached(1));
  }
  fill(30, 12_000);
  assert.deepEqual([isCached(2), isCached(1), isCached(30)], [false, true, true]);
  fill(31, 100_000);
  const { bytes } = cache.gridFor(31, buckets);
  assert.ok(bytes > 15 * 2 ** 20 && bytes <= 16 * 2 ** 20, `${bytes}`);
  assert.deepEqual([isCached(1), isCached(30)], [false, false]);
});

it("a damaged summary is found by the first read of it, and its block is quarantined", () => {
  const { path, shard } = open();
  const query = { series: pump, isStep: false, startMs: 0, endMs: 400_000, bucketMs: 400_000, limit: 1 };
  shard.apply({ kind: "append", batch: batchOf([pump, randomPoints(pointCount, 0, 100)]) });
  settle(shard, 1);
  const database = new DatabaseSync(path);
  const startMs = "(SELECT first_ms FROM block ORDER BY first_ms LIMIT 1 OFFSET 300)";
  database.exec(`UPDATE block SET header = zeroblob(length(header)) WHERE first_ms = ${startMs}`);
  database.close();
  assert.throws(() => shard.aggregate({ ...query, aggregates }), { failure: "points-damaged" });
  assert.equal(shard.stats().damage.length, 1);
  assert.throws(() => shard.aggregate({ ...query, aggregates }), { failure: "points-damaged" });
  const before = { ...query, endMs: 100_000, bucketMs: 100_000, aggregates };
  assert.equal(shard.aggregate(before).columns[0]![0], 1_000);
  shard.close();
});

it("a transaction that is rolled back leaves nothing in the caches", () => {
  const { path, shard } = open();
  const query = { series: pump, isStep: false, startMs: 0, endMs: 1e6, bucketMs: 1e6, limit: 1, aggregates };
  const points = randomPoints(pointCount, 0, 100);
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
  const context = JSON.stringify(query);
  assert.deepEqual(found.times, expected.times, context);
  for (const [column, values] of expected.columns.entries())
    for (const [row, value] of values.entries()) {
      const got = found.columns[column]![row]!;
      const isNear = Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value));
      assert.ok(isNear, `${query.aggregates[column]} of row ${row} is ${value}, not ${got}: ${context}`);
    }
}
