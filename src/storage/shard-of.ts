// The shard that has the points of a series.
import type { SeriesId } from "./points.ts";

/**
 * Fibonacci hashing of both halves of the id, because most ids are multiples of 4096. It never changes:
 * stored points are found by it (embedded-points/FORMAT.md, "Shards").
 */
export function shardOf(series: SeriesId, shards: number): number {
  const low = series >>> 0;
  const high = Math.floor(series / 2 ** 32) >>> 0;
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 0;
  return Math.floor((mixed / 2 ** 32) * shards);
}
