// Blocks of a long read that several threads summarise: results have the same bits as without help.
import assert from "node:assert/strict";
import { it } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { batchOf } from "../conformance/points.ts";
import { Kernels } from "../kernels.ts";
import { type AggregateQuery, aggregateNames } from "../points.ts";
import { type Summary, summariesPerSpan } from "../summary.ts";
import { encodeBlock } from "./block.ts";
import { BucketGrid } from "./bucket-cache.ts";
import { openEmbeddedPoints } from "./embedded-points.ts";
import { type BlockToShare, helpWith, SharedBlocks, sharedBlocksMax } from "./shared-blocks.ts";

const pump = 4096;
const random = randomFrom(seed);
const grid = new BucketGrid(60_000, 0);
const blockPoints = 500;

function block(at: number): { readonly block: BlockToShare; readonly summaries: Summary[] } {
  const firstMs = at * blockPoints * 1_000;
  const times = Float64Array.from({ length: blockPoints }, (_, index) => firstMs + index * 1_000);
  const values = times.map(() => Math.round(1e6 * random()) / 1_000);
  const bounds = { firstMs, lastMs: times.at(-1)!, startMs: -Infinity, endMs: Infinity };
  const spanEnd = (timeMs: number) => grid.bucketStart(timeMs) + grid.bucketMs;
  return {
    block: { bytes: encodeBlock(times, values), ...bounds, grid, wantsSquares: true },
    summaries: summariesPerSpan(times, values, { from: 0, to: blockPoints, spanEnd }, new Kernels()),
  };
}

/** Lets this thread be a helper for so many turns. */
function help(buffer: SharedArrayBuffer, turns: number): boolean {
  let left = turns;
  return helpWith(buffer, new Kernels(), () => left-- > 0);
}

function sharing(): { readonly blocks: SharedBlocks; readonly requests: SharedArrayBuffer[] } {
  const requests: SharedArrayBuffer[] = [];
  return { blocks: new SharedBlocks((buffer) => requests.push(buffer)), requests };
}

it("summaries have the same bits, of a helper and of the thread of the shard", () => {
  const { blocks, requests } = sharing();
  for (let read = 0; read < 3; read++) {
    const made = Array.from({ length: sharedBlocksMax }, (_, at) => block(at));
    const shared = made.map((one) => blocks.publish(one.block));
    assert.equal(requests.length, read + 1, "each read requests help once");
    assert.equal(help(requests[read]!, 5), true);
    for (const [at, { summaries }] of made.entries()) assert.deepEqual(blocks.take(shared[at]!), summaries);
    blocks.end();
    assert.equal(help(requests[read]!, 1), false, "the read has ended");
  }
  assert.equal(new Set(requests).size, 1, "reads use the same memory");
});

it("a slot is used again once its block was taken, and the end of a read drops the others", () => {
  const { blocks, requests } = sharing();
  for (let at = 0; at < 3 * sharedBlocksMax; at++) {
    const { block: one, summaries } = block(at);
    const shared = blocks.publish(one);
    if (at % 2 === 0) help(requests[0]!, 1);
    assert.deepEqual(blocks.take(shared), summaries);
  }
  for (let at = 0; at < sharedBlocksMax; at++) blocks.publish(block(at).block);
  help(requests[0]!, 3);
  blocks.end();
  const { block: one, summaries } = block(7);
  assert.deepEqual(blocks.take(blocks.publish(one)), summaries);
});

it("damaged blocks have no summaries, so that the shard reads and reports them itself", () => {
  const { blocks, requests } = sharing();
  const { block: whole } = block(0);
  const flipped = whole.bytes.slice();
  flipped[20]! ^= 1;
  for (const one of [
    { ...whole, bytes: flipped },
    { ...whole, lastMs: 1 },
  ])
    for (const turns of [0, 1]) {
      const shared = blocks.publish(one);
      help(requests[0]!, turns);
      assert.equal(blocks.take(shared), undefined);
    }
});

it("a helper that ends while it decodes a block leaves it to the shard", () => {
  const { blocks, requests } = sharing();
  const shared = blocks.publish(block(0).block);
  // Claims the block, as a helper does.
  new Int32Array(requests[0]!)[1]! += 1;
  assert.equal(blocks.take(shared), undefined);
  const { block: one, summaries } = block(1);
  assert.deepEqual(blocks.take(blocks.publish(one)), summaries);
  assert.equal(new Set(requests).size, 2, "the helper may still write into the memory before");
});

it(`aggregates of two shards have the bits of one shard without help, PROOF_SEED=${seed}`, async () => {
  const secondMs = 1_000;
  // A whole number of batches: a close can come before, during or after the flush of full blocks, and blocks
  // of other sizes would add the values in another order.
  const count = 60 * 4 * 256;
  const made: [number, number][] = [];
  for (let timeMs = 0; made.length < count; timeMs += random() < 0.001 ? 400 * secondMs : secondMs)
    made.push([timeMs, Math.round(1e6 * random()) / 1_000]);
  const lastMs = made.at(-1)![0];
  const late: [number, number][] = Array.from({ length: 20 }, () => [Math.floor(random() * lastMs), 0.5]);
  const open = async (shards: number) => {
    const settings = { folder: temporaryFolder(), shards, blockPoints: 256 };
    const first = await openEmbeddedPoints(settings);
    await first.append(batchOf([pump, made]));
    await first.close();
    const store = await openEmbeddedPoints(settings);
    await store.append(batchOf([pump, late]));
    return store;
  };
  const stores = await Promise.all([open(2), open(1)]);
  for (let turn = 0; turn < 60; turn++) {
    const bucketMs = [30, 60, 300][turn % 3]! * secondMs;
    const startMs = Math.floor(random() * lastMs * 0.3);
    const query: AggregateQuery = {
      ...{ series: pump, isStep: turn % 2 === 0, aggregates: aggregateNames, bucketMs, startMs },
      endMs: startMs + Math.ceil((lastMs * (0.3 + random() / 2)) / bucketMs) * bucketMs,
      limit: turn % 5 === 0 ? 700 : 1e6,
    };
    const [found, expected] = await Promise.all(stores.map((store) => store.aggregate(query)));
    assert.ok(expected!.times.length > 50);
    assert.deepEqual(found, expected, JSON.stringify(query));
  }
  await Promise.all(stores.map((store) => store.close()));
});
