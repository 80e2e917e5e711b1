// Rows in memory are those of the table, wherever reads begin and however often blocks change between them.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { runs } from "../../../test/support/proof.ts";
import { numberKind } from "../point-columns.ts";
import { BlockTable } from "./block-table.ts";
import { runRowsMax } from "./recent-rows.ts";

const key = { series: 4096, kind: numberKind };
const other = { series: 8192, kind: numberKind };
const spanMs = 100;

/** Each block has two points, in the first half of a span of its own. */
const change = fc.record({ kind: fc.constantFrom("add", "remove", "undone"), at: fc.nat() });
const read = fc.record({ kind: fc.constant("read"), at: fc.nat(), spans: fc.nat(40) });

function open(blocks: number) {
  const table = new BlockTable(`${temporaryFolder()}/shard.sqlite`, { file: "shard.sqlite", blockPoints: 2 });
  const starts = new Set<number>();
  const add = (startMs: number) => {
    table.insert(key, {
      times: Float64Array.of(startMs, startMs + spanMs / 2),
      values: Float64Array.of(1, 2),
    });
    starts.add(startMs);
  };
  table.transaction(() => {
    for (let at = 0; at < blocks; at++) add(2 * at * spanMs);
    table.insert(other, { times: Float64Array.of(0, 5), values: Float64Array.of(1, 2) });
  });
  return { table, starts, add };
}

for (const blocks of [0, 30, runRowsMax + 20])
  test(`reads of ${blocks} blocks and changes between them`, () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(read, read, change), { maxLength: 40 }), (steps) => {
        const { table, starts, add } = open(blocks);
        for (const step of steps) {
          const startMs = (step.at % (2 * blocks + 10)) * spanMs;
          if ("spans" in step) {
            const endMs = startMs + step.spans * spanMs + 1;
            const found = [...table.overlapping(key, startMs + 60, endMs)].map((row) => row.firstMs);
            const all = [...starts].sort((a, b) => a - b);
            const inRange = (one: number) => one + spanMs / 2 >= startMs + 60 && one < endMs;
            assert.deepEqual(found, all.filter(inRange));
            assert.equal(
              table.lastBefore(key, startMs)?.firstMs,
              all.findLast((one) => one < startMs),
            );
            assert.equal(
              table.firstFrom(key, endMs)?.firstMs,
              all.find((one) => one >= endMs),
            );
          } else if (step.kind === "undone") {
            const fail = () =>
              table.transaction(() => {
                if (!starts.has(startMs)) add(startMs);
                assert.equal(table.firstFrom(key, startMs)?.firstMs, startMs);
                throw new Error("undone");
              });
            const before = new Set(starts);
            assert.throws(fail, /undone/);
            starts.clear();
            for (const one of before) starts.add(one);
          } else if (step.kind === "add" && !starts.has(startMs)) table.transaction(() => add(startMs));
          else if (step.kind === "remove") {
            const row = table.firstFrom(key, startMs);
            if (row !== undefined) table.transaction(() => table.remove(key, row));
            starts.delete(row?.firstMs ?? Number.NaN);
          }
        }
        table.close();
      }),
      runs(12, 600),
    );
  });
