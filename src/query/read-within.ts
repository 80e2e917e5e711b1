// Reads records for a response within the memory that the response has reserved.
import { limits } from "../limits.ts";
import { LengthBound } from "./length-bound.ts";

/** The part of the memory for all responses that one of them holds until it is sent. */
export interface ResponseMemory {
  /**
   * Sets the reservation to `bytes`, replacing the previous one. An increase waits while all responses
   * together exceed the budget, and is refused (503) at the deadline of the request.
   */
  reserve(bytes: number): Promise<void>;
}

/** For the server's own work, which has no memory budget and does not wait. */
export const unboundedMemory: ResponseMemory = { reserve: async () => {} };

/** Of a string outside of Latin-1. */
const bytesPerCharacter = 2;

/**
 * The result of `read` within a small bound that most pages do not reach, or else within that of the largest
 * page: so large pages alone wait for memory.
 */
export async function readWithin<Found>(
  memory: ResponseMemory,
  read: (bound: LengthBound) => Promise<Found>,
): Promise<Found> {
  const few = await readIfShort(memory, read);
  if (few) return few.found;
  return readOnce(memory, new LengthBound(limits.pageLengthMax), read);
}

/**
 * Undefined when there is more than the small bound, all of which is let go: a larger read waits without
 * memory.
 */
async function readIfShort<Found>(
  memory: ResponseMemory,
  read: (bound: LengthBound) => Promise<Found>,
): Promise<{ readonly found: Found } | undefined> {
  let isLong = false;
  const bound = new LengthBound(limits.pageLengthFirst, () => {
    isLong = true;
    throw new Error("more was found than fits into the small bound");
  });
  try {
    return { found: await readOnce(memory, bound, read) };
  } catch (problem) {
    if (!isLong) throw problem;
    await memory.reserve(0);
    return undefined;
  }
}

async function readOnce<Found>(
  memory: ResponseMemory,
  bound: LengthBound,
  read: (bound: LengthBound) => Promise<Found>,
): Promise<Found> {
  await memory.reserve(bound.max * bytesPerCharacter);
  const found = await read(bound);
  // The record with which a page ends may reach beyond the bound.
  await memory.reserve(Math.min(bound.used, bound.max) * bytesPerCharacter);
  return found;
}

interface BatchReads<Key, Row> {
  /** Refuses keys of which there is no record. */
  readonly check: (keys: readonly Key[]) => Promise<unknown>;
  /** As `check`, and returns the records. */
  readonly read: (keys: readonly Key[], bound?: LengthBound) => Promise<readonly Row[]>;
}

/**
 * Yields records in the order of their keys. Short records are read in one transaction, so they show one
 * state. Otherwise each batch fits into `recordsBatchBytes`, and a record that is deleted meanwhile fails its
 * batch.
 */
export async function* readInBatches<Key, Row>(
  memory: ResponseMemory,
  keys: readonly Key[],
  { check, read }: BatchReads<Key, Row>,
): AsyncGenerator<readonly Row[]> {
  const few = await readIfShort(memory, (bound) => read(keys, bound));
  if (few) return yield few.found;
  const { recordsPerBatch } = limits;
  await memory.reserve(limits.recordsBatchBytes);
  await check(keys);
  for (let at = 0; at < keys.length; at += recordsPerBatch)
    yield await read(keys.slice(at, at + recordsPerBatch));
}
