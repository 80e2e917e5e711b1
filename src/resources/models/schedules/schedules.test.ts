// The arithmetic of schedules: filled gaps of columns, and windows that are due or too old.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fillGaps } from "./gaps.ts";
import { dueAt, type ScheduleSpec, windowEndingAt, windowsToSkip } from "./spec.ts";

const column = (...values: readonly (number | null)[]) =>
  Float64Array.from(values, (one) => one ?? Number.NaN);

test("gaps stay, repeat the value before them, or are interpolated", () => {
  const gappy = column(null, 2, null, null, 8, null);
  assert.deepEqual(fillGaps(gappy, undefined), [null, 2, null, null, 8, null]);
  assert.deepEqual(fillGaps(gappy, "ffill"), [null, 2, 2, 2, 8, 8]);
  assert.deepEqual(fillGaps(gappy, "linearInterpolation"), [null, 2, 4, 6, 8, null]);
});

test("a column without a value, and one without a row, have nothing to be filled with", () => {
  for (const how of ["ffill", "linearInterpolation"] as const) {
    assert.deepEqual(fillGaps(column(null, null), how), [null, null]);
    assert.deepEqual(fillGaps(column(), how), []);
    assert.deepEqual(fillGaps(column(1), how), [1]);
  }
});

const spec: ScheduleSpec = {
  ...{ series: [], frames: [], files: [], outputs: [] },
  ...{ strideMs: 10, windowMs: 30, startMs: 1_000, slackMs: 5 },
};

test("a window reaches back from its end, and is due its slack later", () => {
  assert.deepEqual(windowEndingAt(spec, 1_000), { startMs: 970, endMs: 1_000 });
  assert.equal(dueAt(spec, 1_000), 1_005);
  assert.equal(dueAt({ ...spec, slackMs: -1 }, 1_000), 1_000);
});

test("of the windows that are due, the latest thousand are run", () => {
  const lastDueMs = 1_005 + 999 * 10;
  assert.equal(windowsToSkip(spec, 1_000, 0), 0);
  assert.equal(windowsToSkip(spec, 1_000, lastDueMs + 9), 0);
  assert.equal(windowsToSkip(spec, 1_000, lastDueMs + 10), 1);
  assert.equal(windowsToSkip(spec, 1_000, lastDueMs + 500), 50);
});
