// The embedded points store as a thread beside its main thread uses it. Shards are read without the main
// thread; it makes all changes.
//
// A read sees every change whose write has resolved before: each call to a shard says how many records must
// have arrived there.
import { LruCache } from "../../lib/lru-cache.ts";
import { WorkerRpc } from "../../lib/worker-rpc.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  Point,
  PointColumns,
  PointSeries,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { shardOf } from "../shard-of.ts";
import { isCacheable } from "./latest-point-cache.ts";
import { SeriesVersions } from "./series-versions.ts";
import { ShardCaller } from "./shard-calls.ts";
import { type CallReply, type ConnectedCalls, cellOf } from "./shard-messages.ts";
import type { ShardConnection } from "./shard-thread.ts";

/** How a thread reaches the store; its ports move to that thread. */
export interface PointsConnection {
  readonly scanPoints: number;
  readonly shards: readonly ShardConnection[];
  /** Of `SeriesVersions`. */
  readonly versions: Int32Array;
}

/** The functions of the main thread that a connected store calls. */
export interface PointsOwner extends Pick<PointsStore, "append" | "delete" | "oldPoints" | "stats"> {
  /** Sends the records that wait to the shard; there is no reply. */
  flush(shard: number): void;
}

/** The latest points that a thread has in memory. */
const latestMax = 50_000;

interface Known {
  readonly point: Point;
  readonly version: number;
}

export class ConnectedPoints implements PointsStore {
  readonly scanPoints: number;
  readonly #owner: PointsOwner;
  readonly #shards: readonly ShardCaller[];
  readonly #ports: readonly ShardConnection["port"][];
  readonly #versions: SeriesVersions;
  readonly #latest = new LruCache<SeriesId, Known>(latestMax);

  constructor({ scanPoints, shards, versions }: PointsConnection, owner: PointsOwner) {
    this.scanPoints = scanPoints;
    this.#owner = owner;
    this.#ports = shards.map(({ port }) => port);
    this.#shards = shards.map((one, shard) => callerOf(one, shard, owner));
    this.#versions = new SeriesVersions(versions);
  }

  append: PointsStore["append"] = (batch) => this.#owner.append(batch);
  delete: PointsStore["delete"] = (series, range) => this.#owner.delete(series, range);
  oldPoints: PointsStore["oldPoints"] = (series, blocksMax) => this.#owner.oldPoints(series, blocksMax);
  stats: PointsStore["stats"] = () => this.#owner.stats();

  scan(query: ScanQuery): Promise<PointColumns> {
    return this.#shardOf(query.series).call("scan", query);
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return this.#shardOf(query.series).call("aggregate", query);
  }

  async latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    const found: (Point | undefined)[] = [];
    const missing: number[] = [];
    for (const [index, { series: id }] of series.entries()) {
      const known = this.#latest.get(id);
      if (known?.version === this.#versions.of(id) && known.point.timeMs < beforeMs)
        found[index] = known.point;
      else missing.push(index);
    }
    if (missing.length > 0) await this.#lookUp(series, beforeMs, { missing, found });
    found.length = series.length;
    return found;
  }

  async close(): Promise<void> {
    for (const port of this.#ports) port.close();
  }

  async #lookUp(
    series: readonly PointSeries[],
    beforeMs: number,
    { missing, found }: { readonly missing: readonly number[]; readonly found: (Point | undefined)[] },
  ): Promise<void> {
    const byShard = Map.groupBy(missing, (index) => shardOf(series[index]!.series, this.#shards.length));
    await Promise.all(
      [...byShard].map(async ([shard, indexes]) => {
        const some = indexes.map((index) => series[index]!);
        const versions = some.map((one) => this.#versions.of(one.series));
        const results = await this.#shards[shard]!.call("latest", { series: some, beforeMs });
        for (const [i, index] of indexes.entries()) {
          const result = results[i];
          found[index] = result?.point;
          if (result?.isNewest && isCacheable(result.point.value))
            this.#latest.set(some[i]!.series, { point: result.point, version: versions[i]! });
        }
      }),
    );
  }

  #shardOf(series: SeriesId): ShardCaller {
    return this.#shards[shardOf(series, this.#shards.length)]!;
  }
}

function callerOf({ port, cells }: ShardConnection, shard: number, owner: PointsOwner): ShardCaller {
  const rpc = new WorkerRpc<ConnectedCalls, CallReply>(port, "its thread");
  return new ShardCaller({
    shard,
    rpc,
    post(calls) {
      const after = Atomics.load(cells, cellOf.applied);
      if (after !== Atomics.load(cells, cellOf.sent)) owner.flush(shard);
      Atomics.add(cells, cellOf.calls, calls.length);
      rpc.post({ calls, after });
    },
  });
}
