// The distinct ids of many lists come in batches, in order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../limits.ts";
import { distinctIds } from "./distinct-ids.ts";

test("distinct ids come once, in order of their first place, in batches of a bounded size", async () => {
  assert.deepEqual(await Array.fromAsync(distinctIds([])), []);
  assert.deepEqual(await Array.fromAsync(distinctIds([[], [3, 1], [1, 3, 2], [2]])), [[3, 1, 2]]);
  const most = limits.idsPerQueryMax;
  const lists = Array.from({ length: 30 }, (_, list) =>
    Array.from({ length: 1_000 }, (_, at) => list * 500 + at),
  );
  const batches = await Array.fromAsync(distinctIds(lists));
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [most, 15_500 - most],
  );
  assert.deepEqual(
    batches.flat(),
    Array.from({ length: 15_500 }, (_, id) => id),
  );
});
