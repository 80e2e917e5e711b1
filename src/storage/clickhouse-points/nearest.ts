// Finds the points of many series that are nearest to a time, with few reads: in a short time range first,
// then in longer ones.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { Point, PointSeries, SeriesId } from "../points.ts";
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from "./client.ts";
import { noSql, type Sql, sql } from "./sql.ts";
import { type Alive, requireAlive, within } from "./tombstones.ts";

interface Nearest {
  /** At most `seriesPerStatement`. */
  readonly series: readonly PointSeries[];
  /** For all of these series. */
  readonly alive: Alive;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A series that writes once a second has one index granule of it. */
const recentMs = hourMs;
/** Lengths of the next ranges, if all points of the series are too many to read. */
const lengthsBefore = [30 * dayMs, Infinity];
/** The caller has read the beginning. */
const lengthsAfter = [30 * dayMs, 1_000 * dayMs, Infinity];
/** More series make a statement long. */
export const seriesPerStatement = 1_000;

export class NearestPoints {
  readonly #client: ClickHouseClient;
  readonly #nowMs: () => number;
  /** The last search found only old points, with one read of all. So the next one begins with that read. */
  #areOld = false;

  /** `nowMs` is the wall clock: only a guess of where the newest points are. */
  constructor(client: ClickHouseClient, nowMs: () => number) {
    this.#client = client;
    this.#nowMs = nowMs;
  }

  /** For each series, in order, its last point strictly before `beforeMs`; undefined without one. */
  async latest(nearest: Nearest & { readonly beforeMs: number }): Promise<(Point | undefined)[]> {
    const { beforeMs } = nearest;
    const search = new Search(this.#client, nearest, sql`max(t)`);
    const guessMs = Math.min(beforeMs, this.#nowMs());
    const recent = { startMs: guessMs - recentMs, endMs: beforeMs };
    const beginsWithAll = this.#areOld;
    if (!beginsWithAll) await search.in(recent);
    const isWhole = await search.inAll(beginsWithAll ? beforeMs : recent.startMs);
    this.#areOld = isWhole && !search.hasFoundFrom(recent.startMs);
    if (isWhole) return search.result;
    if (beginsWithAll) await search.in(recent);
    let endMs = recent.startMs;
    for (const lengthMs of lengthsBefore) {
      await search.in({ startMs: guessMs - lengthMs, endMs });
      endMs = guessMs - lengthMs;
    }
    return search.result;
  }

  /** For each series, in order, its first point at or after `fromMs`; undefined without one. */
  async first(nearest: Nearest & { readonly fromMs: number }): Promise<(Point | undefined)[]> {
    const { fromMs } = nearest;
    const search = new Search(this.#client, nearest, sql`min(t)`);
    let startMs = fromMs;
    for (const lengthMs of lengthsAfter) {
      await search.in({ startMs, endMs: fromMs + lengthMs });
      startMs = fromMs + lengthMs;
    }
    return search.result;
  }
}

/** ClickHouse refuses a statement before it reads, if the index says that it reads more rows. */
const tooManyRows = 158;

/** Looks for one point of each series, in one range of time after the other. */
class Search {
  readonly #client: ClickHouseClient;
  readonly #nearest: Nearest;
  /** Of the points in a range, the time of the nearest one. */
  readonly #time: Sql;
  readonly #stringIds: ReadonlySet<SeriesId>;
  readonly #found = new Map<SeriesId, Point>();
  #missing: SeriesId[];

  constructor(client: ClickHouseClient, nearest: Nearest, time: Sql) {
    this.#client = client;
    this.#nearest = nearest;
    this.#time = time;
    const { series } = nearest;
    this.#stringIds = new Set(series.filter(({ isString }) => isString).map((one) => one.series));
    this.#missing = [...new Set(series.map((one) => one.series))];
  }

  get result(): (Point | undefined)[] {
    return this.#nearest.series.map((one) => this.#found.get(one.series));
  }

  hasFoundFrom(timeMs: number): boolean {
    return [...this.#found.values()].some((point) => point.timeMs >= timeMs);
  }

  /** Looks in all points before `endMs`. False if they are too many; then nothing is found. */
  async inAll(endMs: number): Promise<boolean> {
    const rowsMax =
      limits.clickHouseLatestRowsMax + limits.clickHouseLatestRowsPerSeriesMax * this.#missing.length;
    try {
      await this.in({ startMs: -Infinity, endMs }, { max_rows_to_read: rowsMax });
      return true;
    } catch (problem) {
      if (problem instanceof ClickHouseError && problem.code === tooManyRows) return false;
      throw problem;
    }
  }

  /** Looks for the series of which nothing was found so far. */
  async in(range: TimeRange, settings?: ClickHouseSettings): Promise<void> {
    if (this.#missing.length === 0 || range.startMs >= range.endMs) return;
    const rows = requireAlive(await this.#client.query(this.#statement(range), settings));
    const [times, numbers, strings] = [rows.numbers("t"), rows.numbers("number"), rows.strings("string")];
    for (const [row, id] of rows.numbers("series").entries()) {
      const value = this.#stringIds.has(id) ? strings[row]! : numbers[row]!;
      this.#found.set(id, { timeMs: times[row]!, value });
    }
    this.#missing = this.#missing.filter((id) => !this.#found.has(id));
  }

  /** The inner query finds the times alone; so the values are read of few granules. */
  #statement(range: TimeRange): Sql {
    const { column, condition } = this.#nearest.alive;
    const missing = this.#missing;
    const hasStrings = missing.some((id) => this.#stringIds.has(id));
    const hasNumbers = missing.some((id) => !this.#stringIds.has(id));
    const number = hasNumbers ? sql`, argMax(v, version) AS number` : noSql;
    const string = hasStrings ? sql`, argMax(s, version) AS string` : noSql;
    return sql`SELECT series, t${number}${string}${column}
      FROM points WHERE (series, t) IN (SELECT series, ${this.#time} FROM points
        WHERE ${within(missing, range)}${condition} GROUP BY series)${condition}
      GROUP BY series, t`;
  }
}
