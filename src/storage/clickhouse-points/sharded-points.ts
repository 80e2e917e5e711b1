// The points port on several shards of ClickHouse: each series has its points in one of them.
//
// A request over several shards is all or nothing in each shard, not over all: after a failure some shards
// may have their part. A repeated request is harmless.
import { Failure, fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  OldPoints,
  OldPointsQuery,
  Point,
  PointBatch,
  PointColumns,
  PointRuns,
  PointSeries,
  PointsStats,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { shardOf } from "../shard-of.ts";
import { type ClickHousePointsSettings, openClickHousePoints } from "./clickhouse-points.ts";
import type { ClickHouseShards } from "./location.ts";
import { ownerOfShard } from "./versions.ts";

/** Opens the store of each shard. Throws `CannotOpen` as `openClickHousePoints` does. */
export async function openClickHouseShards(
  shards: ClickHouseShards,
  { owner, ...settings }: Omit<ClickHousePointsSettings, "location">,
): Promise<PointsStore> {
  const opening = shards.map((location, index) =>
    openClickHousePoints({ ...settings, location, owner: ownerOfShard(owner, index, shards.length) }),
  );
  const results = await Promise.allSettled(opening);
  const stores = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  if (stores.length < shards.length) {
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all(opening);
  }
  return stores.length === 1 ? stores[0]! : new ShardedPoints(stores);
}

/** Routes each series to its store. */
class ShardedPoints implements PointsStore {
  readonly #stores: readonly PointsStore[];

  constructor(stores: readonly PointsStore[]) {
    this.#stores = stores;
  }

  get scanPoints(): number {
    return this.#stores[0]!.scanPoints;
  }

  async append(batch: PointBatch): Promise<void> {
    const parts = partsOf(batch, this.#stores.length);
    await allSettled(this.#stores.map((store, shard) => parts[shard] && store.append(parts[shard])));
  }

  scan(query: ScanQuery): Promise<PointColumns> {
    return this.#storeOf(query.series).scan(query);
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return this.#storeOf(query.series).aggregate(query);
  }

  latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    return this.#ofEach(series, (store, own) => store.latest(own, beforeMs));
  }

  delete(series: SeriesId, range?: TimeRange): Promise<void> {
    return this.#storeOf(series).delete(series, range);
  }

  oldPoints(series: readonly OldPointsQuery[], blocksMax: number): Promise<OldPoints[]> {
    return this.#ofEach(series, (store, own) => store.oldPoints(own, blocksMax));
  }

  async stats(): Promise<PointsStats> {
    const all = await Promise.all(this.#stores.map((store, shard) => this.#statsOf(store, shard)));
    const sum = (figure: (one: PointsStats) => number) => all.reduce((total, one) => total + figure(one), 0);
    const away = all.flatMap((one, shard) =>
      (one.away ?? []).map((replica) => this.#ofShard(shard, replica)),
    );
    return {
      points: sum((one) => one.points),
      blocks: sum((one) => one.blocks),
      bytesOnDisk: sum((one) => one.bytesOnDisk),
      journalBytes: sum((one) => one.journalBytes),
      quarantined: all.flatMap((one) => one.quarantined),
      ...(away.length > 0 && { away }),
    };
  }

  async close(): Promise<void> {
    await allSettled(this.#stores.map((store) => store.close()));
  }

  /** Names the shard in a refusal. */
  async #statsOf(store: PointsStore, shard: number): Promise<PointsStats> {
    try {
      return await store.stats();
    } catch (error) {
      if (!(error instanceof Failure) || error.failure !== "points-away") throw error;
      const { problem } = error.details as { readonly problem: string };
      throw fail("points-away", { problem: this.#ofShard(shard, problem) });
    }
  }

  readonly #ofShard = (shard: number, problem: string) =>
    `shard ${shard + 1} of ${this.#stores.length}: ${problem}`;

  #storeOf(series: SeriesId): PointsStore {
    return this.#stores[shardOf(series, this.#stores.length)]!;
  }

  /**
   * Calls the store of each series once, with all of its series; returns the results in the order of
   * `series`.
   */
  async #ofEach<Item extends { readonly series: SeriesId }, Result>(
    series: readonly Item[],
    read: (store: PointsStore, own: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<Result[]> {
    const places = Map.groupBy(series.keys(), (index) => shardOf(series[index]!.series, this.#stores.length));
    const results = new Array<Result>(series.length);
    const reads = [...places].map(async ([shard, indexes]) => {
      const found = await read(
        this.#stores[shard]!,
        indexes.map((index) => series[index]!),
      );
      for (const [at, index] of indexes.entries()) results[index] = found[at]!;
    });
    await Promise.all(reads);
    return results;
  }
}

/** Waits for all, because they use the arrays of the batch until then; throws the first failure. */
async function allSettled(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** The part of each shard; undefined for a shard without a point. */
function partsOf({ numbers, strings }: PointBatch, shards: number): (PointBatch | undefined)[] {
  const ofNumbers = numbers && runsByShard(numbers, shards, numbersOf);
  const ofStrings =
    strings && runsByShard(strings, shards, (all, runs) => runs.flatMap((run) => cut(all, run)));
  return Array.from({ length: shards }, (_, shard) => {
    const [own, ownStrings] = [ofNumbers?.get(shard), ofStrings?.get(shard)];
    if (own === undefined && ownStrings === undefined) return undefined;
    return { ...(own && { numbers: own }), ...(ownStrings && { strings: ownStrings }) };
  });
}

/** The points from index `from` up to `to`. */
interface Run {
  readonly series: SeriesId;
  readonly from: number;
  readonly to: number;
}

function runsByShard<Values>(
  all: PointRuns<Values>,
  shards: number,
  valuesOf: (values: Values, runs: readonly Run[]) => Values,
): ReadonlyMap<number, PointRuns<Values>> {
  const { series, ends, times, values } = all;
  const runs = Array.from(
    series,
    (id, at): Run => ({ series: id, from: at === 0 ? 0 : ends[at - 1]!, to: ends[at]! }),
  );
  const parts = new Map<number, PointRuns<Values>>();
  for (const [shard, own] of Map.groupBy(runs, (run) => shardOf(run.series, shards))) {
    let end = 0;
    parts.set(shard, {
      series: Float64Array.from(own, (run) => run.series),
      ends: Uint32Array.from(own, ({ from, to }) => (end += to - from)),
      times: numbersOf(times, own),
      values: valuesOf(values, own),
    });
  }
  return parts;
}

function numbersOf(all: Float64Array, runs: readonly Run[]): Float64Array {
  const numbers = new Float64Array(runs.reduce((sum, { from, to }) => sum + to - from, 0));
  let at = 0;
  for (const { from, to } of runs) {
    numbers.set(all.subarray(from, to), at);
    at += to - from;
  }
  return numbers;
}

const cut = (all: readonly string[], { from, to }: Run) => all.slice(from, to);
