// A change of the store, as it is journaled and applied: the points of one request, or one deletion.
import type { TimeRange } from "../../lib/time.ts";
import type { PointBatch, SeriesId } from "../points.ts";
import { shardOf } from "../shard-of.ts";

export type Change =
  | { readonly kind: "append"; readonly batch: PointBatch }
  | { readonly kind: "delete"; readonly series: SeriesId; readonly range?: TimeRange | undefined };

/** Estimates the memory that a change occupies until all shards have applied it. */
export function memoryBytesOf(change: Change): number {
  if (change.kind === "delete") return 64;
  const { numbers, strings } = change.batch;
  let bytes = 64 + 28 * ((numbers?.series.length ?? 0) + (strings?.series.length ?? 0));
  bytes += 16 * (numbers?.times.length ?? 0);
  for (const value of strings?.values ?? []) bytes += 32 + 2 * value.length;
  return bytes;
}

/** The shards with a series of the change, in any order. */
export function shardsOf(change: Change, shards: number): readonly number[] {
  if (change.kind === "delete") return [shardOf(change.series, shards)];
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
