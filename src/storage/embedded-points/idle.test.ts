// After a pause in writing, all points are in blocks and the journal is empty.
import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as pass } from "node:timers/promises";
import { embeddedUnderTest } from "../../../test/support/points-store.ts";
import { limits } from "../../limits.ts";
import { batchOf, pointsOf, sineWave } from "../conformance/points.ts";

const pump = 4096;
const count = 40_000;

it("after a pause all points are in blocks, at a few bytes each", async () => {
  const test = await embeddedUnderTest({ shards: 2, idleMs: 100 });
  try {
    const points = sineWave(count, 0, 1000);
    await test.store.append(batchOf([pump, points]));
    assert.ok((await test.store.stats()).journalBytes > limits.journalIdleBytes);
    let stats = await test.store.stats();
    for (let turn = 0; turn < 200 && stats.journalBytes > 100; turn++) {
      await pass(20);
      stats = await test.store.stats();
    }
    assert.ok(stats.journalBytes < 100, `${stats.journalBytes} bytes of journal`);
    assert.equal(stats.points, count);
    assert.ok(stats.bytesOnDisk < 4 * count, `${stats.bytesOnDisk} bytes for ${count} points`);
    assert.deepEqual(await pointsOf(await test.crash(), pump), points);
  } finally {
    await test.end();
  }
});

it("a stop during a checkpoint leaves no journal to the next start", async () => {
  const test = await embeddedUnderTest({ shards: 1, checkpointBytes: 2 ** 16 });
  try {
    await test.store.append(batchOf([pump, sineWave(count, 0, 1000)]));
    await test.store.append(batchOf([pump, sineWave(count, count * 1000, 1000)]));
    const again = await test.restart();
    const stats = await again.stats();
    assert.ok(stats.journalBytes < 100, `${stats.journalBytes} bytes of journal`);
    assert.equal(stats.points, 2 * count);
  } finally {
    await test.end();
  }
});

it("a small journal always stays", async () => {
  const test = await embeddedUnderTest({ shards: 1, idleMs: 100 });
  try {
    await test.store.append(batchOf([pump, sineWave(100, 0, 10)]));
    await pass(500);
    assert.ok((await test.store.stats()).journalBytes > 100);
  } finally {
    await test.end();
  }
});

it("during writes the journal stays", async () => {
  // Longer than a busy machine stops this process between two writes.
  const test = await embeddedUnderTest({ shards: 1, idleMs: 10_000 });
  try {
    await test.store.append(batchOf([pump, sineWave(count, 0, 10)]));
    for (let turn = 0; turn < 20; turn++) {
      await pass(20);
      await test.store.append(batchOf([pump, [[turn, turn]]]));
    }
    assert.ok((await test.store.stats()).journalBytes > limits.journalIdleBytes);
  } finally {
    await test.end();
  }
});
