// Generators between stores and responses: prefetches results, and joins strings into chunks of bytes.
import { Readable, Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { freeChunk } from "./free-memory.ts";

/** Starts a generator: it produces its first value before its reader requests it. */
function prefetched<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item> {
  const first = source.next();
  first.catch(() => {}); // The reader of the value gets the error.
  return continued(first, source);
}

async function* continued<Item>(first: Promise<IteratorResult<Item>>, rest: AsyncGenerator<Item>) {
  const { done, value } = await first;
  if (done) return;
  yield value as Item;
  yield* rest;
}

/**
 * Each item with the generator that `begin` returns for it, in order; up to `ahead` generators start early.
 */
export async function* prefetchedAll<Item, Made>(
  items: readonly Item[],
  ahead: number,
  begin: (item: Item) => AsyncGenerator<Made>,
): AsyncGenerator<readonly [Item, AsyncGenerator<Made>]> {
  const running: AsyncGenerator<Made>[] = [];
  for (const [i, item] of items.entries()) {
    while (running.length + i < items.length && running.length <= ahead)
      running.push(prefetched(begin(items[i + running.length]!)));
    yield [item, running.shift()!];
  }
}

/** Characters of a chunk; other requests run between two chunks. */
const chunkLength = 64 * 1024;

/**
 * Joins strings into chunks of about 64 KiB, or of one string if that is longer. The input is in batches,
 * because each value of an async iterable costs some microseconds.
 */
export async function* textChunks(
  batches: Iterable<Iterable<string>> | AsyncIterable<Iterable<string>>,
): AsyncGenerator<Buffer> {
  let held: string[] = [];
  let length = 0;
  for await (const batch of batches)
    for (const text of batch) {
      held.push(text);
      length += text.length;
      if (length < chunkLength) continue;
      yield Buffer.from(held.join(""));
      held = [];
      length = 0;
    }
  if (held.length > 0) yield Buffer.from(held.join(""));
}

/**
 * Returns the bytes if there are at most `bytesMax`, as in most responses, because a stream costs more; else
 * a stream of them.
 */
export async function bytesOrStream(
  chunks: AsyncGenerator<Buffer>,
  bytesMax: number,
): Promise<{ bytes: Buffer } | { stream: Readable }> {
  const held: Buffer[] = [];
  for (let bytes = 0; bytes <= bytesMax; ) {
    const { done, value } = await chunks.next();
    if (done) return { bytes: held.length === 1 ? held[0]! : Buffer.concat(held) };
    held.push(value);
    bytes += value.length;
  }
  return { stream: streamOf(joined(held, chunks)) };
}

/**
 * All chunks if they have at most `bytesMax` bytes together; else stops the generator, discards the chunks
 * and returns undefined.
 */
export async function bufferedChunks(
  chunks: AsyncGenerator<Buffer>,
  bytesMax: number,
  discard: (chunks: readonly Buffer[]) => void,
): Promise<readonly Buffer[] | undefined> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= bytesMax) continue;
    discard(held);
    return undefined;
  }
  return held;
}

/** A stream of the chunks; other requests run between two of them. */
export const streamOf = (chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Readable =>
  Readable.from(withTurns(chunks), { objectMode: false });

/**
 * Writes to `target` and frees each chunk once it is written. If one stream is destroyed, so is the other.
 */
export function freeingWritable(target: Writable): Writable {
  const sink = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      target.write(chunk, (problem) => {
        freeChunk(chunk);
        done(problem);
      });
    },
    final: (done) => void target.end(done),
    destroy(problem, done) {
      if (!target.writableEnded) target.destroy();
      done(problem);
    },
  });
  target.once("close", () => sink.destroy());
  return sink;
}

async function* withTurns(chunks: AsyncIterable<Buffer> | Iterable<Buffer>) {
  for await (const chunk of chunks) {
    yield chunk;
    await turn();
  }
}

async function* joined(held: readonly Buffer[], rest: AsyncGenerator<Buffer>) {
  yield* held;
  yield* rest;
}
