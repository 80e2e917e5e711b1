// Finds the points of many series that are nearest to a time, with few reads: in a short time range first,
// then in longer ones.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { Point, PointSeries, SeriesId } from "../points.ts";
import { type ClickHouseClient, ClickHouseError, type ClickHouseSettings } from "./client.ts";
import type { NativeRows } from "./native-format.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";
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
  /**
   * The time of the oldest point that the last search found, if it found only old ones with one read of all.
   * The next search begins there: of series that ended together, this reads as many rows as any other range,
   * but ClickHouse groups few of them.
   */
  #oldestMs: number | undefined;

  /** `nowMs` is the wall clock: only a guess of where the newest points are. */
  constructor(client: ClickHouseClient, nowMs: () => number) {
    this.#client = client;
    this.#nowMs = nowMs;
  }

  /** For each series, in order, its last point strictly before `beforeMs`; undefined without one. */
  async latest(nearest: Nearest & { readonly beforeMs: number }): Promise<(Point | undefined)[]> {
    const { beforeMs } = nearest;
    const search = new Search(this.#client, nearest, latestStatement);
    const guessMs = Math.min(beforeMs, this.#nowMs());
    const recent = { startMs: guessMs - recentMs, endMs: beforeMs };
    const startMs = Math.min(recent.startMs, this.#oldestMs ?? Infinity);
    const beginsWithOld = startMs < recent.startMs;
    const begins = beginsWithOld ? await search.inAll({ startMs, endMs: beforeMs }) : false;
    if (!begins) await search.in(recent);
    const isWhole = await search.inAll({ startMs: -Infinity, endMs: begins ? startMs : recent.startMs });
    const { newestMs, oldestMs } = search;
    const areOld = isWhole && newestMs > -Infinity && newestMs < recent.startMs;
    this.#oldestMs = areOld ? oldestMs : undefined;
    if (isWhole) return search.result;
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
    const search = new Search(this.#client, nearest, firstStatement);
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
  readonly #statement: Statement;
  readonly #stringIds: ReadonlySet<SeriesId>;
  readonly #found = new Map<SeriesId, Point>();
  #missing: SeriesId[];

  constructor(client: ClickHouseClient, nearest: Nearest, statement: Statement) {
    this.#client = client;
    this.#nearest = nearest;
    this.#statement = statement;
    const { series } = nearest;
    this.#stringIds = new Set(series.filter(({ isString }) => isString).map((one) => one.series));
    this.#missing = [...new Set(series.map((one) => one.series))];
  }

  get result(): (Point | undefined)[] {
    return this.#nearest.series.map((one) => this.#found.get(one.series));
  }

  /** -Infinity if nothing was found. */
  get newestMs(): number {
    return Math.max(...[...this.#found.values()].map((point) => point.timeMs));
  }

  /** Infinity if nothing was found. */
  get oldestMs(): number {
    return Math.min(...[...this.#found.values()].map((point) => point.timeMs));
  }

  /** Looks in a long range. False if its points are too many; then nothing is found. */
  async inAll(range: TimeRange): Promise<boolean> {
    const rowsMax =
      limits.clickHouseLatestRowsMax + limits.clickHouseLatestRowsPerSeriesMax * this.#missing.length;
    try {
      await this.in(range, { max_rows_to_read: rowsMax });
      return true;
    } catch (problem) {
      if (problem instanceof ClickHouseError && problem.code === tooManyRows) return false;
      throw problem;
    }
  }

  /** Looks for the series of which nothing was found so far. */
  async in(range: TimeRange, settings?: ClickHouseSettings): Promise<void> {
    if (this.#missing.length === 0 || range.startMs >= range.endMs) return;
    const ids = this.#missing;
    const hasStrings = ids.some((id) => this.#stringIds.has(id));
    const hasNumbers = ids.some((id) => !this.#stringIds.has(id));
    const values = [...(hasNumbers ? [sql`v`] : []), ...(hasStrings ? [sql`s`] : [])];
    const statement = this.#statement({ series: ids, range, values, alive: this.#nearest.alive });
    this.#add(requireAlive(await this.#client.query(statement, settings)));
    this.#missing = ids.filter((id) => !this.#found.has(id));
  }

  /** Of several rows of a series, the last point counts, and of its versions the highest. */
  #add(rows: NativeRows): void {
    const [ids, times, versions] = [rows.numbers("id"), rows.numbers("time"), rows.numbers("newest")];
    const [numbers, strings] = [rows.numbers("number"), rows.strings("string")];
    const rowOf = new Map<SeriesId, number>();
    for (const [row, id] of ids.entries()) {
      const other = rowOf.get(id);
      const isAfter =
        other === undefined ||
        times[row]! > times[other]! ||
        (times[row] === times[other] && versions[row]! > versions[other]!);
      if (isAfter) rowOf.set(id, row);
    }
    for (const [id, row] of rowOf) {
      const value = this.#stringIds.has(id) ? strings[row]! : numbers[row]!;
      this.#found.set(id, { timeMs: times[row]!, value });
    }
  }
}

interface Wanted {
  readonly series: readonly SeriesId[];
  readonly range: TimeRange;
  /** The columns `v` for numbers, `s` for strings, or both. */
  readonly values: readonly Sql[];
  readonly alive: Alive;
}

type Statement = (wanted: Wanted) => Sql;

/**
 * The last row of each series in each block of rows that ClickHouse reads. The rows of a block are of one
 * part, in the order of series, time and version.
 */
function latestStatement({ series, range, values, alive: { column, condition } }: Wanted): Sql {
  const found = values.map((value) => sql`, anyLast(${value}) AS ${nameOf(value)}`);
  const first = Math.min(...series);
  const isOneKey = Math.max(...series) - first < seriesInKeyMax;
  const [id, key, keys] = isOneKey
    ? [sql`any(series) AS id`, sql`(series - ${first}) * ${blocksInKeyMax} + blockNumber()`, noSql]
    : [sql`series AS id`, sql`blockNumber()`, sql`series, `];
  return sql`SELECT ${id}, anyLast(t) AS time, anyLast(version) AS newest${joinSql(found, noSql)}${column}
    FROM (SELECT series, t, version, ${joinSql(values, sql`, `)}, ${key} AS run
      FROM points WHERE ${within(series, range)}${condition}) GROUP BY ${keys}run`;
}

/** The number of a series and that of a block are one key, below 2^63: two keys take a third more time. */
const blocksInKeyMax = 2 ** 24;
const seriesInKeyMax = 2 ** 39;

/** The inner query finds the times alone; so the values are read of few granules. */
function firstStatement({ series, range, values, alive: { column, condition } }: Wanted): Sql {
  const found = values.map((value) => sql`, argMax(${value}, version) AS ${nameOf(value)}`);
  return sql`SELECT series AS id, t AS time, max(version) AS newest${joinSql(found, noSql)}${column}
    FROM points WHERE (series, t) IN (SELECT series, min(t) FROM points
      WHERE ${within(series, range)}${condition} GROUP BY series)${condition}
    GROUP BY series, t`;
}

const nameOf = ({ text }: Sql): Sql => (text === "v" ? sql`number` : sql`string`);
