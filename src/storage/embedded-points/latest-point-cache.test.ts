// The cache of latest points: lookups, changes of cached series, and lookups that a change overtakes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOf } from "../conformance/points.ts";
import { LatestPointCache } from "./latest-point-cache.ts";

const pump = 4096;
const append = (...points: readonly (readonly [number, number | string])[]) =>
  ({ kind: "append", batch: batchOf([pump, points]) }) as const;

/** A cache with the pump's latest point: 5 at 100 ms. */
function cached(): LatestPointCache {
  const points = new LatestPointCache();
  points.finishLookup(pump, points.startLookup(pump), { timeMs: 100, value: 5 });
  return points;
}

test("a cached point is the result for times after it, and not for others", () => {
  assert.deepEqual(cached().get(pump, 101), { timeMs: 100, value: 5 });
  assert.equal(cached().get(pump, 100), undefined);
  assert.equal(cached().get(8192, 101), undefined);
});

test("later and equal times replace it, of equal ones the last written; earlier ones do not", () => {
  const points = cached();
  points.update(append([300, 1], [90, 9], [300, 2], [200, 3]));
  assert.deepEqual(points.get(pump, 1000), { timeMs: 300, value: 2 });
  points.update(append([300, 4], [299, 7]));
  assert.deepEqual(points.get(pump, 1000), { timeMs: 300, value: 4 });
});

test("a deletion or a string that is too long removes it", () => {
  const deleted = cached();
  deleted.update({ kind: "delete", series: pump, range: { startMs: 0, endMs: 1 } });
  assert.equal(deleted.get(pump, 1000), undefined);
  const long = cached();
  long.update(append([200, "x".repeat(257)]));
  assert.equal(long.get(pump, 1000), undefined);
});

test("a lookup that a change overtakes is not cached", () => {
  for (const change of [append([200, 1]), { kind: "delete", series: pump } as const]) {
    const points = new LatestPointCache();
    const token = points.startLookup(pump);
    points.update(change);
    points.finishLookup(pump, token, { timeMs: 100, value: 5 });
    assert.equal(points.get(pump, 1000), undefined);
  }
});
