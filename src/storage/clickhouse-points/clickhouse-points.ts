// The points port on ClickHouse. docs/decisions/012-points-in-clickhouse.md says why it is built this way.
import { Failure, fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { Aggregation, type NumberPoint } from "../aggregation.ts";
import { CannotOpen } from "../cannot-open.ts";
import { concatRanges, kindOf, noPointsOf } from "../point-columns.ts";
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
import { ClickHouseClient, ClickHouseError } from "./client.ts";
import { readOnlyTables, replicaProblems } from "./doctor.ts";
import { findLatest, latestSeriesMax } from "./latest.ts";
import type { ClickHouseLocation } from "./location.ts";
import { findOldPoints } from "./old-points.ts";
import { createTables } from "./schema.ts";
import { noSql, type Sql, sql } from "./sql.ts";
import { summariesIn, summaryStatement } from "./summaries.ts";
import { TombstoneSweep } from "./tombstone-sweep.ts";
import {
  type Alive,
  aliveOf,
  boundMs,
  readAlive,
  readTombstones,
  requireAlive,
  type Tombstone,
} from "./tombstones.ts";
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
  /** Other bounds of reads than the usual ones. */
  readonly bounds?: ReadBounds;
}

export interface ReadBounds {
  /** An aggregate over at most these points reads them; over more, ClickHouse summarises them. */
  readonly pointsRead: number;
  /** Points that one statement summarises. */
  readonly pointsSummarised: number;
}

const usualBounds: ReadBounds = {
  pointsRead: limits.clickHousePointsReadMax,
  pointsSummarised: limits.clickHousePointsSummarisedMax,
};

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
    const rows = await client.query(sql`SELECT toUInt64(splitByChar('.', version())[1]) AS major`);
    const isOrderedByFinal = rows.numbers("major")[0]! < 20;
    const { nowMs, monotonicMs, onSweepFailure: onFailure, bounds = usualBounds } = settings;
    const sweep = new TombstoneSweep({ client, monotonicMs, onFailure });
    return new ClickHousePoints({ client, takeVersions, sweep, nowMs, bounds, isOrderedByFinal });
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

interface Parts {
  readonly client: ClickHouseClient;
  readonly takeVersions: TakeVersions;
  readonly sweep: TombstoneSweep;
  readonly nowMs: () => number;
  readonly bounds: ReadBounds;
  /**
   * Until version 20, FINAL returns rows in the order of the key and reads no more than LIMIT needs, while
   * ORDER BY reads all. Later versions need ORDER BY, and stop at LIMIT too.
   */
  readonly isOrderedByFinal: boolean;
}

const everything: TimeRange = { startMs: -Infinity, endMs: Infinity };
/** One thread reads the rows of one series in order. */
const inOrder = { max_threads: 1 };

class ClickHousePoints implements PointsStore {
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
    return readAlive(this.#client, [query.series], (alive) => this.#scan(query, alive));
  }

  aggregate(query: AggregateQuery): Promise<AggregateColumns> {
    return readAlive(this.#client, [query.series], (alive) => this.#aggregate(query, alive));
  }

  async latest(series: readonly PointSeries[], beforeMs: number): Promise<(Point | undefined)[]> {
    const found: (Point | undefined)[] = [];
    for (let from = 0; from < series.length; from += latestSeriesMax) {
      const some = series.slice(from, from + latestSeriesMax);
      const ids = [...new Set(some.map((one) => one.series))];
      const find = (alive: Alive, ofSeries = some) =>
        findLatest(this.#client, { series: ofSeries, alive, beforeMs, nowMs: this.#parts.nowMs() });
      const points = await readAlive(this.#client, ids, find, async (tombstones) => {
        const parts: (Point | undefined)[] = [];
        for (const group of groupsOf(some, tombstones))
          parts.push(...(await find(group.alive, group.series)));
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

  async #scan(query: ScanQuery, alive: Alive): Promise<PointColumns> {
    const { series, isString, startMs, endMs, limit, includeOutside = false } = query;
    const before = includeOutside ? await this.#lastBefore(query, startMs, alive) : undefined;
    const found: PointColumns[] = before === undefined ? [] : [columnsOf(before)];
    const read = async (range: TimeRange, most: number) => {
      if (most > 0) found.push(await this.#read({ series, isString, alive, ...range }, most));
    };
    await read({ startMs, endMs }, limit - found.length);
    const count = found.reduce((sum, { times }) => sum + times.length, 0);
    if (includeOutside) await read({ startMs: endMs, endMs: Infinity }, Math.min(1, limit - count));
    const ranges = found.map((points) => ({ points, from: 0, to: points.times.length }));
    return concatRanges(ranges, kindOf(isString));
  }

  async #aggregate(query: AggregateQuery, alive: Alive): Promise<AggregateColumns> {
    const { series, startMs, endMs, bucketMs, limit } = query;
    const target = { series, isString: false };
    const spanOf = (fromMs: number, spanMs: number) => {
      return { ...target, alive, startMs: fromMs, endMs: Math.min(endMs, fromMs + spanMs) };
    };
    let spanMs = limit * bucketMs;
    let span = spanOf(startMs, spanMs);
    const [before, first, after] = await Promise.all([
      this.#lastBefore(target, startMs, alive),
      this.#firstOf(span),
      this.#read({ ...target, alive, startMs: endMs, endMs: Infinity }, 1),
    ]);
    const aggregation = new Aggregation(query, before as NumberPoint | undefined);
    await this.#aggregateSpan(aggregation, query, { span, first });
    while (span.endMs < endMs && !aggregation.isFull) {
      spanMs *= limits.clickHouseSpanGrowth;
      span = spanOf(span.endMs, spanMs);
      await this.#aggregateSpan(aggregation, query, { span, first: await this.#firstOf(span) });
    }
    return aggregation.finish(pointsIn(after)[0] as NumberPoint | undefined);
  }

  async #lastBefore(series: PointSeries, beforeMs: number, alive: Alive): Promise<Point | undefined> {
    // Without points before, this saves the search in ever longer ranges.
    const { times } = await this.#read({ ...series, alive, startMs: -Infinity, endMs: beforeMs }, 1);
    if (times.length === 0) return undefined;
    const nowMs = this.#parts.nowMs();
    const [last] = await findLatest(this.#client, { series: [series], beforeMs, alive, nowMs });
    return last;
  }

  /** One more than the points that an aggregate reads at most, if there are as many. */
  #firstOf(span: Reading): Promise<PointColumns> {
    return this.#read(span, this.#parts.bounds.pointsRead + 1);
  }

  /** Few points are read, of more the summaries; a statement summarises a bounded number of points. */
  async #aggregateSpan(
    aggregation: Aggregation,
    query: AggregateQuery,
    { span, first: { times, values } }: Span,
  ): Promise<void> {
    const { pointsRead, pointsSummarised } = this.#parts.bounds;
    if (times.length <= pointsRead) {
      aggregation.addPoints(times, values as Float64Array, 0, times.length);
      return;
    }
    const alive = aliveOf(await readTombstones(this.#client, [query.series]));
    const rows = await this.#client.query(
      sql`SELECT count() AS n, min(t) AS first_t, max(t) AS last_t FROM points WHERE ${rangeOf(span)}`,
    );
    const [count, firstMs, lastMs] = ["n", "first_t", "last_t"].map((name) => rows.numbers(name)[0] ?? 0);
    const statements = Math.ceil(count! / pointsSummarised);
    const stepMs = Math.ceil((lastMs! + 1 - firstMs!) / statements);
    for (let atMs = firstMs!; atMs <= lastMs! && !aggregation.isFull; atMs += stepMs) {
      const part = { ...span, alive, startMs: atMs, endMs: Math.min(span.endMs, atMs + stepMs) };
      const found = await this.#client.query(summaryStatement(query, this.#pointsOf(part)), inOrder);
      for (const summary of summariesIn(found)) aggregation.addSummary(summary);
    }
  }

  async #read(reading: Reading, limit: number): Promise<PointColumns> {
    if (reading.startMs >= reading.endMs) return noPointsOf(kindOf(reading.isString));
    const rows = requireAlive(
      await this.#client.query(sql`${this.#pointsOf(reading)} LIMIT ${limit}`, inOrder),
    );
    return { times: rows.numbers("t"), values: reading.isString ? rows.strings("s") : rows.numbers("v") };
  }

  #pointsOf(reading: Reading): Sql {
    const order = this.#parts.isOrderedByFinal ? noSql : sql` ORDER BY series, t`;
    const value = reading.isString ? sql`s` : sql`v`;
    const { column, condition } = reading.alive;
    return sql`SELECT t, ${value}${column} FROM points FINAL WHERE ${rangeOf(reading)}${condition}${order}`;
  }
}

interface Span {
  readonly span: Reading;
  /** From `#firstOf`. */
  readonly first: PointColumns;
}

interface Reading extends PointSeries, TimeRange {
  readonly alive: Alive;
}

/** Splits series so that the tombstones of a group make no long statement. */
function groupsOf(series: readonly PointSeries[], tombstones: readonly Tombstone[]) {
  const bySeries = Map.groupBy(tombstones, (one) => one.series);
  const groups: { series: PointSeries[]; tombstones: Tombstone[] }[] = [];
  for (const one of series) {
    const own = bySeries.get(one.series) ?? [];
    const last = groups.at(-1);
    const isFull =
      own.length > 0 && last && last.tombstones.length + own.length > limits.clickHouseTombstonesMax;
    if (last === undefined || isFull) groups.push({ series: [one], tombstones: [...own] });
    else {
      last.series.push(one);
      last.tombstones.push(...own);
    }
  }
  return groups.map((group) => ({ series: group.series, alive: aliveOf(group.tombstones) }));
}

const rangeOf = ({ series, startMs, endMs }: Reading): Sql =>
  sql`series = ${series} AND t >= ${boundMs(startMs)} AND t < ${boundMs(endMs)}`;

const columnsOf = ({ timeMs, value }: Point): PointColumns => ({
  times: Float64Array.of(timeMs),
  values: typeof value === "string" ? [value] : Float64Array.of(value),
});

const pointsIn = ({ times, values }: PointColumns): Point[] =>
  Array.from(times, (timeMs, index) => ({ timeMs, value: values[index]! }));
