// The decoded blocks of a shard that are in memory, for repeated reads such as a refreshed trend: a cache,
// and the block that was decoded last, which is still in the memory of the kernels.
import { LruCache } from "../../lib/lru-cache.ts";
import type { Kernels } from "../kernels.ts";
import type { PointColumns } from "../points.ts";

/** Decoded blocks in the cache, which may have twice as many: 4 MB of full blocks. */
export const cachedBlocks = 32;

/** By id. Blocks are never changed; a removed block is deleted here, because its id may be reused. */
export class DecodedBlocks {
  readonly #kernels: Kernels;
  readonly #cached = new LruCache<number, PointColumns>(cachedBlocks);
  readonly #readBefore = new LruCache<number, true>(cachedBlocks);
  #last: { readonly id: number; readonly begun: number; readonly points: PointColumns } | undefined;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  cached(id: number): PointColumns | undefined {
    return this.#cached.get(id);
  }

  /** The block in the memory of the kernels: its arrays are valid until these begin another one. */
  last(id: number): PointColumns | undefined {
    const last = this.#last;
    return last?.id === id && last.begun === this.#kernels.begun ? last.points : undefined;
  }

  setLast(id: number, points: PointColumns): void {
    this.#last = { id, begun: this.#kernels.begun, points };
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

  /** The arrays must be no one else's. */
  add(id: number, points: PointColumns): void {
    this.#cached.set(id, points);
  }

  delete(id: number): void {
    this.#cached.delete(id);
    this.#readBefore.delete(id);
    this.#last = undefined;
  }
}
