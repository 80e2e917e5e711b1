// Blocks of a long read that several threads decode and summarise: the thread of their shard, and the threads
// of other shards that have nothing else to do. A read of a month of seconds decodes hundreds of blocks.
//
// The shard publishes the bytes of blocks in slots of shared memory, in the order of the read. Any thread
// claims the next published block, and writes its summaries into the slot. Each summary is calculated by one
// thread from the points of one block in one bucket, and the shard combines them in the order of the read. So
// a result has the same bits with and without help.
//
// The shard claims blocks too, and waits only for those that a helper is decoding. Helpers wait for nothing
// but the next block, for a millisecond at most. So threads never wait for each other in a circle.
//
// `published` and `claimed` count blocks since the memory was made; a slot is used again when its block was
// taken. They are 32-bit integers and may overflow, so only their difference is compared.

import { Kernels } from "../kernels.ts";
import { firstAtOrAfter } from "../point-columns.ts";
import { decodeSummary, encodeSummary, type Summary, summaryFields } from "../summary.ts";
import { DamagedBlock, decodeBlock } from "./block.ts";
import type { BucketGrid } from "./bucket-cache.ts";

/** A power of two. Enough for four threads, each of which decodes one block while three wait for it. */
export const sharedBlocksMax = 16;
/** The store writes blocks of about 9 KB; the thread of the shard decodes larger ones alone. */
const blockBytesMax = 2 ** 15;
export const sharedSummariesMax = 16;
/** A helper that takes longer for one block has ended or is suspended. */
const helperMs = 1_000;
/** How long a helper waits for the next block before it looks whether the read has ended. */
const idleMs = 1;

const control = { published: 0, claimed: 1, isReading: 2, length: 3 } as const;
/** Of a slot. */
const state = { open: 0, done: 1, failed: 2 } as const;
const parameters = 9;
const slotNumbers = parameters + sharedSummariesMax * summaryFields;

/** A block, and the buckets of a range in which its points are summarised. */
export interface BlockToShare {
  readonly bytes: Uint8Array;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The points are in at most `sharedSummariesMax` of its buckets. */
  readonly grid: Pick<BucketGrid, "bucketMs" | "phaseMs">;
  /** If false, squares of the summaries are NaN. */
  readonly wantsSquares: boolean;
}

/** Whether the block fits into a slot. */
export const mayShare = (bytes: Uint8Array): boolean => bytes.length <= blockBytesMax;

/** A published block, until its summaries are taken. */
export interface SharedBlock {
  readonly memory: SlotMemory;
  readonly index: number;
}

/** The shared blocks of one shard: publishes the blocks of one read at a time. */
export class SharedBlocks {
  readonly #requestHelp: (buffer: SharedArrayBuffer) => void;
  readonly #kernels = new Kernels();
  /** Made for the first long read: half a megabyte. */
  #memory: SlotMemory | undefined;
  readonly #untaken = new Set<SharedBlock>();

  /** `requestHelp` passes the memory to other threads, which call `helpWith`. */
  constructor(requestHelp: (buffer: SharedArrayBuffer) => void) {
    this.#requestHelp = requestHelp;
  }

  /** At most `sharedBlocksMax` published blocks are not taken yet. */
  publish(block: BlockToShare): SharedBlock {
    this.#memory ??= new SlotMemory(SlotMemory.allocate());
    const memory = this.#memory;
    const shared = { memory, index: memory.publish(block) };
    this.#untaken.add(shared);
    if (memory.begin()) this.#requestHelp(memory.buffer);
    return shared;
  }

  /** The summaries of a published block; undefined if the caller must read the block itself. */
  take(shared: SharedBlock): Summary[] | undefined {
    this.#untaken.delete(shared);
    const { memory, index } = shared;
    while (memory === this.#memory && memory.stateOf(index) === state.open) {
      const next = memory.claim();
      if (next !== undefined) memory.summarise(next, this.#kernels);
      else this.#waitFor(shared);
    }
    return memory.stateOf(index) === state.done ? memory.summariesOf(index) : undefined;
  }

  /** Ends the read. Blocks that were not taken are dropped. */
  end(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    for (let index = memory.claim(); index !== undefined; index = memory.claim())
      memory.finish(index, state.failed);
    for (const shared of this.#untaken)
      while (memory === this.#memory && memory.stateOf(shared.index) === state.open) this.#waitFor(shared);
    this.#untaken.clear();
    memory.end();
  }

  /** Waits for a helper. Leaves the memory to a helper that does not finish. */
  #waitFor({ memory, index }: SharedBlock): void {
    if (memory.wait(index)) return;
    memory.end();
    this.#memory = undefined;
    this.#untaken.clear();
  }
}

/** Decodes blocks of another shard's read while `mayContinue`. Returns whether that read continues. */
export function helpWith(buffer: SharedArrayBuffer, kernels: Kernels, mayContinue: () => boolean): boolean {
  const memory = new SlotMemory(buffer);
  while (memory.isReading && mayContinue()) {
    const index = memory.claim();
    if (index === undefined) memory.waitForNext();
    else if (!trySummarise(memory, index, kernels)) return false;
  }
  return memory.isReading;
}

/**
 * A fault ends the help, not the thread of a shard without part in the read. The shard reads the block
 * itself.
 */
function trySummarise(memory: SlotMemory, index: number, kernels: Kernels): boolean {
  try {
    memory.summarise(index, kernels);
    return true;
  } catch {
    return false;
  }
}

/** The shared memory of a shard's reads, as all threads see it. */
class SlotMemory {
  readonly buffer: SharedArrayBuffer;
  readonly #control: Int32Array;
  readonly #states: Int32Array;
  readonly #numbers: Float64Array;
  readonly #bytes: Uint8Array;

  static readonly #integerBytes = 4 * 2 * sharedBlocksMax;

  static allocate(): SharedArrayBuffer {
    const slotBytes = 8 * slotNumbers + blockBytesMax;
    return new SharedArrayBuffer(SlotMemory.#integerBytes + sharedBlocksMax * slotBytes);
  }

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#control = new Int32Array(buffer, 0, control.length);
    this.#states = new Int32Array(buffer, 4 * sharedBlocksMax, sharedBlocksMax);
    this.#numbers = new Float64Array(buffer, SlotMemory.#integerBytes, sharedBlocksMax * slotNumbers);
    this.#bytes = new Uint8Array(buffer, SlotMemory.#integerBytes + this.#numbers.byteLength);
  }

  get isReading(): boolean {
    return Atomics.load(this.#control, control.isReading) === 1;
  }

  /** Returns whether the read had not begun. */
  begin(): boolean {
    return Atomics.exchange(this.#control, control.isReading, 1) === 0;
  }

  end(): void {
    Atomics.store(this.#control, control.isReading, 0);
    Atomics.notify(this.#control, control.published);
  }

  /** Returns the index of the block. Only the shard calls this. */
  publish({ bytes, firstMs, lastMs, startMs, endMs, grid, wantsSquares }: BlockToShare): number {
    const index = Atomics.load(this.#control, control.published);
    const slot = slotOf(index);
    const { bucketMs, phaseMs } = grid;
    this.#numbers.set(
      [bytes.length, firstMs, lastMs, startMs, endMs, bucketMs, phaseMs, Number(wantsSquares), 0],
      slot * slotNumbers,
    );
    this.#bytes.set(bytes, slot * blockBytesMax);
    Atomics.store(this.#states, slot, state.open);
    Atomics.store(this.#control, control.published, (index + 1) | 0);
    Atomics.notify(this.#control, control.published);
    return index;
  }

  /** The next block that no thread has claimed. */
  claim(): number | undefined {
    for (;;) {
      const index = Atomics.load(this.#control, control.claimed);
      const left = (Atomics.load(this.#control, control.published) - index) | 0;
      if (left <= 0) return undefined;
      const next = (index + 1) | 0;
      if (Atomics.compareExchange(this.#control, control.claimed, index, next) === index) return index;
    }
  }

  /** Summarises the points of a claimed block. */
  summarise(index: number, kernels: Kernels): void {
    let isDone = false;
    try {
      isDone = this.#summarise(slotOf(index), kernels);
    } catch (error) {
      // The thread of the shard then reads the block itself, and reports the damage.
      if (!(error instanceof DamagedBlock)) throw error;
    } finally {
      this.finish(index, isDone ? state.done : state.failed);
    }
  }

  finish(index: number, as: number): void {
    Atomics.store(this.#states, slotOf(index), as);
    Atomics.notify(this.#states, slotOf(index));
  }

  stateOf(index: number): number {
    return Atomics.load(this.#states, slotOf(index));
  }

  /** Returns whether a helper finished the block in time. */
  wait(index: number): boolean {
    return Atomics.wait(this.#states, slotOf(index), state.open, helperMs) !== "timed-out";
  }

  waitForNext(): void {
    const claimed = Atomics.load(this.#control, control.claimed);
    Atomics.wait(this.#control, control.published, claimed, idleMs);
  }

  summariesOf(index: number): Summary[] {
    const from = slotOf(index) * slotNumbers;
    const count = this.#numbers[from + parameters - 1]!;
    return Array.from({ length: count }, (_, at) => {
      return decodeSummary(this.#numbers, from + parameters + at * summaryFields);
    });
  }

  #summarise(slot: number, kernels: Kernels): boolean {
    const from = slot * slotNumbers;
    const [length, firstMs, lastMs, startMs, endMs, bucketMs, phaseMs, wantsSquares] = this.#numbers.subarray(
      from,
      from + parameters,
    ) as unknown as [number, number, number, number, number, number, number, number];
    // A copy: zlib does not take shared memory.
    const bytes = this.#bytes.slice(slot * blockBytesMax, slot * blockBytesMax + length);
    const { times, values } = decodeBlock(bytes, kernels);
    const numbers = values as Float64Array;
    if (times[0] !== firstMs || times.at(-1) !== lastMs) return false;
    const first = firstAtOrAfter(times, startMs);
    const points = { times, values: numbers, from: first, to: firstAtOrAfter(times, endMs, first) };
    const summaries = kernels.summariseBuckets(points, { startMs: phaseMs, bucketMs }, wantsSquares !== 0);
    if (summaries.length > sharedSummariesMax) return false;
    for (const [at, summary] of summaries.entries())
      encodeSummary(summary, this.#numbers, from + parameters + at * summaryFields);
    this.#numbers[from + parameters - 1] = summaries.length;
    return true;
  }
}

const slotOf = (index: number): number => index & (sharedBlocksMax - 1);
