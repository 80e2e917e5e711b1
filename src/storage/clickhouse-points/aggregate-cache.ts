// Keeps results of aggregates that are read again, and returns one only after ClickHouse has confirmed that
// it is still exact, whichever server wrote since.
//
// A part of a table never changes. A result is a function of the rows in its time range, so it is exact while
// the parts that had these rows are active, no other part has a row in the range, and the series have no
// tombstones. Without rows there is nothing that tombstones could delete. A merge or a mutation replaces
// parts, and the result is read again.
//
// The list of parts is read before the points. So a row that arrives in between is in a part that is not in
// the list, and the result is not used. A sweep that removes this row later replaces the parts of the list.
// If the list is empty, only an empty result is kept.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateColumns, SeriesId } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import { joinSql, Sql, sql } from "./sql.ts";
import { onOneThread, tombstoneCount, within } from "./tombstones.ts";

export type AggregatesOfSeries = ReadonlyMap<SeriesId, AggregateColumns>;

export interface FoundAggregates {
  readonly columns: AggregatesOfSeries;
  /** Rows of the series outside of it do not change the result. */
  readonly range: TimeRange;
}

export interface CachedQuery {
  /** Equal for equal queries. */
  readonly key: string;
  readonly series: readonly SeriesId[];
}

interface Parts {
  readonly names: readonly string[];
  /** Differs if a part of one of these names was made again. */
  readonly checksum: number;
}

interface Entry {
  readonly range: TimeRange;
  /** Absent until the query was read twice. */
  readonly result?: { readonly parts: Parts; readonly columns: AggregatesOfSeries };
  /** Results of this query that other rows made useless, one after the other. */
  readonly failures: number;
  /** So many reads keep no result. */
  readonly pause: number;
  readonly bytes: number;
}

/** Of an entry without its strings and columns. */
const entryBytes = 256;

export class AggregateCache {
  readonly #client: ClickHouseClient;
  readonly #bytesMax: number;
  /** In two generations, as in `LruCache`; each has half of the bytes. */
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;

  /** With 0 bytes it keeps nothing. */
  constructor(client: ClickHouseClient, bytesMax: number) {
    this.#client = client;
    this.#bytesMax = bytesMax;
  }

  /** Returns the kept result, or that of `read`. The caller must not change it. */
  async read(query: CachedQuery, read: () => Promise<FoundAggregates>): Promise<AggregatesOfSeries> {
    if (this.#bytesMax === 0) return (await read()).columns;
    const entry = this.#get(query.key);
    if (entry?.result && (await this.#isExact(query.series, entry.range, entry.result.parts))) {
      if (entry.failures > 0 || !this.#young.has(query.key)) this.#set(query, { ...entry, failures: 0 });
      return entry.result.columns;
    }
    const failures = entry?.result ? Math.min(entry.failures + 1, failuresMax) : (entry?.failures ?? 0);
    const pause = entry?.result ? 2 ** failures : Math.max(0, (entry?.pause ?? 0) - 1);
    const expected = entry && pause === 0 ? entry.range : undefined;
    const parts = expected && (await this.#partsOf(query.series, expected));
    const { columns, range } = await read();
    const isExpected = range.startMs === expected?.startMs && range.endMs === expected.endMs;
    const isKept = parts && isExpected && (parts.names.length > 0 || isEmpty(columns));
    this.#set(query, { range, failures, pause, ...(isKept && { result: { parts, columns } }) });
    return columns;
  }

  /** The parts that have rows in the range; undefined if they are too many for a statement. */
  async #partsOf(series: readonly SeriesId[], range: TimeRange): Promise<Parts | undefined> {
    const rows = await this.#client.query(
      sql`SELECT name, ${checksum} AS checksum FROM system.parts WHERE ${activeParts}
        AND name IN (SELECT DISTINCT _part FROM points WHERE ${within(series, range)})`,
    );
    const names = rows.strings("name");
    if (names.length > limits.clickHousePartsOfResultMax || !names.every((name) => partName.test(name)))
      return undefined;
    return { names, checksum: rows.numbers("checksum").reduce((sum, one) => sum + one, 0) };
  }

  async #isExact(series: readonly SeriesId[], range: TimeRange, parts: Parts): Promise<boolean> {
    const names = joinSql(
      parts.names.map((name) => new Sql(`'${name}'`)),
      sql`,`,
    );
    const hasParts = parts.names.length > 0;
    const others = hasParts ? sql` AND _part NOT IN (${names})` : sql``;
    // The tombstones are counted first, because the statement that reads the parts has their number in its
    // condition. So a sweep that has removed them has replaced the parts as well.
    const active = hasParts
      ? sql`(SELECT sum(${checksum}) FROM system.parts
          WHERE ${activeParts} AND name IN (${names}) AND ${tombstoneCount(series)} = 0)`
      : sql`toUInt64(0)`;
    const rows = await this.#client.query(
      sql`SELECT count() AS others, ${active} AS checksum
        FROM (SELECT t FROM points WHERE ${within(series, range)}${others} LIMIT 1)`,
      onOneThread,
    );
    const one = (name: string) => rows.numbers(name)[0];
    return one("others") === 0 && one("checksum") === parts.checksum;
  }

  #get(key: string): Entry | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #set({ key, series }: CachedQuery, entry: Omit<Entry, "bytes">): void {
    const texts = key.length + (entry.result?.parts.names.join("").length ?? 0);
    const columns = entry.result ? [...entry.result.columns.values()] : [];
    const bytes =
      entryBytes * (1 + series.length) +
      2 * texts +
      columns.reduce((sum, one) => sum + one.times.byteLength * (1 + one.columns.length), 0);
    const generationMax = this.#bytesMax / 2;
    this.#youngBytes -= this.#young.get(key)?.bytes ?? 0;
    this.#young.delete(key);
    this.#old.delete(key);
    if (bytes > generationMax / entriesMin) return;
    if (this.#youngBytes + bytes > generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, { ...entry, bytes });
    this.#youngBytes += bytes;
  }
}

const isEmpty = (columns: AggregatesOfSeries): boolean =>
  [...columns.values()].every(({ times }) => times.length === 0);

/** One result has at most this share of the memory. */
const entriesMin = 16;

/** A query whose results always fail keeps one result of 64. */
const failuresMax = 6;

/** The form of names that ClickHouse gives to parts; others do not enter statements. */
const partName = /^[\w-]+$/;

const activeParts = sql`active AND database = currentDatabase() AND table = 'points'`;

/**
 * The sum of those of all parts of a result is below 2^53. A name alone could be given again after a restart.
 */
const checksum = sql`cityHash64(name, modification_time, bytes_on_disk) % ${2 ** 40}`;
