// Decoded blocks stay in memory for repeated reads only, and never after their arrays were used for others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { Kernels } from "../kernels.ts";
import { stringKind } from "../point-columns.ts";
import { BlockTable } from "./block-table.ts";
import { DecodedBlocks, readBlocksMax } from "./decoded-blocks.ts";

/** All that the cache has. */
const cachedBlocks = 2 * readBlocksMax;
const points = { times: Float64Array.of(1, 2), values: Float64Array.of(3, 4) };

test("the block that was decoded last is there until the kernels begin another one", () => {
  const kernels = new Kernels();
  const blocks = new DecodedBlocks(kernels);
  kernels.begin(100);
  blocks.setLast(7, points, true);
  assert.equal(blocks.last(7, Infinity), points);
  assert.equal(blocks.last(8, Infinity), undefined);
  kernels.summarise(points.times, points.values, 0, 2);
  assert.equal(blocks.last(7, Infinity), undefined);
});

test("the first points of a block serve reads that end before the last of them", () => {
  const blocks = new DecodedBlocks(new Kernels());
  blocks.setLast(7, points, false);
  assert.equal(blocks.last(7, 2), points);
  assert.equal(blocks.last(7, 3), undefined);
});

test("a block is read again only while the cache would still have it, and while it exists", () => {
  const blocks = new DecodedBlocks(new Kernels());
  assert.equal(blocks.isReadAgain(1), false);
  assert.equal(blocks.isReadAgain(1), true);
  blocks.add(1, points);
  blocks.setLast(1, points, true);
  blocks.delete(1);
  assert.deepEqual(
    [blocks.cached(1), blocks.last(1, 0), blocks.isReadAgain(1)],
    [undefined, undefined, false],
  );
  for (let id = 2; id < 2 + cachedBlocks; id++) blocks.isReadAgain(id);
  assert.equal(blocks.isReadAgain(1), false);
});

test("the memory of a block is free as soon as others have taken its place in the cache", () => {
  const blocks = new DecodedBlocks(new Kernels());
  const block = () => ({ times: new Float64Array(100), values: new Float64Array(100) });
  const [first, second] = [block(), block()];
  blocks.add(1, first);
  assert.throws(() => blocks.add(1, block()), /block 1 is not cached yet/);
  blocks.add(2, second);
  for (let id = 3; id <= cachedBlocks; id++) blocks.add(id, block());
  assert.equal(blocks.cached(1), first);
  blocks.add(1 + cachedBlocks, block());
  assert.equal(blocks.cached(2), undefined);
  assert.deepEqual([second.times.length, second.values.length], [0, 0]);
  assert.deepEqual([first.times.length, first.values.length], [100, 100]);
});

test("a block of a transaction that was rolled back is not read for the next one with its id", () => {
  const table = new BlockTable(`${temporaryFolder()}/shard.sqlite`, { file: "shard.sqlite", blockPoints: 8 });
  const key = { series: 4096, kind: stringKind };
  const write = (value: string) => {
    table.insert(key, { times: Float64Array.of(1), values: [value] });
    return table.read(key, table.lastBefore(key, Infinity)!).values;
  };
  const fail = () =>
    table.transaction(() => {
      write("lost");
      throw new Error("full disk");
    });
  assert.throws(fail, /full disk/);
  assert.deepEqual(
    table.transaction(() => write("kept")),
    ["kept"],
  );
  table.close();
});
