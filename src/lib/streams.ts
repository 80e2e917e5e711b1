// Generators between stores and answers: begun early, and gathered into bytes that are sent as they come.
import { Readable, Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";

/** Lets a generator run up to its first value while its reader is still busy elsewhere. */
function prefetched<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item> {
  const first = source.next();
  first.catch(() => {}); // It is raised where the value is read.
  return continued(first, source);
}

async function* continued<Item>(first: Promise<IteratorResult<Item>>, rest: AsyncGenerator<Item>) {
  const { done, value } = await first;
  if (done) return;
  yield value as Item;
  yield* rest;
}

/** What `begin` makes of each item, in order; up to `ahead` of them run before their turn. */
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

/** Characters that are written between two turns of other requests. */
const pieceLength = 64 * 1024;

/**
 * Text gathered into pieces of about 64 KiB, or of one string if that is longer. Strings come in batches,
 * because each of an async iterable costs some microseconds.
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
      if (length < pieceLength) continue;
      yield Buffer.from(held.join(""));
      held = [];
      length = 0;
    }
  if (held.length > 0) yield Buffer.from(held.join(""));
}

/**
 * Bytes in memory when they are few, as most answers are, so that they need no stream; else a stream of
 * them.
 */
export async function bytesOrStream(
  pieces: AsyncGenerator<Buffer>,
  bytesMax: number,
): Promise<{ bytes: Buffer } | { stream: Readable }> {
  const held: Buffer[] = [];
  for (let bytes = 0; bytes <= bytesMax; ) {
    const { done, value } = await pieces.next();
    if (done) return { bytes: held.length === 1 ? held[0]! : Buffer.concat(held) };
    held.push(value);
    bytes += value.length;
  }
  return { stream: streamOf(joined(held, pieces)) };
}

/** All pieces when they have at most `bytesMax` bytes together; undefined, and no more are made, when not. */
export async function bufferedChunks(
  pieces: AsyncGenerator<Buffer>,
  bytesMax: number,
): Promise<readonly Buffer[] | undefined> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
  }
  return held;
}

/** A stream of the pieces; other requests have their turn between two of them. */
export const streamOf = (pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Readable =>
  Readable.from(withTurns(pieces), { objectMode: false });

/**
 * Frees bytes or a column that nobody looks at any more, whoever made it: left to the collector, a fast
 * transfer piles up more than 60 MB of them. What shares its memory with others stays.
 */
export function freeChunk({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Writes to `target` and frees each chunk once it is taken; when either breaks off, so does the other. */
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

async function* withTurns(pieces: AsyncIterable<Buffer> | Iterable<Buffer>) {
  for await (const piece of pieces) {
    yield piece;
    await turn();
  }
}

async function* joined(held: readonly Buffer[], rest: AsyncGenerator<Buffer>) {
  yield* held;
  yield* rest;
}
