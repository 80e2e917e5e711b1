// Writes blocks of random sizes to the file of a shard, and lets SQLite count the bytes that stay empty.
import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { randomFrom, seed } from "../../../test/support/proof.ts";
import { numberKind } from "../point-columns.ts";
import { BlockTable } from "./block-table.ts";
import { openShardFile, pageBytesOf } from "./shard-file.ts";
import { LeafPages, type WaitingBlock, WaitingBlocks } from "./waiting-blocks.ts";

const random = randomFrom(seed);
const lengths = Array.from({ length: 2_000 }, () =>
  Math.floor(random() < 0.9 ? 3_000 + random() * 5_000 : random() * 2_500),
);

function emptyFile(): DatabaseSync {
  return openShardFile(`${temporaryFolder()}/shard.sqlite`, "shard.sqlite", { store: 0, shard: 0 });
}

/** Inserts blobs in this order, and returns the pages of the table. */
function pagesOf(database: DatabaseSync, ordered: readonly number[]): { leaves: number; all: number } {
  const insert = database.prepare("INSERT INTO data (bytes) VALUES (zeroblob(?))");
  database.exec("BEGIN");
  for (const length of ordered) insert.run(length);
  database.exec("COMMIT");
  const counted = database
    .prepare("SELECT count(*) AS every, sum(pagetype = 'leaf') AS leaves FROM dbstat WHERE name = 'data'")
    .get()!;
  return { leaves: Number(counted["leaves"]), all: Number(counted["every"]) };
}

test("blocks in the order of the transaction fill leaves better, with a few or with many blocks", () => {
  const asTheyCome = pagesOf(emptyFile(), lengths);
  for (const [count, shareMax] of [
    [4, 0.94],
    [16, 0.89],
    [64, 0.86],
  ] as const) {
    const database = emptyFile();
    const pages = new LeafPages(pageBytesOf(database));
    const ordered: number[] = [];
    for (let at = 0; at < lengths.length; at += count) {
      const some = lengths.slice(at, at + count);
      const order = pages.order(some);
      assert.deepEqual(
        [...order].sort((one, other) => one - other),
        [...some.keys()],
      );
      ordered.push(...order.map((index) => some[index]!));
    }
    const { leaves, all } = pagesOf(database, ordered);
    database.close();
    const share = leaves / asTheyCome.leaves;
    assert.ok(share < shareMax, `${share} of the leaves with ${count} blocks at once`);
    assert.ok(all < asTheyCome.all);
  }
});

test("a leaf holds what is calculated for it", () => {
  const pageBytes = 2048;
  const pages = new LeafPages(pageBytes);
  const database = emptyFile();
  assert.equal(pageBytesOf(database), pageBytes);
  let fitting = 0;
  for (let round = 0; round < 200; round++) {
    const one = lengths[round]!;
    const left = pageBytes - 8 - pages.bytesOf(one);
    const other = lengths.slice(200).find((length) => Math.abs(pages.bytesOf(length) - left) <= 4);
    if (other === undefined) continue;
    database.exec("DELETE FROM data");
    const { leaves } = pagesOf(database, [one, other]);
    if (pages.bytesOf(other) > left) continue;
    fitting++;
    assert.equal(leaves, 1, `${one} and ${other} bytes`);
  }
  database.close();
  assert.ok(fitting > 10, `${fitting} pairs that fit`);
});

test("bytes are written in the best order, and rows in the order of the series", () => {
  const waiting = new WaitingBlocks(2048);
  const block = (series: number, length: number): WaitingBlock => ({
    ...{ series, kind: numberKind, firstMs: 0, lastMs: 0, count: 1, bytes: new Uint8Array(length) },
    ...{ summaries: [], blockChecksum: 0 },
  });
  for (const [series, length] of [200, 1_500, 300, 400].entries()) waiting.add(block(series, length));
  assert.ok(waiting.hasBlockOf({ series: 2, kind: numberKind }));
  const written: number[] = [];
  const rows: [number, number][] = [];
  waiting.write(
    (bytes) => written.push(bytes.length),
    ({ series }, id) => void rows.push([series, id]),
  );
  assert.deepEqual(written, [1_500, 400, 300, 200]);
  assert.deepEqual(rows, [
    [0, 4],
    [1, 1],
    [2, 3],
    [3, 2],
  ]);
  assert.ok(!waiting.hasBlockOf({ series: 2, kind: numberKind }));
});

test("a few large blocks are as full as many small ones", () => {
  const waiting = new WaitingBlocks(2048);
  const add = (length: number) =>
    waiting.add({
      ...{ series: 1, kind: numberKind, firstMs: 0, lastMs: 0, count: 1, bytes: new Uint8Array(length) },
      ...{ summaries: [], blockChecksum: 0 },
    });
  const write = () =>
    waiting.write(
      () => 1,
      () => undefined,
    );
  for (const [count, length] of [
    [64, 10],
    [2, 2 ** 19],
  ] as const) {
    for (let at = 0; at < count; at++) {
      assert.ok(!waiting.isFull);
      add(length);
    }
    assert.ok(waiting.isFull);
    write();
    assert.ok(!waiting.isFull);
  }
});

test("reads of a transaction see its blocks, and a rollback forgets them", () => {
  const path = `${temporaryFolder()}/shard.sqlite`;
  const table = new BlockTable(path, { file: "shard.sqlite", blockPoints: 8 });
  const key = { series: 1, kind: numberKind };
  const points = (fromMs: number) => ({
    ...{ times: Float64Array.of(fromMs, fromMs + 1), values: Float64Array.of(1, 2) },
  });
  table.transaction(() => {
    table.insert(key, points(10));
    assert.equal(table.lastBefore(key, Infinity)?.firstMs, 10);
    table.insert(key, points(20));
    assert.equal(table.firstFrom(key, 15)?.firstMs, 20);
    table.insert(key, points(30));
    assert.equal([...table.overlapping(key, 0, 100)].length, 3);
    table.insert(key, points(40));
  });
  assert.throws(
    () =>
      table.transaction(() => {
        table.insert(key, points(50));
        throw new Error("given up");
      }),
    /given up/,
  );
  table.transaction(() => table.insert(key, points(60)));
  const found = [...table.overlapping(key, 0, 100)].map(({ firstMs }) => firstMs);
  assert.deepEqual(found, [10, 20, 30, 40, 60]);
  assert.equal(table.totals.points, 10);
  table.close();
});
