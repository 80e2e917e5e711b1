// Old points are counted and deleted in whole blocks, for random points and checkpoints, and no block is
// read.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { batchOf } from "../conformance/points.ts";
import { Shard } from "./shard.ts";

const pump = 4096;
const target = { series: pump, isString: false };
const all = { ...target, startMs: -Infinity, endMs: Infinity, limit: 1e9 };

interface Block {
  readonly first: number;
  readonly last: number;
}

/** A shard with blocks and a head of random, distinct times, and its file. */
function randomShard(random: () => number): { shard: Shard; database: DatabaseSync; times: number[] } {
  const path = join(temporaryFolder(), "shard-0.sqlite");
  const shard = new Shard(path, { file: "shard-0.sqlite", blockPoints: 50 });
  const distinct = new Set<number>();
  for (let batch = 1; batch <= 12; batch++) {
    const startMs = random() < 0.7 ? batch * 1_000 : -5_000 + Math.floor(random() * 15_000);
    const times = Array.from({ length: 1 + Math.floor(random() * 200) }, (_, i) => startMs + i * 7);
    const some = times.filter((timeMs) => !distinct.has(timeMs));
    for (const timeMs of some) distinct.add(timeMs);
    shard.apply({ kind: "append", batch: batchOf([pump, some.map((timeMs) => [timeMs, batch])]) });
    if (random() < 0.5) shard.startCheckpoint(batch);
    while (shard.hasWork) shard.work();
  }
  return { shard, database: new DatabaseSync(path), times: [...distinct].sort((a, b) => a - b) };
}

const blocksIn = (database: DatabaseSync) =>
  database
    .prepare("SELECT first_ms AS first, last_ms AS last FROM block ORDER BY first_ms")
    .all() as unknown as Block[];

it(`whole blocks before a time are counted and deleted, PROOF_SEED=${seed}`, () => {
  const random = randomFrom(seed);
  for (let run = 0; run < 60; run++) {
    const { shard, database, times } = randomShard(random);
    const blocks = blocksIn(database);
    const beforeMs = -6_000 + Math.floor(random() * 24_000);
    const [found] = shard.oldPoints({ series: [{ ...target, beforeMs }], blocksMax: 1_000 });
    const cut = blocks.find(({ last }) => last >= beforeMs);
    const endMs = Math.min(beforeMs, cut?.first ?? beforeMs);
    const old = times.filter((timeMs) => timeMs < endMs);
    const whole = blocks.filter(({ last }) => last < endMs).length;
    const firstMs = old.length > 0 ? { firstMs: old[0]! } : {};
    assert.deepEqual(found, { endMs, points: old.length, blocks: whole, hasMore: false, ...firstMs });
    const steps = { points: 0, blocks: 0, fromMs: -Infinity };
    for (let hasMore = true; hasMore; ) {
      const query = { ...target, beforeMs, fromMs: steps.fromMs };
      const [step] = shard.oldPoints({ series: [query], blocksMax: 2 });
      assert.ok(step!.blocks <= 2 && step!.endMs <= endMs);
      steps.points += step!.points;
      steps.blocks += step!.blocks;
      steps.fromMs = step!.endMs;
      hasMore = step!.hasMore;
    }
    assert.deepEqual(steps, { points: old.length, blocks: whole, fromMs: endMs });
    // Without their bytes, these blocks can be deleted but not read.
    database
      .prepare("UPDATE data SET bytes = x'00' WHERE id IN (SELECT data_id FROM block WHERE last_ms < ?)")
      .run(endMs);
    shard.apply({ kind: "delete", series: pump, range: { startMs: -Infinity, endMs } });
    assert.deepEqual([...shard.scan(all).times], times.slice(old.length));
    assert.deepEqual(blocksIn(database), blocks.slice(whole), "no other block is rewritten");
    const [again] = shard.oldPoints({ series: [{ ...target, beforeMs }], blocksMax: 1_000 });
    assert.deepEqual([again!.points, again!.blocks], [0, 0]);
    assert.deepEqual(shard.stats().damage, []);
    database.close();
    shard.close();
  }
});
