// Caches the newest point of series on the main thread, because a call to a shard costs more than all other
// work of a read of the latest point.
//
// Bound: an LRU cache of series that were read; longer strings are not cached. Invalidation: `update` sees
// every change when it is stored, before the shards get it, and replaces or removes the entry. A lookup in a
// shard that overlaps a change of its series is not cached.
import { LruCache } from "../../lib/lru-cache.ts";
import type { Point, PointRuns, SeriesId } from "../points.ts";
import { shardOf } from "../shard-of.ts";
import type { Change } from "./change.ts";

/** The cache has at most twice as many: about 10 MB. */
const seriesMax = 50_000;
const stringLengthMax = 256;
/** Several series share a mark. */
const marks = 2 ** 16;

export class LatestPointCache {
  readonly #points = new LruCache<SeriesId, Point>(seriesMax);
  /** The token of the running lookup of each series. A change of the series removes it. */
  readonly #lookups = new Map<SeriesId, object>();
  /**
   * Series that were ever read are marked: for others, a write skips the lookup, which takes far longer.
   * Undefined without a read so far: bulk loads skip everything.
   */
  #wasRead: Uint8Array | undefined;

  /** The last point before `beforeMs`; undefined when it is not cached. */
  get(series: SeriesId, beforeMs: number): Point | undefined {
    const newest = this.#points.get(series);
    return newest !== undefined && newest.timeMs < beforeMs ? newest : undefined;
  }

  /** Call before a lookup in a shard, and pass the token to `finishLookup`. */
  startLookup(series: SeriesId): object {
    const token = {};
    this.#lookups.set(series, token);
    this.#wasRead ??= new Uint8Array(marks);
    this.#wasRead[shardOf(series, marks)] = 1;
    return token;
  }

  /** Caches the newest point of the series, unless the series changed since the lookup started. */
  finishLookup(series: SeriesId, token: object, newest: Point | undefined): void {
    if (this.#lookups.get(series) !== token) return;
    this.#lookups.delete(series);
    if (newest !== undefined && isCacheable(newest.value)) this.#points.set(series, newest);
  }

  /** Call for every change, in order, before the shards get it. */
  update(change: Change): void {
    if (this.#wasRead === undefined) return;
    if (change.kind === "delete") {
      this.#lookups.delete(change.series);
      this.#points.delete(change.series);
    } else {
      this.#updateFrom(change.batch.numbers, this.#wasRead);
      this.#updateFrom(change.batch.strings, this.#wasRead);
    }
  }

  #updateFrom(runs: PointRuns<Float64Array | readonly string[]> | undefined, wasRead: Uint8Array): void {
    if (runs === undefined) return;
    const { series, ends, times, values } = runs;
    for (let run = 0, from = 0; run < series.length; from = ends[run++]!) {
      const id = series[run]!;
      if (wasRead[shardOf(id, marks)] === 0) continue;
      if (this.#lookups.size > 0) this.#lookups.delete(id);
      const cached = this.#points.get(id);
      if (cached === undefined) continue;
      let newest = -1;
      let newestMs = cached.timeMs;
      for (let index = from; index < ends[run]!; index += 1)
        if (times[index]! >= newestMs) {
          newestMs = times[index]!;
          newest = index;
        }
      if (newest < 0) continue;
      const value = values[newest]!;
      if (isCacheable(value)) this.#points.set(id, { timeMs: newestMs, value });
      else this.#points.delete(id);
    }
  }
}

/** A long string is not cached. */
export const isCacheable = (value: number | string): boolean =>
  typeof value === "number" || value.length <= stringLengthMax;
