// The memory for request bodies: large ones wait in order, small ones pass, nothing is lost or kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteBudget } from "./byte-budget.ts";

const patient = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a large body waits until there is room, first come first served, and a small one passes", async () => {
  const budget = new ByteBudget(100, 10);
  const started: string[] = [];
  const take = (name: string, bytes: number) =>
    budget.take(bytes, patient).then((release) => {
      started.push(name);
      return release;
    });
  const releaseFirst = await take("first", 80);
  const second = take("second", 50);
  const third = take("third", 20);
  await take("small", 10);
  await turn();
  assert.deepEqual(started, ["first", "small"], "the third would fit, but the second was there before it");
  releaseFirst();
  releaseFirst();
  await Promise.all([second, third]);
  assert.deepEqual(started, ["first", "small", "second", "third"]);
});

test("whoever gives up leaves the queue to the others", async () => {
  const budget = new ByteBudget(100, 10);
  const release = await budget.take(60, patient);
  const impatient = new AbortController();
  const first = budget.take(90, impatient.signal);
  const second = budget.take(40, patient);
  impatient.abort(new Error("gone"));
  await assert.rejects(first, /gone/);
  (await second)();
  release();
  await budget.take(100, patient);
  await assert.rejects(budget.take(100, impatient.signal), /gone/);
});

test("never more than the total is out, and in the end all of it is back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 11, max: 100 }), { maxLength: 40 }), async (sizes) => {
      const budget = new ByteBudget(100, 10);
      let out = 0;
      await Promise.all(
        sizes.map(async (bytes) => {
          const release = await budget.take(bytes, patient);
          out += bytes;
          assert.ok(out <= 100);
          await turn();
          out -= bytes;
          release();
        }),
      );
      await budget.take(100, patient);
    }),
    { numRuns: 30 },
  );
});
