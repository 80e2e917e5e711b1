// Generators begun early, and bytes in memory or as a stream.
import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { begunAhead, bytesOrStream } from "./streams.ts";

async function* pieces(count: number, bytes: number) {
  for (let i = 0; i < count; i += 1) yield Buffer.alloc(bytes, i);
}

test("few bytes come from memory, many as a stream of the same bytes", async () => {
  for (const count of [0, 1, 3, 10]) {
    const expected = Buffer.concat(await Array.fromAsync(pieces(count, 100)));
    const few = await bytesOrStream(pieces(count, 100), 1000);
    assert.ok("bytes" in few);
    assert.deepEqual(few.bytes, expected);
    const many = await bytesOrStream(pieces(count, 100), 99);
    if (count > 0) assert.ok("stream" in many);
    assert.deepEqual("stream" in many ? await buffer(many.stream) : many.bytes, expected);
  }
});

test("a fault before the first bytes are sent is raised, a later one ends the stream", async () => {
  async function* failing(after: number) {
    yield* pieces(after, 100);
    throw new Error("store gone");
  }
  await assert.rejects(bytesOrStream(failing(0), 99), /store gone/);
  const late = await bytesOrStream(failing(2), 99);
  assert.ok("stream" in late);
  await assert.rejects(buffer(late.stream), /store gone/);
});

test("some run before their turn, never more than said, and the order stays", async () => {
  let running = 0;
  let most = 0;
  async function* made(item: number) {
    running += 1;
    most = Math.max(most, running);
    yield item * 10;
    running -= 1;
  }
  const seen: number[] = [];
  const items = Array.from({ length: 20 }, (_, i) => i);
  for await (const [item, values] of begunAhead(items, 3, made)) {
    await new Promise(setImmediate);
    for await (const value of values) seen.push(item, value);
  }
  assert.deepEqual(
    seen,
    items.flatMap((item) => [item, item * 10]),
  );
  assert.ok(most > 1 && most <= 4, `${most} ran at once`);
});
