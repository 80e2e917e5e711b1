// Blocks of dense points have a summary for each hour: aggregates over hours are right, and decode no block.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { assertNear } from "../../../test/support/near.ts";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { batchOf } from "../conformance/points.ts";
import { type AggregateQuery, aggregateNames } from "../points.ts";
import { readBlocksMax } from "./decoded-blocks.ts";
import { Shard } from "./shard.ts";

const pump = 4096;
const hourMs = 3_600_000;
const random = randomFrom(seed);

/** A point a second over some hours, with gaps of minutes and of hours. */
function points(hours: number): [number, number][] {
  const made: [number, number][] = [];
  for (let timeMs = 500; timeMs < hours * hourMs; timeMs += 1_000) {
    if (random() < 0.0002) timeMs += 600_000;
    if (random() < 0.00002) timeMs += 5 * hourMs;
    made.push([timeMs, Math.round(1e6 + 1_000 * random()) / 1_000]);
  }
  return made;
}

function settle(shard: Shard, sequence: number): void {
  shard.startCheckpoint(sequence);
  while (shard.hasWork) shard.work();
}

const query = (bucketMs: number, isStep: boolean, startMs = 0, hours = 30): AggregateQuery => ({
  ...{ series: pump, isStep, aggregates: aggregateNames, limit: 1e6 },
  ...{ startMs, endMs: startMs + Math.ceil((hours * hourMs) / bucketMs) * bucketMs, bucketMs },
});

/** As a dashboard reads: the range cuts the first bucket and the last one, or a part of one bucket. */
function clipped(whole: AggregateQuery): AggregateQuery[] {
  const { startMs, endMs, bucketMs } = whole;
  const ofValues = ["min", "max", "sum", "count", "firstTime", "lastValue"] as const;
  const inside = () => Math.floor(random() * bucketMs);
  const clip = { startMs: startMs + inside(), endMs: endMs - inside() };
  const [fromMs, toMs] = [startMs + inside(), startMs + inside()].sort((a, b) => a - b) as [number, number];
  // With and without an aggregate that needs the mean.
  return [["count", "lastTime"] as const, ofValues, [...ofValues, "discreteVariance" as const]].flatMap(
    (aggregates) => [
      { ...whole, aggregates, clip },
      { ...whole, aggregates, endMs: startMs + bucketMs, clip: { startMs: fromMs, endMs: toMs } },
    ],
  );
}

it(`aggregates over hours are those of the points, PROOF_SEED=${seed}`, async () => {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  const shard = new Shard(path, { file: "shard-0.sqlite", blockPoints: 8_192 });
  const naive = new NaivePointsStore();
  const write = async (some: [number, number][]) => {
    await naive.append(batchOf([pump, some]));
    shard.apply({ kind: "append", batch: batchOf([pump, some]) });
  };
  await write(points(30));
  settle(shard, 1);
  const range = { startMs: 7.4 * hourMs, endMs: 7.6 * hourMs };
  await naive.delete(pump, range);
  shard.apply({ kind: "delete", series: pump, range });
  const lengths = [1, 2, 3, 24, 1.5, 0.25].map((hours) => hours * hourMs);
  for (const late of [false, true]) {
    if (late) await write(Array.from({ length: 20 }, () => [Math.floor(random() * 30 * hourMs), 2_000]));
    for (const bucketMs of lengths)
      for (const one of [
        query(bucketMs, false),
        query(bucketMs, true, 0.5 * hourMs, 20),
        ...clipped(query(bucketMs, false, 3 * hourMs, 20)),
      ])
        assertNear(shard.aggregate(one), await naive.aggregate(one), one);
    settle(shard, 2);
  }
  shard.close();
});

it("aggregates over hours decode no block, shorter buckets do", () => {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  const shard = new Shard(path, { file: "shard-0.sqlite", blockPoints: 8_192 });
  const dense = Array.from({ length: 100_000 }, (_, i): [number, number] => [i * 1_000, i % 10]);
  shard.apply({ kind: "append", batch: batchOf([pump, dense]) });
  settle(shard, 1);
  const database = new DatabaseSync(path);
  database.exec("UPDATE data SET bytes = x'00'");
  database.close();
  const { times, columns } = shard.aggregate({ ...query(2 * hourMs, false), aggregates: ["count"] });
  assert.equal(times.length, 14);
  assert.deepEqual(
    [...columns[0]!].slice(0, 13),
    Array.from({ length: 13 }, () => 7_200),
  );
  assert.deepEqual(shard.stats().damage, []);
  assert.throws(() => shard.aggregate(query(hourMs / 2, false)), { failure: "points-damaged" });
  shard.close();
});

it(`a read of more blocks than are cached is that of the points, PROOF_SEED=${seed}`, async () => {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  const shard = new Shard(path, { file: "shard-0.sqlite", blockPoints: 1_024 });
  const naive = new NaivePointsStore();
  const dense = Array.from({ length: 50_000 }, (_, i): [number, number] => [
    i * 1_000 + Math.floor(random() * 50),
    Math.round(1e6 + 1_000 * random()) / 1_000,
  ]);
  const batch = batchOf([pump, dense]);
  await naive.append(batch);
  shard.apply({ kind: "append", batch });
  settle(shard, 1);
  assert.ok(shard.stats().blocks > readBlocksMax);
  const aggregates = ["average", "max", "continuousVariance"] as const;
  const whole = { series: pump, isString: false, startMs: 0, endMs: 1e9, limit: 1e6 };
  const scans = [{ ...whole, startMs: 8 * hourMs }, whole];
  for (const bucketMs of [600_000, 30_000]) {
    const one = { ...query(bucketMs, false, 0, 14), aggregates };
    for (const scan of scans) {
      assert.ok(isDeepStrictEqual(shard.scan(scan), await naive.scan(scan)));
      assertNear(shard.aggregate(one), await naive.aggregate(one), one);
    }
  }
  shard.close();
});

it(`variances after averages of the same buckets are those without, PROOF_SEED=${seed}`, () => {
  const shards = [0, 1].map((number) => {
    const file = `shard-${number}.sqlite`;
    return new Shard(join(temporaryFolder(), file), { file, blockPoints: 1_024 });
  });
  const points = Array.from({ length: 20_000 }, (_, i): [number, number] => [i * 1_000, random()]);
  for (const shard of shards) {
    shard.apply({ kind: "append", batch: batchOf([pump, points.slice(0, 19_000)]) });
    settle(shard, 1);
    shard.apply({ kind: "append", batch: batchOf([pump, points.slice(18_000)]) });
  }
  const one = query(600_000, false, 0, 6);
  const variances = { ...one, aggregates: ["continuousVariance", "discreteVariance", "average"] as const };
  const [averaged, other] = shards as [Shard, Shard];
  const averages = averaged.aggregate({ ...one, aggregates: ["average"] });
  const found = averaged.aggregate(variances);
  assert.ok(found.columns[0]!.every(Number.isFinite));
  assert.deepEqual(found, other.aggregate(variances));
  assert.deepEqual(averaged.aggregate(variances), found);
  assert.deepEqual(averages.columns[0], found.columns[2]);
  for (const shard of shards) shard.close();
});
