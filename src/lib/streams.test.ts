// Generators that are started early, and bytes in memory or as a stream.
import assert from "node:assert/strict";
import { PassThrough, Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { bytesOrStream, freeingWritable, prefetchedAll } from "./streams.ts";

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
  for await (const [item, values] of prefetchedAll(items, 3, made)) {
    await new Promise(setImmediate);
    for await (const value of values) seen.push(item, value);
  }
  assert.deepEqual(
    seen,
    items.flatMap((item) => [item, item * 10]),
  );
  assert.ok(most > 1 && most <= 4, `${most} ran at once`);
});

/** Chunks with memory of their own, as a file is read in. */
const ownChunks = (count: number) => Array.from({ length: count }, (_, at) => Buffer.alloc(20_000, at + 1));

test("chunks are freed when they are written, and not before", async () => {
  const arrived: number[] = [];
  const target = new Writable({
    write(chunk: Buffer, _encoding, done) {
      setImmediate(() => {
        arrived.push(chunk[0]! * chunk.length);
        done();
      });
    },
  });
  const chunks = ownChunks(5);
  await pipeline(Readable.from(chunks), freeingWritable(target));
  assert.deepEqual(arrived, [20_000, 40_000, 60_000, 80_000, 100_000]);
  assert.ok(chunks.every(({ length }) => length === 0));
});

test("a target that breaks off ends its source, and a source that fails its target", async () => {
  const gone = new PassThrough();
  const source = Readable.from(ownChunks(9));
  const broken = pipeline(source, freeingWritable(gone));
  gone.once("data", () => gone.destroy());
  await assert.rejects(broken);
  assert.ok(source.destroyed);
  async function* failing() {
    yield Buffer.alloc(20_000);
    throw new Error("disk");
  }
  const target = new PassThrough().resume();
  await assert.rejects(pipeline(Readable.from(failing()), freeingWritable(target)), /disk/);
  assert.ok(target.destroyed && !target.writableFinished);
});
