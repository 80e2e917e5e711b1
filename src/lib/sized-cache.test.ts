// Entries with sizes: those used longest ago leave first, and a replaced one leaves, too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SizedCache } from "./sized-cache.ts";

test("the entries used longest ago are dropped when all are larger than the maximum", () => {
  const dropped: string[] = [];
  const cache = new SizedCache<number, string>(10, (value) => dropped.push(value));
  cache.set(1, "a", 4);
  cache.set(2, "b", 4);
  assert.equal(cache.get(1), "a");
  cache.set(3, "c", 4);
  assert.deepEqual(dropped, ["b"]);
  assert.deepEqual([cache.get(1), cache.get(2), cache.get(3)], ["a", undefined, "c"]);
});

test("a replaced entry counts once, and one larger than the maximum is not kept", () => {
  const dropped: string[] = [];
  const cache = new SizedCache<number, string>(10, (value) => dropped.push(value));
  cache.set(1, "a", 9);
  cache.set(1, "b", 10);
  cache.set(2, "c", 11);
  assert.deepEqual([cache.get(1), cache.get(2)], ["b", undefined]);
  cache.set(1, "d", 11);
  assert.equal(cache.get(1), undefined);
  assert.deepEqual(dropped, ["a", "b"]);
});

test("a cleared cache has space for all of its size", () => {
  const cache = new SizedCache<number, string>(2);
  cache.set(1, "a", 1);
  cache.set(2, "b", 1);
  cache.clear();
  cache.set(3, "c", 1);
  cache.set(4, "d", 1);
  assert.deepEqual([cache.get(1), cache.get(3), cache.get(4)], [undefined, "c", "d"]);
});
