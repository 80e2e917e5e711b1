// The rows of a block are in the order of their series, and of equal keys the one written later has the
// higher version.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BufferPool } from "../../lib/buffer-pool.ts";
import { at, batchOf } from "../conformance/points.ts";
import type { PointBatch } from "../points.ts";
import { decodeBlocks } from "./native-format.ts";
import { RowBlock } from "./row-block.ts";

const pool = new BufferPool({ bytesMin: 64, idleBytesMax: 2 ** 20 });

/** Rows of [series, time, version, number, string], after the versions from 100 on were taken. */
function rowsOf(...batches: readonly PointBatch[]) {
  const block = new RowBlock(batches);
  const versions = Float64Array.from({ length: block.versionCount }, (_, index) => 100 + index);
  const bytes = block.encode(versions, pool);
  const rows = decodeBlocks(bytes);
  pool.putBack(bytes);
  const [series, times, version, numbers] = ["series", "t", "version", "v"].map((name) => rows.numbers(name));
  const strings = rows.strings("s");
  return Array.from(series!, (id, row) => [id, times![row], version![row], numbers![row], strings[row]]);
}

test("batches that name series in any order become rows in the order of series", () => {
  const [first, second] = [batchOf([9, at("1=1 2=2")], [5, at("-3=3")]), batchOf([7, at("4=4")])];
  assert.deepEqual(rowsOf(first, second), [
    [5, -3, 100, 3, undefined],
    [7, 4, 100, 4, undefined],
    [9, 1, 100, 1, undefined],
    [9, 2, 100, 2, undefined],
  ]);
});

test("of equal keys the later one has the higher version, within a run and between batches", () => {
  const [first, second] = [batchOf([9, at("5=1 5=2 4=3")], [2 ** 52, at("1=1")]), batchOf([9, at("5=6")])];
  assert.deepEqual(rowsOf(first, second), [
    [9, 5, 100, 1, undefined],
    [9, 5, 101, 2, undefined],
    [9, 4, 102, 3, undefined],
    [9, 5, 102, 6, undefined],
    [2 ** 52, 1, 102, 1, undefined],
  ]);
});

test("numbers and strings share a block", () => {
  const strings: PointBatch = {
    strings: {
      series: Float64Array.of(3),
      ends: Uint32Array.of(2),
      times: Float64Array.of(1, 2),
      values: ["on", ""],
    },
  };
  assert.deepEqual(rowsOf(batchOf([4, at("1=8")]), strings), [
    [3, 1, 100, 0, "on"],
    [3, 2, 100, 0, ""],
    [4, 1, 100, 8, ""],
  ]);
  assert.deepEqual(rowsOf(strings), [
    [3, 1, 100, undefined, "on"],
    [3, 2, 100, undefined, ""],
  ]);
});
