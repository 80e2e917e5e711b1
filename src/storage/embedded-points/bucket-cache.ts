// Caches summaries of whole buckets of series of numbers, so that a repeated aggregate over years combines
// summaries instead of reading thousands of block rows and decoding hundreds of blocks.
//
// The parts of a series in time, and the cached buckets of one grid (here of one hour):
//
//   blocks    |####### 1 #######|  |## 2 ##|            |##### 3 #####|
//   head                       x          x  x
//   buckets   |  A  |  B  |  C  |  D  |     |     |     |  E  |  F  |
//                                      ^ noBlocksUntilMs of D: the start of E
//
// The summary of A needs block 1 only; those of C and D include points of two blocks or of the head. No block
// has points between D and E, so a read of [D, E) looks at the head only.
//
// A block that touches more than `summarisedBucketsMax` buckets is not summarised, so such buckets are not
// cached: hours of one value a second are, hours of one value a minute are not. In the head, only buckets
// with hundreds of points are cached beyond that number.
//
// Bound: a number of bytes for each shard, and `gridsPerSeriesMax` grids for each series. The grid that was
// not queried for longest is dropped first.
//
// Invalidation: adding or removing a block must call `invalidate` with its times. Points of the head need no
// call: each cached bucket keeps the number of head points it includes and the version of the head, and a
// read compares them with the head (`isFresh`). Entries are replaced, never edited, except `noBlocksUntilMs`
// and `headVersion`. Insert entries only outside of transactions, because a rollback does not undo them.

import type { SeriesId } from "../points.ts";
import type { Summary } from "../summary.ts";
import type { Head } from "./head.ts";

const bytesMaxDefault = 16 * 2 ** 20;
/** Memory of a cached bucket or of a block summary: mostly its fifteen numbers, which are on the heap. */
const summaryMemoryBytes = 576;
/** Memory of a grid without buckets. */
const gridMemoryBytes = 256;
/** Passed to one call. */
const argumentsMax = 4096;
/** Every change of a block looks into each grid of its series. */
const gridsPerSeriesMax = 8;

/** The summary of points of one bucket. `blockId` is set when they are all of the block's points in it. */
export interface PartSummary {
  readonly blockId: number | undefined;
  readonly summary: Summary;
}

/** The summary of all points that a block has in one bucket, where the block extends beyond the bucket. */
export type BlockSummary = PartSummary & { readonly blockId: number };

export interface BucketSummary {
  readonly summary: Summary;
  /** At most two. When the bucket is refreshed, these blocks need not be decoded again. */
  readonly blockSummaries: readonly BlockSummary[];
}

export interface CachedBucket extends BucketSummary {
  readonly startMs: number;
  /** Blocks have no point from the end of the bucket up to here. It is always the start of a bucket. */
  noBlocksUntilMs: number;
  /** How many points of the head the summary includes. */
  readonly headPoints: number;
  /** The latest version of the head that is known to have these points. */
  headVersion: number;
}

/** Buckets of equal length, one of which starts at `startMs`. */
interface BucketQuery {
  readonly startMs: number;
  readonly bucketMs: number;
}

/** The cached buckets of one series with one length and one phase. */
export class BucketGrid {
  readonly bucketMs: number;
  /** Start of the first bucket at or after 1970. */
  readonly phaseMs: number;
  bytes = gridMemoryBytes;
  /** Ascending. The `noBlocksUntilMs` of a bucket is not after the start of the next one. */
  readonly #buckets: CachedBucket[] = [];

  constructor(bucketMs: number, phaseMs: number) {
    this.bucketMs = bucketMs;
    this.phaseMs = phaseMs;
  }

  /** Start of the bucket with this time. */
  bucketStart(timeMs: number): number {
    return this.phaseMs + Math.floor((timeMs - this.phaseMs) / this.bucketMs) * this.bucketMs;
  }

  /** The cached bucket that starts at this time. It is valid only if `isFresh`. */
  get(startMs: number): CachedBucket | undefined {
    const bucket = this.#buckets[this.#indexFrom(startMs)];
    return bucket?.startMs === startMs ? bucket : undefined;
  }

  /**
   * Whether the head has the same points in the bucket as when it was cached. Then updates the bucket to the
   * head's version. A head merges old changes into one wide range, which could invalidate this bucket later
   * without need.
   */
  isFresh(bucket: CachedBucket, head: Head | undefined): boolean {
    const { startMs, headPoints, headVersion } = bucket;
    const endMs = startMs + this.bucketMs;
    if ((head?.countBetween(startMs, endMs) ?? 0) !== headPoints) return false;
    if (headPoints === 0) return true;
    if (!head!.isUnchanged(headVersion, startMs, endMs)) return false;
    bucket.headVersion = head!.version;
    return true;
  }

  /** Start of the first cached bucket that starts at or after this time. */
  nextCachedFrom(timeMs: number): number {
    return this.#buckets[this.#indexFrom(timeMs)]?.startMs ?? Infinity;
  }

  /** Inserts buckets in order, between which none is cached. The first one may replace a cached one. */
  put(buckets: readonly CachedBucket[]): void {
    const [first] = buckets;
    if (first === undefined) return;
    const index = this.#indexFrom(first.startMs);
    const before = this.#buckets[index - 1];
    // A bucket with head points alone may lie where blocks have none.
    if (before !== undefined && before.noBlocksUntilMs > first.startMs)
      before.noBlocksUntilMs = first.startMs;
    if (this.#buckets[index]?.startMs === first.startMs)
      for (const one of this.#buckets.splice(index, 1)) this.bytes -= memoryBytesOf(one);
    // One by one, each would move all cached buckets after it.
    for (let from = 0; from < buckets.length; from += argumentsMax)
      this.#buckets.splice(index + from, 0, ...buckets.slice(from, from + argumentsMax));
    for (const one of buckets) this.bytes += memoryBytesOf(one);
  }

  /** Removes the buckets with times in [firstMs, lastMs], in the bucket or in the gap after it. */
  invalidate(firstMs: number, lastMs: number): void {
    let from = this.#indexFrom(firstMs);
    if (from > 0 && this.#buckets[from - 1]!.noBlocksUntilMs > firstMs) from--;
    let to = from;
    while (to < this.#buckets.length && this.#buckets[to]!.startMs <= lastMs) to++;
    if (to > from) for (const one of this.#buckets.splice(from, to - from)) this.bytes -= memoryBytesOf(one);
  }

  /** Index of the first cached bucket that starts at or after the time. */
  #indexFrom(timeMs: number): number {
    let [low, high] = [0, this.#buckets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#buckets[middle]!.startMs < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class BucketCache {
  /** Least recently queried series first, and of each series its least recently queried grid first. */
  readonly #grids = new Map<SeriesId, BucketGrid[]>();
  /** Of all series of a shard together. */
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = bytesMaxDefault) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the grid for such buckets of a series, and marks it as the most recently queried one. */
  gridFor(series: SeriesId, { startMs, bucketMs }: BucketQuery): BucketGrid {
    const phaseMs = startMs - Math.floor(startMs / bucketMs) * bucketMs;
    const others = this.#grids.get(series) ?? [];
    const index = others.findIndex((one) => one.bucketMs === bucketMs && one.phaseMs === phaseMs);
    const [cached] = index < 0 ? [] : others.splice(index, 1);
    const grid = cached ?? new BucketGrid(bucketMs, phaseMs);
    this.#grids.delete(series);
    this.#grids.set(series, [...others, grid]);
    if (cached === undefined) this.#bytes += grid.bytes;
    if (others.length === gridsPerSeriesMax) this.#dropGrid(series);
    while (this.#bytes > this.#bytesMax && this.#dropOldest(grid));
    return grid;
  }

  /**
   * Caches buckets of the most recently queried grid, as many as fit after dropping other grids. They are in
   * order, and none is cached between them.
   */
  put(grid: BucketGrid, buckets: readonly CachedBucket[]): void {
    const fitting: CachedBucket[] = [];
    let added = 0;
    for (const bucket of buckets) {
      added += memoryBytesOf(bucket);
      while (this.#bytes + added > this.#bytesMax && this.#dropOldest(grid));
      if (this.#bytes + added > this.#bytesMax) break;
      fitting.push(bucket);
    }
    this.#bytes -= grid.bytes;
    grid.put(fitting);
    this.#bytes += grid.bytes;
  }

  /** Call after a query: its grid, the most recently queried one, is not kept without buckets. */
  dropIfEmpty(series: SeriesId, grid: BucketGrid): void {
    if (grid.bytes > gridMemoryBytes) return;
    const others = this.#grids.get(series)!.filter((one) => one !== grid);
    if (others.length > 0) this.#grids.set(series, others);
    else this.#grids.delete(series);
    this.#bytes -= grid.bytes;
  }

  /** Call when a block with times in [firstMs, lastMs] is added or removed. */
  invalidate(series: SeriesId, firstMs: number, lastMs: number): void {
    for (const grid of this.#grids.get(series) ?? []) {
      this.#bytes -= grid.bytes;
      grid.invalidate(firstMs, lastMs);
      this.#bytes += grid.bytes;
    }
  }

  /** Returns false when `latest`, the most recently queried grid, is the only one left. */
  #dropOldest(latest: BucketGrid): boolean {
    const [[series, grids]] = this.#grids as unknown as [[SeriesId, BucketGrid[]]];
    if (grids[0] === latest) return false;
    this.#dropGrid(series);
    return true;
  }

  /** Drops the least recently queried grid of a series. */
  #dropGrid(series: SeriesId): void {
    const grids = this.#grids.get(series)!;
    this.#bytes -= grids.shift()!.bytes;
    if (grids.length === 0) this.#grids.delete(series);
  }
}

function memoryBytesOf({ summary, blockSummaries }: CachedBucket): number {
  // A block that is alone in the bucket shares its summary with the bucket.
  let others = 0;
  for (const part of blockSummaries) if (part.summary !== summary) others++;
  return summaryMemoryBytes * (1 + others);
}
