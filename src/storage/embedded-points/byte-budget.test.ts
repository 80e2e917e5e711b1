// The budget is never exceeded, and is granted in the order of requests.
import assert from "node:assert/strict";
import { it } from "node:test";
import { ByteBudget } from "./byte-budget.ts";

it("when it is full, requests wait in order; one larger than the budget is granted alone", async () => {
  const budget = new ByteBudget(10);
  const granted: string[] = [];
  const acquire = (name: string, bytes: number) => budget.acquire(bytes).then(() => granted.push(name));
  await acquire("first", 6);
  const waiting = [acquire("second", 6), acquire("small", 1), acquire("huge", 99)];
  await Promise.resolve();
  assert.deepEqual(granted, ["first"]);
  budget.release(6);
  await waiting[1];
  assert.deepEqual(granted, ["first", "second", "small"]);
  budget.release(6);
  await new Promise(setImmediate);
  assert.deepEqual(granted, ["first", "second", "small"]);
  budget.release(1);
  await waiting[2];
  assert.deepEqual(granted, ["first", "second", "small", "huge"]);
});
