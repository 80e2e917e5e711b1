// The newest points in memory: what is learned, what a change makes of it, and what came too late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOf } from "../conformance/points.ts";
import { LastPoints } from "./last-points.ts";

const pump = 4096;
const append = (...points: readonly (readonly [number, number | string])[]) =>
  ({ kind: "append", batch: batchOf([pump, points]) }) as const;

/** Knows that the pump's last point is 5 at 100 ms. */
function learned(): LastPoints {
  const points = new LastPoints();
  points.learn(pump, points.ask(pump), { timeMs: 100, value: 5 });
  return points;
}

test("a learned point answers every query after it, and none at or before it", () => {
  assert.deepEqual(learned().find(pump, 101), { timeMs: 100, value: 5 });
  assert.equal(learned().find(pump, 100), undefined);
  assert.equal(learned().find(8192, 101), undefined);
});

test("later and equal times replace it, the last written of equals; earlier ones do not", () => {
  const points = learned();
  points.note(append([300, 1], [90, 9], [300, 2], [200, 3]));
  assert.deepEqual(points.find(pump, 1000), { timeMs: 300, value: 2 });
  points.note(append([300, 4], [299, 7]));
  assert.deepEqual(points.find(pump, 1000), { timeMs: 300, value: 4 });
});

test("an erasure, and a text too long to be kept, make it unknown", () => {
  const erased = learned();
  erased.note({ kind: "erase", series: pump, range: { startMs: 0, endMs: 1 } });
  assert.equal(erased.find(pump, 1000), undefined);
  const long = learned();
  long.note(append([200, "x".repeat(257)]));
  assert.equal(long.find(pump, 1000), undefined);
});

test("an answer that a change overtook is not learned", () => {
  for (const change of [append([200, 1]), { kind: "erase", series: pump } as const]) {
    const points = new LastPoints();
    const token = points.ask(pump);
    points.note(change);
    points.learn(pump, token, { timeMs: 100, value: 5 });
    assert.equal(points.find(pump, 1000), undefined);
  }
});
