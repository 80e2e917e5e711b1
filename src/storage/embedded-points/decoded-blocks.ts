// The decoded blocks of a shard that are in memory, for repeated reads such as a refreshed trend: a cache,
// and the block that was decoded last, which is still in the memory of the kernels.
import { freeChunk } from "../../lib/free-memory.ts";
import { invariant } from "../../lib/invariant.ts";
import { LruCache } from "../../lib/lru-cache.ts";
import { SizedCache } from "../../lib/sized-cache.ts";
import type { Kernels } from "../kernels.ts";
import type { PointColumns } from "../points.ts";

/** 8 MB of full blocks. */
const cachedBlocks = 64;
/** That one read may cache, so that the cache keeps blocks of others. */
export const readBlocksMax = cachedBlocks / 2;

interface LastBlock {
  readonly id: number;
  readonly begun: number;
  readonly points: PointColumns;
  readonly isWhole: boolean;
}

/** By id. Blocks are never changed; a removed block is deleted here, because its id may be reused. */
export class DecodedBlocks {
  readonly #kernels: Kernels;
  /** The memory of a dropped block is freed at once: 4 MB of them would make V8 mark all objects. */
  readonly #cached = new SizedCache<number, PointColumns>(cachedBlocks, freeColumns);
  /** It has up to twice as many: as many as the cache. */
  readonly #readBefore = new LruCache<number, true>(readBlocksMax);
  #last: LastBlock | undefined;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  cached(id: number): PointColumns | undefined {
    return this.#cached.get(id);
  }

  /**
   * The points in the memory of the kernels, up to the first one at or after `endMs`: their arrays are valid
   * until the kernels begin another block.
   */
  last(id: number, endMs: number): PointColumns | undefined {
    const last = this.#last;
    if (last?.id !== id || last.begun !== this.#kernels.begun) return undefined;
    return last.isWhole || last.points.times.at(-1)! >= endMs ? last.points : undefined;
  }

  /** The points of a block, or the first ones. */
  setLast(id: number, points: PointColumns, isWhole: boolean): void {
    this.#last = { id, begun: this.#kernels.begun, points, isWhole };
  }

  /** After a rollback, because ids of blocks are used again. */
  forgetLast(): void {
    this.#last = undefined;
  }

  /**
   * Returns whether the block was decoded recently. Blocks enter the cache on their second read: copying
   * takes half as long as decoding, and most windows are read once.
   */
  isReadAgain(id: number): boolean {
    const isAgain = this.#readBefore.get(id) !== undefined;
    this.#readBefore.set(id, true);
    return isAgain;
  }

  /**
   * Of a block that is not cached, as the arrays of a replaced entry would be freed. The arrays must be no
   * one else's; they are empty when the cache has dropped the block.
   */
  add(id: number, points: PointColumns): void {
    invariant(this.#cached.get(id) === undefined, `block ${id} is not cached yet`);
    this.#cached.set(id, points, 1);
  }

  delete(id: number): void {
    this.#cached.delete(id);
    this.#readBefore.delete(id);
    this.#last = undefined;
  }
}

function freeColumns({ times, values }: PointColumns): void {
  freeChunk(times);
  if (values instanceof Float64Array) freeChunk(values);
}
