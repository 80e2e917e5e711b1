// The naive store keeps the order, the uniqueness and the range bounds that the port promises.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NaivePointsStore } from "./naive-points.ts";

const runs = <Values>(series: number[], ends: number[], times: number[], values: Values) => ({
  series: Float64Array.from(series),
  ends: Uint32Array.from(ends),
  times: Float64Array.from(times),
  values,
});

async function filled(): Promise<NaivePointsStore> {
  const store = new NaivePointsStore();
  await store.append({
    numbers: runs([1, 2, 1], [2, 3, 4], [30, 10, 5, 30], Float64Array.of(3, 1, 9, 4)),
    strings: runs([3], [2], [10, -20], ["b", "a"]),
  });
  return store;
}

test("points come back in order of time, and of equal times the last written", async () => {
  const store = await filled();
  const whole = { startMs: -100, endMs: 100, limit: 10 };
  assert.deepEqual(await store.scan({ ...whole, series: 1, isString: false }), {
    times: Float64Array.of(10, 30),
    values: Float64Array.of(1, 4),
  });
  assert.deepEqual(await store.scan({ ...whole, series: 3, isString: true }), {
    times: Float64Array.of(-20, 10),
    values: ["a", "b"],
  });
  assert.equal((await store.scan({ ...whole, series: 4, isString: true })).times.length, 0);
});

test("outside points are the neighbours of the range and count towards the limit", async () => {
  const store = new NaivePointsStore();
  const times = [0, 10, 20, 30, 40];
  await store.append({ numbers: runs([1], [5], times, Float64Array.from(times)) });
  const query = { series: 1, isString: false, startMs: 10, endMs: 30, limit: 10 };
  const timesOf = async (change: object) => [...(await store.scan({ ...query, ...change })).times];
  assert.deepEqual(await timesOf({}), [10, 20]);
  assert.deepEqual(await timesOf({ includeOutside: true }), [0, 10, 20, 30]);
  assert.deepEqual(await timesOf({ includeOutside: true, limit: 3 }), [0, 10, 20]);
  assert.deepEqual(await timesOf({ includeOutside: true, startMs: -5, endMs: 0 }), [0]);
});

test("the latest point is strictly before the given time", async () => {
  const store = await filled();
  const series = [
    { series: 3, isString: true },
    { series: 1, isString: false },
    { series: 2, isString: false },
  ];
  assert.deepEqual(await store.latest(series, 30), [
    { timeMs: 10, value: "b" },
    { timeMs: 10, value: 1 },
    { timeMs: 5, value: 9 },
  ]);
  assert.deepEqual((await store.latest(series, 10))[1], undefined);
});

test("delete takes a range or the whole series", async () => {
  const store = await filled();
  await store.delete(1, { startMs: 10, endMs: 30 });
  await store.delete(2);
  assert.deepEqual(await store.stats(), {
    points: 3,
    blocks: 0,
    bytesOnDisk: 0,
    journalBytes: 0,
    quarantined: [],
  });
});
