// The fair scheduler: callers get equal time, other work of the thread runs, and ended requests are
// dropped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FairScheduler } from "./fair-scheduler.ts";

const never = new AbortController().signal;

/** A clock that only the test moves. */
function testClock() {
  let nowMs = 0;
  return { nowMs: () => nowMs, spend: (milliseconds: number) => (nowMs += milliseconds) };
}

test("a caller with many long computations gets no more time than one with a single short one", async () => {
  const clock = testClock();
  const slices = new FairScheduler(clock.nowMs);
  const spent = { greedy: 0, modest: 0 };
  const compute = async (caller: keyof typeof spent, milliseconds: number) => {
    while (spent.modest < 100) {
      await slices.run(caller, never, () => clock.spend(milliseconds));
      spent[caller] += milliseconds;
    }
  };
  await Promise.all([...Array.from({ length: 20 }, () => compute("greedy", 8)), compute("modest", 1)]);
  const underWay = 20 * 8; // Each of the greedy computations ends with a step that was begun before.
  assert.ok(spent.greedy >= 90 && spent.greedy <= 110 + underWay, JSON.stringify(spent));
  assert.equal(slices.busyMs, spent.greedy + spent.modest);
});

test("between two slices the thread does its other work", async () => {
  const clock = testClock();
  const slices = new FairScheduler(clock.nowMs);
  let [isOver, turns, steps] = [false, 0, 0];
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      slices.run(`caller ${at % 3}`, never, () => {
        clock.spend(2);
        steps += 1;
      }),
    ),
  );
  isOver = true;
  assert.equal(steps, 40);
  assert.ok(turns >= 39, `${turns}`);
});

test("a step is not run once its request has ended, and a step that throws hurts no other", async () => {
  const slices = new FairScheduler();
  const ended = new AbortController();
  let hasRun = false;
  const waiting = slices.run("a", ended.signal, () => (hasRun = true));
  ended.abort(new Error("gone"));
  const thrown = slices.run("a", never, () => {
    throw new Error("wrong");
  });
  await assert.rejects(waiting, /gone/);
  await assert.rejects(thrown, /wrong/);
  assert.equal(await slices.run("a", never, () => 7), 7);
  assert.equal(hasRun, false);
});
