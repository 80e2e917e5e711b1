// A body that stops arriving is refused, and its memory is freed.
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { mock, test } from "node:test";
import { limits } from "../limits.ts";
import { bodyBuffers, readBody } from "./body.ts";
import { MemoryBudget } from "./memory-budget.ts";

const patient = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const total = 2 ** 20;
const sizes = { sharedBytes: total, clientBytes: total, reserveBytes: total, uncountedBytes: 2 ** 16 };

function arriving(length: number, budget: MemoryBudget) {
  const stream = Object.assign(new PassThrough({ highWaterMark: total }), {
    headers: { "content-length": `${length}` },
  });
  const memory = { budget, buffers: bodyBuffers() };
  const reading = { bytesMax: total, client: "a", signal: patient };
  return { stream, body: readBody(stream as unknown as IncomingMessage, memory, reading) };
}

test("a body of which nothing arrives is refused and holds nothing, unless it waits for memory", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const budget = new MemoryBudget(sizes);
  const others = [budget.open("b"), budget.open("c")] as const;
  assert.equal(others[0].resize(total, patient), undefined);
  assert.notEqual(others[1].resize(total, patient), undefined, "in the reserve");
  const waiting = arriving(2 ** 17, budget);
  waiting.stream.write(Buffer.alloc(2 ** 16 + 1));
  await turn();
  mock.timers.tick(limits.bodyIdleMsMax);
  others[0].release();
  await turn();
  waiting.stream.end(Buffer.alloc(2 ** 16 - 1, "x"));
  const { bytes, reservation } = await waiting.body;
  assert.equal(bytes.length, 2 ** 17);
  reservation.release();

  const stalled = arriving(total, budget);
  stalled.stream.write(Buffer.alloc(2 ** 17));
  await turn();
  const refused = assert.rejects(stalled.body, { failure: "body-stalled", status: 408 });
  mock.timers.tick(limits.bodyIdleMsMax);
  await refused;
  assert.equal(budget.open("d").resize(total, patient), undefined, "all memory is free");
  mock.timers.reset();
});

test("a body of one chunk is freed after its last use", async () => {
  const budget = new MemoryBudget(sizes);
  const { stream, body } = arriving(40_000, budget);
  stream.end(Buffer.alloc(40_000, "x"));
  const { bytes, reservation, reuse } = await body;
  assert.equal(bytes.toString(), "x".repeat(40_000));
  reuse();
  assert.equal(bytes.length, 0);
  reservation.release();
});
