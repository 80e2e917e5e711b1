// The points port on ClickHouse. docs/decisions/012-points-in-clickhouse.md says why it is built this way.
import { Failure, fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { CannotOpen } from "../cannot-open.ts";
import { Kernels } from "../kernels.ts";
import type {
  AggregateColumns,
  AggregateQuery,
  OldPoints,
  OldPointsQuery,
  Point,
  PointBatch,
  PointColumns,
  PointSeries,
  PointsStats,
  PointsStore,
  ScanQuery,
  SeriesId,
} from "../points.ts";
import { AggregateCache } from "./aggregate-cache.ts";
import { AggregateReads } from "./aggregate-reads.ts";
import { ClickHouseClient, ClickHouseError, type ClickHouseSettings } from "./client.ts";
import { readOnlyTables, replicaProblems } from "./doctor.ts";
import { EmptySidesOfSeries } from "./empty-sides.ts";
import type { ClickHouseLocation } from "./location.ts";
import { NearestPoints, seriesPerStatement } from "./nearest.ts";
import { findOldPoints } from "./old-points.ts";
import { RawReads } from "./raw-reads.ts";
import { createTables } from "./schema.ts";
import { sql } from "./sql.ts";
import { TombstoneSweep } from "./tombstone-sweep.ts";
import { type Alive, groupsOf, readAlive } from "./tombstones.ts";
import { claimDatabase, ReservedVersions, type TakeVersions } from "./versions.ts";
import { WriteQueue } from "./write-queue.ts";

export interface ClickHousePointsSettings {
  readonly location: ClickHouseLocation;
  /** Number of the catalog that has the series. */
  readonly owner: number;
  /** Whether an earlier start of the installation has used its database, so that an empty one is refused. */
  readonly isUsed: boolean;
  /** The versions of all servers of a catalog; absent for the only server of a database. */
  readonly takeVersions?: TakeVersions;
  /** The wall clock: only a guess of where the newest points are. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Called when deleted points could not be removed; a later attempt follows. */
  readonly onSweepFailure: (problem: unknown) => void;
  /** Memory for results of aggregates, if not the usual amount. */
  readonly aggregateCacheBytes?: number | undefined;
  /** Points whose times and values a statement holds in memory, if not the usual number. */
  readonly pointsInArrays?: number;
}

const aggregateCacheBytesDefault = 16 * 2 ** 20;

/**
 * Creates the tables if they do not exist. Throws `CannotOpen` for a database that does not respond, refuses
 * the user, belongs to another catalog, or has lost its content.
 */
export async function openClickHousePoints(settings: ClickHousePointsSettings): Promise<PointsStore> {
  const client = new ClickHouseClient(settings.location);
  try {
    await createOnAll(client);
    const { owner, isUsed } = settings;
    await claimDatabase({ client, owner, isUsed });
    const takeVersions = settings.takeVersions ?? new ReservedVersions({ client, owner }).take;
    const { isOrderedByFinal, settings: ofDifferences } = await readVersion(client);
    const { nowMs, monotonicMs, onSweepFailure: onFailure } = settings;
    const { pointsInArrays = limits.clickHousePointsInArraysMax } = settings;
    const { aggregateCacheBytes = aggregateCacheBytesDefault } = settings;
    const sweep = new TombstoneSweep({ client, monotonicMs, onFailure });
    const nearest = new NearestPoints(client, nowMs);
    const emptySides = new EmptySidesOfSeries(monotonicMs);
    const aggregates = new AggregateReads({
      ...{ client, nearest, emptySides, pointsInArrays, settings: ofDifferences },
      cache: new AggregateCache(client, aggregateCacheBytes),
      kernels: new Kernels(),
    });
    const raw = new RawReads({ client, nearest, isOrderedByFinal });
    return new ClickHousePoints({ client, takeVersions, sweep, nearest, raw, aggregates });
  } catch (problem) {
    client.close();
    const isRefused = problem instanceof Failure || problem instanceof ClickHouseError;
    throw isRefused ? new CannotOpen(`${client.name}: ${problem.message}`, "away") : problem;
  }
}

/** One replica after another creates its tables; one that is away has them from an earlier start. */
async function createOnAll(client: ClickHouseClient): Promise<void> {
  const replicas = client.replicas;
  const away: unknown[] = [];
  try {
    for (const replica of replicas)
      await createTables(replica).catch((problem: unknown) => {
        if (!(problem instanceof Failure)) throw problem;
        away.push(problem);
      });
    if (away.length === replicas.length) throw away[0];
  } finally {
    for (const replica of replicas) replica.close();
  }
}

/** Differences between the versions of ClickHouse. */
async function readVersion(client: ClickHouseClient) {
  const rows = await client.query(
    sql`SELECT toUInt64(splitByChar('.', version())[1]) AS major, (SELECT count() FROM system.settings
      WHERE name = 'allow_deprecated_error_prone_window_functions') AS refuses_differences`,
  );
  const refusesDifferences = rows.numbers("refuses_differences")[0] === 1;
  const settings: ClickHouseSettings = refusesDifferences
    ? { allow_deprecated_error_prone_window_functions: 1 }
    : {};
  return { isOrderedByFinal: rows.numbers("major")[0]! < 20, settings };
}

interface Parts {
  readonly client: ClickHouseClient;
  readonly takeVersions: TakeVersions;
  readonly sweep: TombstoneSweep;
  readonly nearest: NearestPoints;
  readonly raw: RawReads;
  readonly aggregates: AggregateReads;
}

const everything: TimeRange = { startMs: -Infinity, endMs: Infinity };

class ClickHousePoints implements PointsStore {
  /** The cost of a statement is that of some ten thousand points. */
  readonly scanPoints = 100_000;
  readonly #parts: Parts;
  readonly #client: ClickHouseClient;
  readonly #writes: WriteQueue;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#client = parts.client;
    this.#writes = new WriteQueue(parts.client, parts.takeVersions);
  }

  append(batch: PointBatch): Promise<void> {
    return this.#writes.append(batch);
  }

  scan(query: ScanQuery): Promise<PointColumns> {
    return this.#parts.raw.scan(query);
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return this.#parts.aggregates.read(query);
  }

  async latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    const found: (Point | undefined)[] = [];
    for (let from = 0; from < series.length; from += seriesPerStatement) {
      const some = series.slice(from, from + seriesPerStatement);
      const ids = [...new Set(some.map((one) => one.series))];
      const find = (alive: Alive, ofSeries = some) =>
        this.#parts.nearest.latest({ series: ofSeries, alive, beforeMs });
      const points = await readAlive(this.#client, ids, find, async (tombstonesOf) => {
        const parts: (Point | undefined)[] = [];
        for (const { items, alive } of groupsOf(some, (one) => tombstonesOf(one.series)))
          parts.push(...(await find(alive, items)));
        return parts;
      });
      found.push(...points);
    }
    return found;
  }

  delete(series: SeriesId, range: TimeRange = everything): Promise<void> {
    return this.#writes.delete({ series, ...range });
  }

  oldPoints(series: readonly OldPointsQuery[]): Promise<OldPoints[]> {
    return findOldPoints(this.#client, series);
  }

  async stats(): Promise<PointsStats> {
    const [readOnly, rows, away] = await Promise.all([
      readOnlyTables(this.#client),
      this.#client.query(
        sql`SELECT sum(rows) AS points, count() AS blocks, sum(bytes_on_disk) AS bytes FROM system.parts
          WHERE database = currentDatabase() AND table = 'points' AND active`,
      ),
      replicaProblems(this.#client),
    ]);
    const { hosts, quorum = 1 } = this.#client.location;
    if (hosts.length - away.length < quorum)
      throw fail("points-away", { problem: `too few replicas; ${away.join("; ")}` });
    if (hosts.length === 1 && readOnly.length > 0)
      throw fail("points-away", { problem: `read-only: ${readOnly.join(", ")}` });
    const one = (name: string) => rows.numbers(name)[0] ?? 0;
    return {
      points: one("points"),
      blocks: one("blocks"),
      bytesOnDisk: one("bytes"),
      journalBytes: 0,
      quarantined: [],
      ...(away.length > 0 && { away }),
    };
  }

  async close(): Promise<void> {
    await this.#parts.sweep.stop();
    await this.#writes.close();
    this.#client.close();
  }
}
