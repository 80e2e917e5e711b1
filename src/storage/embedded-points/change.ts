// A change of the store as it is journaled and applied: points of one request, or one erasure.
import type { TimeRange } from "../../lib/time.ts";
import type { PointBatch, SeriesId } from "../points.ts";

export type Change =
  | { readonly kind: "append"; readonly batch: PointBatch }
  | { readonly kind: "erase"; readonly series: SeriesId; readonly range?: TimeRange | undefined };

/** Bytes that the points of a change occupy in memory, about. */
export function bytesOf(change: Change): number {
  if (change.kind === "erase") return 64;
  const { numbers, strings } = change.batch;
  let bytes = 64 + 28 * ((numbers?.series.length ?? 0) + (strings?.series.length ?? 0));
  bytes += 16 * (numbers?.times.length ?? 0);
  for (const value of strings?.values ?? []) bytes += 32 + 2 * value.length;
  return bytes;
}

/**
 * The shard a series lives in, for ever (FORMAT.md, "Shards"): Fibonacci hashing of both halves of the id,
 * because ids are multiples of 4096 more often than not.
 */
export function shardOf(series: SeriesId, shards: number): number {
  const low = series >>> 0;
  const high = Math.floor(series / 2 ** 32) >>> 0;
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 0;
  return Math.floor((mixed / 2 ** 32) * shards);
}

/** The shards that a change concerns, in any order. */
export function shardsOf(change: Change, shards: number): readonly number[] {
  if (change.kind === "erase") return [shardOf(change.series, shards)];
  const touched: number[] = [];
  for (const runs of [change.batch.numbers, change.batch.strings]) {
    const count = runs?.series.length ?? 0;
    for (let run = 0; run < count && touched.length < shards; run++) {
      const shard = shardOf(runs!.series[run]!, shards);
      if (!touched.includes(shard)) touched.push(shard);
    }
  }
  return touched;
}
