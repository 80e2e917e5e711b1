// The bound of start-time fair queueing, for any lengths of items.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairQueue } from "./fair-queue.ts";

const callers = ["a", "b", "c"] as const;
const longestMs = 20;

test("callers who always wait differ by less than two items, however long theirs are", () => {
  const lengths = fc.array(fc.integer({ min: 1, max: longestMs }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.tuple(lengths, lengths, lengths), fc.integer({ min: 1, max: 5 }), (perCaller, depth) => {
      const queue = new FairQueue<number>();
      const servedMs = { a: 0, b: 0, c: 0 };
      for (const caller of callers) for (let at = 0; at < depth; at++) queue.push(caller, at);
      for (let round = 0; round < 300; round++) {
        const { caller, item } = queue.take()! as { caller: (typeof callers)[number]; item: number };
        queue.push(caller, item + depth);
        const own = perCaller[callers.indexOf(caller)]!;
        const tookMs = own[item % own.length]!;
        queue.served(caller, tookMs);
        servedMs[caller] += tookMs;
        const all = Object.values(servedMs);
        assert.ok(Math.max(...all) - Math.min(...all) <= 2 * longestMs, JSON.stringify(servedMs));
      }
    }),
  );
});

test("the items of a caller keep their order, and none is lost", () => {
  const arrivals = fc.array(fc.record({ caller: fc.constantFrom(...callers), takes: fc.nat(2) }));
  fc.assert(
    fc.property(arrivals, (all) => {
      const queue = new FairQueue<number>();
      const taken: Record<string, number[]> = { a: [], b: [], c: [] };
      const take = () => {
        const next = queue.take();
        if (next) taken[next.caller]!.push(next.item);
        if (next) queue.served(next.caller, 1 + (next.item % 7));
        return next !== undefined;
      };
      for (const [at, { caller, takes }] of all.entries()) {
        queue.push(caller, at);
        for (let count = 0; count < takes; count++) take();
      }
      while (take());
      assert.equal(queue.size, 0);
      for (const one of callers)
        assert.deepEqual(
          taken[one],
          [...all.keys()].filter((at) => all[at]!.caller === one),
        );
    }),
  );
});

test("a caller that returns has no credit from the time it was away", () => {
  const queue = new FairQueue<string>();
  const serve = () => {
    const { caller } = queue.take()!;
    queue.push(caller, "more");
    queue.served(caller, 1);
    return caller;
  };
  queue.push("always here", "first");
  for (let at = 0; at < 1_000; at++) serve();
  queue.push("returns", "first");
  const next = Array.from({ length: 100 }, serve);
  assert.ok(next.filter((one) => one === "returns").length <= 51);
});
