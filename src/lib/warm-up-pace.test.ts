// When a warm-up continues, waits and ends.
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

test("much other work does not end it, and many calls do", () => {
  const pace = new WarmUpPace();
  for (let work = 0; work < 10_000; work++) {
    pace.noteWork();
    assert.equal(pace.decide(), "postpone");
  }
  for (let call = 0; call < 399; call++) pace.noteCall();
  assert.equal(pace.decide(), "run");
  pace.noteCall();
  assert.equal(pace.decide(), "end");
});

test("it does not wait for good", () => {
  const pace = new WarmUpPace();
  let postponed = 0;
  for (pace.noteWork(); pace.decide() === "postpone"; pace.noteWork()) postponed += 1;
  assert.equal(postponed, 60_000);
});
