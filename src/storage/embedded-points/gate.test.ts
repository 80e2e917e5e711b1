// The gate never holds more than its bound, and lets nobody overtake.
import assert from "node:assert/strict";
import { it } from "node:test";
import { Gate } from "./gate.ts";

it("when it is full all wait, first come first served; what is too large enters alone", async () => {
  const gate = new Gate(10);
  const entered: string[] = [];
  const enter = (name: string, bytes: number) => gate.enter(bytes).then(() => entered.push(name));
  await enter("first", 6);
  const waiting = [enter("second", 6), enter("small", 1), enter("huge", 99)];
  await Promise.resolve();
  assert.deepEqual(entered, ["first"]);
  gate.leave(6);
  await waiting[1];
  assert.deepEqual(entered, ["first", "second", "small"]);
  gate.leave(6);
  await new Promise(setImmediate);
  assert.deepEqual(entered, ["first", "second", "small"]);
  gate.leave(1);
  await waiting[2];
  assert.deepEqual(entered, ["first", "second", "small", "huge"]);
});
