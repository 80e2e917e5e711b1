// When the warm-up of a shard continues, waits and ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WarmUpPace } from "./warm-up-pace.ts";

test("a thread without other work runs every step", () => {
  const pace = new WarmUpPace();
  for (let step = 0; step < 1_000; step++) assert.equal(pace.decide(), "run");
});

test("work postpones one step", () => {
  const pace = new WarmUpPace();
  pace.noteWork();
  pace.noteWork();
  assert.equal(pace.decide(), "postpone");
  assert.equal(pace.decide(), "run");
});

test("many records do not end it, and many reads do", () => {
  const pace = new WarmUpPace();
  for (let record = 0; record < 10_000; record++) {
    pace.noteWork();
    assert.equal(pace.decide(), "postpone");
  }
  for (let read = 0; read < 399; read++) pace.noteRead();
  assert.equal(pace.decide(), "run");
  pace.noteRead();
  assert.equal(pace.decide(), "end");
});

test("it does not wait for good", () => {
  const pace = new WarmUpPace();
  let postponed = 0;
  for (pace.noteWork(); pace.decide() === "postpone"; pace.noteWork()) postponed += 1;
  assert.equal(postponed, 60_000);
});
