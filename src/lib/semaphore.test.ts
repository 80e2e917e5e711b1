// The semaphore: bounded permits in total and for one caller, granted in order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

/** Runs work that ends when it is told to; lists the callers in the order in which they were admitted. */
function workIn(places: Semaphore) {
  const admitted: string[] = [];
  const running: { caller: string; end: () => void }[] = [];
  const begin = (caller: string, signal = never) =>
    places.use(caller, signal, () => {
      admitted.push(caller);
      return new Promise<void>((end) => running.push({ caller, end }));
    });
  const endFirst = async () => {
    running.shift()!.end();
    await new Promise(setImmediate);
  };
  return { admitted, begin, endFirst };
}

test("a caller who requests everything leaves permits to others", async () => {
  const places = new Semaphore({ places: 3, perCaller: 2 });
  const { admitted, begin, endFirst } = workIn(places);
  const all = Array.from({ length: 6 }, () => begin("greedy"));
  all.push(begin("modest"), begin("third"));
  await new Promise(setImmediate);
  assert.deepEqual(admitted, ["greedy", "greedy", "modest"]);
  assert.deepEqual(places.load, { taken: 3, waiting: 5 });
  await endFirst();
  assert.deepEqual(admitted.slice(3), ["third"], "who holds least goes first");
  for (let left = 7; left > 0; left--) await endFirst();
  await Promise.all(all);
  assert.equal(admitted.length, 8);
  assert.deepEqual(places.load, { taken: 0, waiting: 0 });
});

test("who gives up while waiting is not admitted, and failed work gives its place back", async () => {
  const places = new Semaphore({ places: 1, perCaller: 1 });
  const { admitted, begin, endFirst } = workIn(places);
  const first = begin("a");
  const ended = new AbortController();
  const second = begin("b", ended.signal);
  ended.abort(new Error("gone"));
  await assert.rejects(second, /gone/);
  await endFirst();
  await first;
  await assert.rejects(
    places.use("a", never, async () => {
      throw new Error("wrong");
    }),
    /wrong/,
  );
  assert.deepEqual(admitted, ["a"]);
  assert.deepEqual(places.load, { taken: 0, waiting: 0 });
});
