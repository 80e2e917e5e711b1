// Aggregates: ClickHouse summarises the points of each bucket, and storage/aggregation.ts of the embedded
// engine finishes them. Requests of one turn of the event loop for the same buckets share their statements,
// as those of the series of a frame or of a dashboard.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { Aggregation, type NumberPoint, needsNeighbours } from "../aggregation.ts";
import type { Kernels } from "../kernels.ts";
import type { AggregateColumns, AggregateQuery, Point, SeriesId } from "../points.ts";
import type { AggregateCache, AggregatesOfSeries, FoundAggregates } from "./aggregate-cache.ts";
import type { ClickHouseClient, ClickHouseSettings } from "./client.ts";
import type { EmptySidesOfSeries } from "./empty-sides.ts";
import { type NearestPoints, seriesPerStatement } from "./nearest.ts";
import { sql } from "./sql.ts";
import {
  conflictsIn,
  needsArrays,
  type Run,
  runsIn,
  type SummarisedBuckets,
  summaryStatement,
} from "./summaries.ts";
import { type Alive, groupsOf, onOneThread, readAlive, requireAlive, within } from "./tombstones.ts";

export interface AggregateParts {
  readonly client: ClickHouseClient;
  readonly nearest: NearestPoints;
  readonly emptySides: EmptySidesOfSeries;
  readonly cache: AggregateCache;
  /** Points whose times and values one statement holds in memory. */
  readonly pointsInArrays: number;
  /** That the version of ClickHouse needs for differences to the row before. */
  readonly settings: ClickHouseSettings;
  readonly kernels: Kernels;
}

interface Waiting {
  readonly query: AggregateQuery;
  readonly resolve: (found: AggregateColumns) => void;
  readonly reject: (problem: unknown) => void;
}

export class AggregateReads {
  readonly #parts: AggregateParts;
  #waiting: Waiting[] = [];

  constructor(parts: AggregateParts) {
    this.#parts = parts;
  }

  read(query: AggregateQuery): Promise<AggregateColumns> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#start());
      this.#waiting.push({ query, resolve, reject });
    });
  }

  #start(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const same = Map.groupBy(waiting, ({ query: { series: _, ...buckets } }) => JSON.stringify(buckets));
    for (const [key, requests] of same) {
      const { query } = requests[0]!;
      const most = Math.max(1, Math.floor(limits.clickHouseSummariesMax / rowsOf(query)));
      const size = Math.min(seriesPerStatement, most);
      for (let from = 0; from < requests.length; from += size)
        void this.#readTogether(query, key, requests.slice(from, from + size));
    }
  }

  async #readTogether(
    buckets: SummarisedBuckets,
    keyOfBuckets: string,
    requests: readonly Waiting[],
  ): Promise<void> {
    const ids = [...new Set(requests.map(({ query }) => query.series))];
    const key = `${ids.join()} ${keyOfBuckets}`;
    try {
      const found = await this.#parts.cache.read({ key, series: ids }, () => this.#find(buckets, ids));
      // Each caller gets columns of its own.
      for (const { query, resolve } of requests) resolve(copyOf(found.get(query.series)!));
    } catch (problem) {
      for (const { reject } of requests) reject(problem);
    }
  }

  async #find(buckets: SummarisedBuckets, ids: readonly SeriesId[]): Promise<FoundAggregates> {
    const reads: SharedRead[] = [];
    const read = (alive: Alive, series = ids): Promise<AggregatesOfSeries> => {
      const shared = new SharedRead(this.#parts, buckets, alive);
      reads.push(shared);
      return shared.read(series);
    };
    const columns = await readAlive(this.#parts.client, ids, read, async (tombstonesOf) => {
      const groups: [SeriesId, AggregateColumns][] = [];
      for (const { items, alive } of groupsOf(ids, tombstonesOf)) groups.push(...(await read(alive, items)));
      return new Map(groups);
    });
    const startMs = Math.min(...reads.map((one) => one.reach.startMs));
    return { columns, range: { startMs, endMs: Math.max(...reads.map((one) => one.reach.endMs)) } };
  }
}

const copyOf = ({ times, columns }: AggregateColumns): AggregateColumns => ({
  times: times.slice(),
  columns: columns.map((column) => column.slice()),
});

const rowsOf = ({ startMs, endMs, bucketMs, limit }: SummarisedBuckets): number =>
  Math.min(limit, Math.ceil((endMs - startMs) / bucketMs)) + 2;

/** Of the range, how much is read on each side for the neighbours. More is rarely needed. */
const marginShare = 1 / 32;

/** The runs of each series in one range, in order of time. */
type Found = ReadonlyMap<SeriesId, readonly Run[]>;

/** Reads the same buckets of several series. */
class SharedRead {
  readonly #parts: AggregateParts;
  readonly #buckets: SummarisedBuckets;
  readonly #alive: Alive;
  readonly #marginMs: number;
  /** The range of the points that are read; without a bound, if no points are expected there. */
  #firstMs: number;
  #endMs: number;
  /** Further points were looked for. */
  #searchedBefore = false;
  #searchedAfter = false;

  constructor(parts: AggregateParts, buckets: SummarisedBuckets, alive: Alive) {
    this.#parts = parts;
    this.#buckets = buckets;
    this.#alive = alive;
    const { startMs, endMs, bucketMs } = buckets;
    const marginMs = Math.min(bucketMs, Math.ceil((endMs - startMs) * marginShare));
    this.#marginMs = needsNeighbours(buckets) ? marginMs : 0;
    this.#firstMs = buckets.clip?.startMs ?? startMs - this.#marginMs;
    this.#endMs = buckets.clip?.endMs ?? endMs + (buckets.isStep ? 0 : this.#marginMs);
  }

  /** Rows of these series outside of it do not change the result of `read`. */
  get reach(): TimeRange {
    return {
      startMs: this.#searchedBefore ? -Infinity : this.#firstMs,
      endMs: this.#searchedAfter ? Infinity : this.#endMs,
    };
  }

  async read(series: readonly SeriesId[]): Promise<Map<SeriesId, AggregateColumns>> {
    const { startMs, endMs, bucketMs, limit, isStep } = this.#buckets;
    if (this.#marginMs > 0) {
      const { emptySides } = this.#parts;
      if (emptySides.areEmptyBefore(series, this.#firstMs)) this.#firstMs = -Infinity;
      if (!isStep && emptySides.areEmptyFrom(series, this.#endMs)) this.#endMs = Infinity;
    }
    let spanMs = limit * bucketMs;
    let span = { startMs, endMs: Math.min(endMs, startMs + spanMs) };
    let found = await this.#find(series, span);
    const before = await this.#before(series, found);
    const all = new Map(
      series.map((id) => {
        const point = before.get(id) as NumberPoint | undefined;
        return [id, new Aggregation(this.#parts.kernels, this.#buckets, point)];
      }),
    );
    let open = this.#add(found, all, series);
    while (span.endMs < endMs && open.length > 0) {
      spanMs *= limits.clickHouseSpanGrowth;
      span = { startMs: span.endMs, endMs: Math.min(endMs, span.endMs + spanMs) };
      found = await this.#find(open, span);
      open = this.#add(found, all, open);
    }
    const after = await this.#after(
      open.filter((id) => all.get(id)!.needsAfter),
      found,
    );
    const finished = (id: SeriesId) => all.get(id)!.finish(after.get(id) as NumberPoint | undefined);
    return new Map(series.map((id) => [id, finished(id)]));
  }

  /** Adds the runs of the buckets, and returns the series that may have further rows. */
  #add(found: Found, all: ReadonlyMap<SeriesId, Aggregation>, series: readonly SeriesId[]): SeriesId[] {
    return series.filter((id) => {
      const aggregation = all.get(id)!;
      const inRange = (found.get(id) ?? []).filter(({ bucket }) => bucket > 0 && bucket <= this.#bucketCount);
      aggregation.addSummaries(inRange.map(({ summary }) => summary));
      return !aggregation.isFull;
    });
  }

  get #bucketCount(): number {
    const { startMs, endMs, bucketMs } = this.#buckets;
    return Math.round((endMs - startMs) / bucketMs);
  }

  /** The last point before the range, for the series whose aggregates depend on it. */
  async #before(series: readonly SeriesId[], found: Found): Promise<ReadonlyMap<SeriesId, Point>> {
    const before = new Map<SeriesId, Point>();
    if (this.#marginMs === 0) return before;
    const { startMs } = this.#buckets;
    const { emptySides } = this.#parts;
    for (const id of series) {
      const last = found.get(id)?.findLast(({ bucket }) => bucket === 0)?.summary;
      if (last) before.set(id, { timeMs: last.lastMs, value: last.lastValue });
    }
    const beforeMs = this.#firstMs;
    const isFirst = (id: SeriesId) => found.get(id)?.[0]?.summary.firstMs === startMs;
    const missing = beforeMs === -Infinity ? [] : series.filter((id) => !before.has(id) && !isFirst(id));
    this.#searchedBefore = missing.length > 0;
    if (await this.#hasPoints(missing, { startMs: -Infinity, endMs: beforeMs })) {
      const points = missing.map((id) => ({ series: id, isString: false }));
      const latest = await this.#parts.nearest.latest({ series: points, alive: this.#alive, beforeMs });
      for (const [at, id] of missing.entries()) if (latest[at]) before.set(id, latest[at]);
    }
    emptySides.sawBefore(beforeMs === -Infinity ? series : missing, startMs, (id) => !before.has(id));
    return before;
  }

  /** The first point after the range, for these series. */
  async #after(series: readonly SeriesId[], found: Found): Promise<ReadonlyMap<SeriesId, Point>> {
    const after = new Map<SeriesId, Point>();
    if (this.#marginMs === 0) return after;
    for (const id of series) {
      const first = found.get(id)?.find(({ bucket }) => bucket > this.#bucketCount)?.summary;
      if (first) after.set(id, { timeMs: first.firstMs, value: first.firstValue });
    }
    const fromMs = this.#endMs;
    const missing = fromMs === Infinity ? [] : series.filter((id) => !after.has(id));
    this.#searchedAfter = missing.length > 0;
    if (await this.#hasPoints(missing, { startMs: fromMs, endMs: Infinity })) {
      const points = missing.map((id) => ({ series: id, isString: false }));
      const first = await this.#parts.nearest.first({ series: points, alive: this.#alive, fromMs });
      for (const [at, id] of missing.entries()) if (first[at]) after.set(id, first[at]);
    }
    const { emptySides } = this.#parts;
    const seen = fromMs === Infinity ? series : missing;
    emptySides.sawFrom(seen, this.#buckets.endMs, (id) => !after.has(id));
    return after;
  }

  /** Whether some of the series have points in the range, deleted ones included. It saves a search. */
  async #hasPoints(series: readonly SeriesId[], range: TimeRange): Promise<boolean> {
    if (series.length === 0) return false;
    const first = sql`SELECT t FROM points WHERE ${within(series, range)} LIMIT 1`;
    const rows = await this.#parts.client.query(sql`SELECT count() AS n FROM (${first})`, onOneThread);
    return rows.numbers("n")[0] === 1;
  }

  /** Reads the runs of a span, and at the ends of the query also those outside. */
  async #find(series: readonly SeriesId[], span: TimeRange): Promise<Found> {
    const { startMs, endMs, bucketMs } = this.#buckets;
    const range = {
      startMs: span.startMs === startMs ? this.#firstMs : span.startMs,
      endMs: span.endMs === endMs ? this.#endMs : span.endMs,
    };
    const runs = bySeries(await this.#query(series, range, false));
    const conflicts = conflictsIn(runs);
    if (conflicts === undefined) return runs;
    const { firstBucket, lastBucket } = conflicts;
    const firstMs = firstBucket === 0 ? -Infinity : startMs + (firstBucket - 1) * bucketMs;
    const lastMs = lastBucket > this.#bucketCount ? Infinity : startMs + lastBucket * bucketMs;
    const part = { startMs: Math.max(range.startMs, firstMs), endMs: Math.min(range.endMs, lastMs) };
    const exact = bySeries(await this.#query(conflicts.series, part, true));
    const isOutside = ({ bucket }: Run) => bucket < firstBucket || bucket > lastBucket;
    for (const id of conflicts.series)
      runs.set(id, inOrder([...runs.get(id)!.filter(isOutside), ...(exact.get(id) ?? [])]));
    return runs;
  }

  async #query(series: readonly SeriesId[], range: TimeRange, isFinal: boolean): Promise<Run[]> {
    const { client, settings } = this.#parts;
    const alive = this.#alive;
    const runs: Run[][] = [];
    for (const part of needsArrays(this.#buckets) ? await this.#split(series, range) : [range]) {
      const points = { series, range: part, alive, isFinal };
      const statement = summaryStatement(this.#buckets, points, alive.column);
      const rows = requireAlive(await client.query(statement, settings));
      runs.push(runsIn(rows, this.#buckets, series));
    }
    return runs.flat();
  }

  /** Parts of a range with so many points as a statement may hold in arrays, if their times are even. */
  async #split(series: readonly SeriesId[], range: TimeRange): Promise<TimeRange[]> {
    const condition = within(series, range);
    const rows = await this.#parts.client.query(
      sql`SELECT count() AS n, min(t) AS first_t, max(t) AS last_t FROM points WHERE ${condition}`,
    );
    const [count, firstMs, lastMs] = ["n", "first_t", "last_t"].map((name) => rows.numbers(name)[0] ?? 0);
    const parts = Math.ceil(count! / this.#parts.pointsInArrays);
    if (parts <= 1) return [range];
    const stepMs = Math.ceil((lastMs! + 1 - firstMs!) / parts);
    return Array.from({ length: parts }, (_, part) => ({
      startMs: part === 0 ? range.startMs : firstMs! + part * stepMs,
      endMs: part === parts - 1 ? range.endMs : firstMs! + (part + 1) * stepMs,
    }));
  }
}

const inOrder = (runs: Run[]): Run[] => runs.sort((a, b) => a.summary.firstMs - b.summary.firstMs);

function bySeries(runs: readonly Run[]): Map<SeriesId, Run[]> {
  const grouped = Map.groupBy(runs, ({ series }) => series);
  for (const own of grouped.values()) inOrder(own);
  return grouped;
}
