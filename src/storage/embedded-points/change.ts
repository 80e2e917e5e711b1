// A change of the store as it is journaled and applied: points of one request, or one erasure.
import type { PointBatch, PointRuns, Range, SeriesId } from "../points.ts";

export type Change =
  | { readonly kind: "append"; readonly batch: PointBatch }
  | { readonly kind: "erase"; readonly series: SeriesId; readonly range?: Range | undefined };

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

/** The part of a change that concerns each shard; `undefined` for a shard it does not touch. */
export function divide(change: Change, shards: number): (Change | undefined)[] {
  const parts = new Array<Change | undefined>(shards).fill(undefined);
  if (change.kind === "erase") {
    parts[shardOf(change.series, shards)] = change;
    return parts;
  }
  const numbers = divideRuns(change.batch.numbers, shards, (count) => new Float64Array(count));
  const strings = divideRuns<readonly string[]>(change.batch.strings, shards, (count) => new Array(count));
  for (let shard = 0; shard < shards; shard++) {
    const [ofNumbers, ofStrings] = [numbers[shard], strings[shard]];
    if (ofNumbers === undefined && ofStrings === undefined) continue;
    const batch = { ...(ofNumbers && { numbers: ofNumbers }), ...(ofStrings && { strings: ofStrings }) };
    parts[shard] = { kind: "append", batch };
  }
  return parts;
}

function divideRuns<Values extends Float64Array | readonly string[]>(
  runs: PointRuns<Values> | undefined,
  shards: number,
  allocate: (count: number) => Values,
): (PointRuns<Values> | undefined)[] {
  if (runs === undefined || runs.times.length === 0) return [];
  const owners = Uint8Array.from(runs.series, (series) => shardOf(series, shards));
  if (owners.every((owner) => owner === owners[0])) {
    const alone: (PointRuns<Values> | undefined)[] = [];
    alone[owners[0]!] = runs;
    return alone;
  }
  return Array.from({ length: shards }, (_, shard) => pickRuns(runs, owners, shard, allocate));
}

function pickRuns<Values extends Float64Array | readonly string[]>(
  runs: PointRuns<Values>,
  owners: Uint8Array,
  shard: number,
  allocate: (count: number) => Values,
): PointRuns<Values> | undefined {
  let [runCount, pointCount] = [0, 0];
  for (let run = 0; run < owners.length; run++) {
    if (owners[run] !== shard) continue;
    runCount++;
    pointCount += runs.ends[run]! - (run === 0 ? 0 : runs.ends[run - 1]!);
  }
  if (pointCount === 0) return undefined;
  const picked = {
    series: new Float64Array(runCount),
    ends: new Uint32Array(runCount),
    times: new Float64Array(pointCount),
  };
  const values = allocate(pointCount);
  const [target, source] = [values as unknown[], runs.values as readonly unknown[]];
  let [at, to] = [0, 0];
  for (let run = 0; run < owners.length; run++) {
    if (owners[run] !== shard) continue;
    for (let i = run === 0 ? 0 : runs.ends[run - 1]!; i < runs.ends[run]!; i++, to++) {
      picked.times[to] = runs.times[i]!;
      target[to] = source[i];
    }
    picked.series[at] = runs.series[run]!;
    picked.ends[at++] = to;
  }
  return { ...picked, values };
}
