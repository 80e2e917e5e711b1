// Buckets as a grid: filled values and gaps, equal for any partition of the rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type GapFilling, GridRows } from "./grid-rows.ts";

const none = Number.NaN;

function rowsOf(
  rows: readonly (readonly [minute: number, ...values: number[]])[],
  given: { fillings: readonly (GapFilling | undefined)[]; filledMax?: number; pieces?: readonly number[] },
) {
  const { fillings, filledMax = 3, pieces = [] } = given;
  const grid = new GridRows({ bucketMs: 60_000, fillings, filledMax });
  const result: number[][] = [];
  const keep = (taken: ReturnType<GridRows["end"]>) => {
    for (let i = 0; i < taken.times.length; i += 1)
      result.push([taken.times[i]! / 60_000, ...taken.columns.map((column) => column[i]!)]);
  };
  const cuts = [0, ...pieces.map((one) => Math.min(one, rows.length)).toSorted((a, b) => a - b), rows.length];
  for (let i = 1; i < cuts.length; i += 1) {
    const piece = rows.slice(cuts[i - 1], cuts[i]);
    keep(
      grid.add({
        times: Float64Array.from(piece, ([minute]) => minute * 60_000),
        columns: fillings.map((_, c) => Float64Array.from(piece, (row) => row[c + 1]!)),
      }),
    );
  }
  keep(grid.end());
  return result;
}

test("an empty bucket is a row of NaN, and a long gap is as good as a short one", () => {
  const rows = rowsOf(
    [
      [1, 10],
      [3, 30],
      [1_000_000, 5],
    ],
    { fillings: [undefined], filledMax: 1 },
  );
  assert.deepEqual(rows, [
    [1, 10],
    [2, none],
    [3, 30],
    [4, none],
    [5, none],
    [1_000_000, 5],
  ]);
});

test("ffill repeats the value before, a line runs to the value after, each column by its own way", () => {
  const rows = rowsOf(
    [
      [0, 1, 1, 1],
      [1, none, 2, 2],
      [4, 8, none, 8],
    ],
    {
      fillings: ["ffill", undefined, "linearInterpolation"],
    },
  );
  assert.deepEqual(rows, [
    [0, 1, 1, 1],
    [1, 1, 2, 2],
    [2, 1, none, 4],
    [3, 1, none, 6],
    [4, 8, none, 8],
  ]);
});

test("nothing is filled before the first value, after the last on a line, or beyond the longest gap", () => {
  const line: GapFilling = "linearInterpolation";
  assert.deepEqual(
    rowsOf(
      [
        [0, none],
        [1, 1],
        [2, none],
      ],
      { fillings: [line] },
    ),
    [
      [0, none],
      [1, 1],
      [2, none],
    ],
  );
  const long = rowsOf(
    [
      [0, 0],
      [5, 5],
    ],
    { fillings: [line], filledMax: 3 },
  );
  assert.deepEqual(
    long.map(([, value]) => value),
    [0, none, none, none, none, 5],
  );
  const carried = rowsOf(
    [
      [0, 7],
      [5, 5],
    ],
    { fillings: ["ffill"], filledMax: 3 },
  );
  assert.deepEqual(
    carried.map(([, value]) => value),
    [7, 7, 7, 7, none, 5],
  );
});

test("rows in several batches give the same grid", () => {
  const filling = fc.constantFrom<GapFilling | undefined>(undefined, "ffill", "linearInterpolation");
  const cell = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(none));
  const rows = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 7 }), cell, cell), { maxLength: 60 })
    .map((steps) => {
      let minute = 0;
      return steps.map(([step, a, b]) => {
        minute += step;
        return [minute, a, b] as const;
      });
    });
  const options = fc.tuple(filling, filling);
  fc.assert(
    fc.property(rows, options, fc.array(fc.integer({ min: 0, max: 60 })), (all, fillings, pieces) => {
      assert.deepEqual(rowsOf(all, { fillings, pieces }), rowsOf(all, { fillings }));
    }),
  );
});
