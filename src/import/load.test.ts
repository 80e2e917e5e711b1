// Batches are acknowledged in the order of the file, and batches with overlapping times never run at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "./batches.ts";
import { load } from "./load.ts";

const batch = (line: number, firstMs: number, lastMs: number): Batch => ({
  body: "x",
  points: 1,
  refused: [],
  firstMs,
  lastMs,
  end: { line, endBytes: line },
  epochValues: [],
});

async function* each(batches: readonly Batch[]) {
  yield* batches;
}

/** Loads with responses in reverse order; returns the most open requests and the acknowledged rows. */
async function loaded(batches: readonly Batch[], inFlightMax = 3) {
  const open = new Set<number>();
  const together: number[][] = [];
  const acknowledged: number[] = [];
  await load(each(batches), {
    inFlightMax,
    stop: new AbortController().signal,
    acknowledge: ({ end }) => acknowledged.push(end.line),
    send: async ({ end }) => {
      open.add(end.line);
      together.push([...open]);
      await new Promise((resolve) => setTimeout(resolve, 20 - end.line * 4));
      open.delete(end.line);
    },
  });
  return { together, acknowledged };
}

test("ascending batches are open together and acknowledged in order", async () => {
  const { together, acknowledged } = await loaded([batch(1, 0, 9), batch(2, 10, 19), batch(3, 20, 29)]);
  assert.deepEqual(together.at(-1), [1, 2, 3]);
  assert.deepEqual(acknowledged, [1, 2, 3]);
});

test("no more are open than allowed", async () => {
  const { together } = await loaded(
    [1, 2, 3, 4].map((line) => batch(line, line, line)),
    2,
  );
  assert.ok(together.every((open) => open.length <= 2));
  assert.ok(together.some((open) => open.length === 2));
});

test("a batch that goes back in time waits for those it could race with", async () => {
  const { together } = await loaded([batch(1, 0, 9), batch(2, 5, 14), batch(3, 20, 29)]);
  assert.ok(!together.some((open) => open.includes(1) && open.includes(2)));
  assert.ok(together.some((open) => open.includes(2) && open.includes(3)));
});

test("after a failure nothing later is acknowledged and all requests in flight have ended", async () => {
  const acknowledged: number[] = [];
  let open = 0;
  const failing = load(each([1, 2, 3].map((line) => batch(line, line, line))), {
    inFlightMax: 3,
    stop: new AbortController().signal,
    acknowledge: ({ end }) => acknowledged.push(end.line),
    send: async ({ end }) => {
      open++;
      await new Promise((resolve) => setTimeout(resolve, 5 * end.line));
      open--;
      if (end.line === 2) throw new Error("refused");
    },
  });
  await assert.rejects(failing, /refused/);
  assert.deepEqual(acknowledged, [1]);
  assert.equal(open, 0);
});

test("a stop begins nothing further and finishes what is in flight", async () => {
  const stop = new AbortController();
  const acknowledged: number[] = [];
  await load(each([1, 2, 3].map((line) => batch(line, line, line))), {
    inFlightMax: 3,
    stop: stop.signal,
    acknowledge: ({ end }) => acknowledged.push(end.line),
    send: async () => stop.abort(),
  });
  assert.deepEqual(acknowledged, [1]);
});
