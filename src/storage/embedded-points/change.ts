// A change of the store as it is journaled and applied: points of one request, or one erasure.
import type { TimeRange } from "../../lib/time.ts";
import type { PointBatch, PointRuns, SeriesId } from "../points.ts";

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
  const owners = new Uint8Array(runs.series.length);
  const sizes = Array.from({ length: shards }, () => ({ runs: 0, points: 0 }));
  for (let run = 0; run < owners.length; run++) {
    const owner = shardOf(runs.series[run]!, shards);
    owners[run] = owner;
    sizes[owner]!.runs++;
    sizes[owner]!.points += runs.ends[run]! - startOf(runs, run);
  }
  const isAlone = sizes[owners[0]!]!.runs === owners.length;
  return sizes.map((size, shard) => {
    if (size.points === 0) return undefined;
    return isAlone ? runs : pickRuns(runs, (run) => owners[run] === shard, { ...size, allocate });
  });
}

const startOf = (runs: PointRuns<unknown>, run: number): number => (run === 0 ? 0 : runs.ends[run - 1]!);

function pickRuns<Values extends Float64Array | readonly string[]>(
  from: PointRuns<Values>,
  isWanted: (run: number) => boolean,
  size: { runs: number; points: number; allocate: (count: number) => Values },
): PointRuns<Values> {
  const series = new Float64Array(size.runs);
  const ends = new Uint32Array(size.runs);
  const times = new Float64Array(size.points);
  const values = size.allocate(size.points);
  let [at, to] = [0, 0];
  for (let run = 0; run < from.series.length; run++) {
    if (!isWanted(run)) continue;
    const [start, end] = [startOf(from, run), from.ends[run]!];
    copy(from.times, { start, end, target: times, to });
    if (from.values instanceof Float64Array) {
      copy(from.values, { start, end, target: values as Float64Array, to });
    } else {
      for (let i = start; i < end; i++) (values as string[])[to + i - start] = from.values[i]!;
    }
    to += end - start;
    series[at] = from.series[run]!;
    ends[at++] = to;
  }
  return { series, ends, times, values };
}

/** A loop, because runs are often of one point, which `set` with a view of it would be slow at. */
function copy(
  source: Float64Array,
  { start, end, target, to }: { start: number; end: number; target: Float64Array; to: number },
): void {
  for (let i = start; i < end; i++) target[to + i - start] = source[i]!;
}
