// Turns of reads: a bound in each turn of the event loop, equal shares of callers, and no wait of a request
// for itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { FairTurns } from "./fair-turns.ts";

const sliceMs = 2;

/** A clock that stands still but for the work that moves it on. */
function testClock() {
  let nowMs = 0;
  return { nowMs: () => nowMs, spend: (milliseconds: number) => (nowMs += milliseconds) };
}

/** Requests that work again and again, until `isOver`; returns the time that each caller used. */
async function simulated(
  callers: Readonly<Record<string, { requests: number; stepMs: number }>>,
  isOver: (used: Readonly<Record<string, number>>) => boolean,
) {
  const clock = testClock();
  const turns = new FairTurns(sliceMs, clock.nowMs);
  const used: Record<string, number> = {};
  /** The time that all of them used in each turn of the event loop. */
  const perLoop = [0];
  let hasEnded = false;
  const request = async (caller: string, stepMs: number) => {
    const turn = turns.of(caller);
    while (!isOver(used)) {
      await turn.next();
      await Promise.resolve(); // Work continues in microtasks.
      clock.spend(stepMs);
      perLoop[perLoop.length - 1]! += stepMs;
      used[caller] = (used[caller] ?? 0) + stepMs;
      await turnOfTheLoop(); // As for a store.
    }
  };
  const count = async () => {
    while (!hasEnded) {
      await turnOfTheLoop();
      perLoop.push(0);
    }
  };
  const counting = count();
  await Promise.all(
    Object.entries(callers).flatMap(([caller, { requests, stepMs }]) =>
      Array.from({ length: requests }, () => request(caller, stepMs)),
    ),
  );
  hasEnded = true;
  await counting;
  return { used, perLoop, counts: turns.counts };
}

test("many requests use a slice and one more step at most in each turn of the event loop", async () => {
  const { perLoop, counts } = await simulated({ greedy: { requests: 50, stepMs: 1.5 } }, ({ greedy = 0 }) =>
    Boolean(greedy > 500),
  );
  // A turn of the loop and the count of it may come in either order.
  const longest = Math.max(...perLoop);
  assert.ok(longest <= 2 * (sliceMs + 1.5), `${longest} ms`);
  assert.equal(counts.waiting, 0);
  assert.ok(counts.waited > 100 && counts.waitedSeconds > 0);
});

test("a caller with many requests gets no more time than one with few that wait all the time", async () => {
  const { used } = await simulated(
    { greedy: { requests: 40, stepMs: 4 }, modest: { requests: 10, stepMs: 1 } },
    ({ modest = 0 }) => modest >= 100,
  );
  const underWay = 40 * 4;
  assert.ok(used["greedy"]! <= 110 + underWay, JSON.stringify(used));
});

test("a step that is longer than the slice still runs, one in each turn of the event loop", async () => {
  const { perLoop } = await simulated({ slow: { requests: 10, stepMs: 30 } }, ({ slow = 0 }) => slow > 300);
  assert.ok(Math.max(...perLoop) <= 60, `${Math.max(...perLoop)} ms`);
});

test("a request does not wait for its own turn", () => {
  const turns = new FairTurns(sliceMs);
  const [one, other] = [turns.of("a"), turns.of("a")];
  assert.equal(one.next(), undefined);
  assert.equal(one.next(), undefined);
  assert.ok(other.next() instanceof Promise);
});
