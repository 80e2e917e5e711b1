// The summaries of whole days of UTC in the file of a shard (FORMAT.md, "Days"), so that averages over the
// days of a year read one row for each day instead of those of thousands of blocks.
//
// Each row is the combination of the summaries in the rows of the blocks of its day, in order. Any block that
// is added or removed removes the rows of its days in the same transaction, and the end of the transaction
// writes them again. So a row is right whenever it exists, and a result has the same bits with and without
// it.
//
// The newest day of a series has no row: it would be written again with each block. Nor has a day of few
// blocks, or one with a summary that extends beyond it. A damaged row is not used.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import type { TimeRange } from "../../lib/time.ts";
import { numberKind } from "../point-columns.ts";
import type { SeriesId } from "../points.ts";
import { combineSummaries, type Summary } from "../summary.ts";
import { DamagedBlock } from "./block.ts";
import { type BlockBounds, DamageFound, foundRowOf, rowOf } from "./block-row.ts";
import type { BucketGrid } from "./bucket-cache.ts";
import { decodeRow, encodeRow, type RowKeys } from "./checksummed-row.ts";

const dayMs = 86_400_000;
/** With fewer blocks in a day, their rows are read about as fast. */
const blocksPerDayMin = 4;
/** A full block of a day with so many blocks is no longer. */
const denseBlockMsMax = dayMs / blocksPerDayMin;
/** Days that are read at once. */
const daysPerPage = 512;

export const daySchema = `
  CREATE TABLE day (
    series INTEGER NOT NULL, start_ms INTEGER NOT NULL, header BLOB NOT NULL,
    PRIMARY KEY (series, start_ms)
  ) WITHOUT ROWID`;

export interface DaySummary {
  readonly startMs: number;
  readonly summary: Summary;
}

export interface WrongDay {
  readonly series: SeriesId;
  readonly startMs: number;
}

/** Start of the day with this time. */
const startOfDay = (timeMs: number): number => Math.floor(timeMs / dayMs) * dayMs;

export const endOfDay = ({ startMs }: DaySummary): number => startMs + dayMs;

/** Whether each day is in one bucket. */
export const areDaysOf = ({ bucketMs, phaseMs }: Pick<BucketGrid, "bucketMs" | "phaseMs">): boolean =>
  bucketMs % dayMs === 0 && phaseMs % dayMs === 0;

export class DaySummaries {
  /** A block of a dense series has at least so many points. */
  readonly #densePointsMin: number;
  readonly #statements: ReturnType<typeof prepare>;
  /** Series that may have rows. */
  readonly #series: Set<SeriesId>;
  /** The days whose blocks the transaction has changed. */
  readonly #changed = new Map<SeriesId, Set<number>>();

  /** Without `blockPoints`, every block counts as one of a dense series. */
  constructor(database: DatabaseSync, blockPoints = 0) {
    this.#densePointsMin = blockPoints / 4;
    this.#statements = prepare(database);
    this.#series = new Set(this.#statements.series.all().map((row) => Number(row["series"])));
  }

  /** Call inside a transaction when a block of numbers is added or removed, with its times. */
  blockChanged(series: SeriesId, { firstMs, lastMs, count }: Omit<BlockBounds, "id">): void {
    const isDense = count >= this.#densePointsMin && lastMs - firstMs <= denseBlockMsMax;
    if (!isDense && !this.#series.has(series)) return;
    const [first, last] = [startOfDay(firstMs), startOfDay(lastMs)];
    this.remove(series, firstMs, lastMs);
    if (!isDense) return;
    const days = this.#changed.get(series) ?? new Set();
    this.#changed.set(series, days.add(first).add(last));
  }

  /** Call inside a transaction: removes the rows of the days with times in [firstMs, lastMs]. */
  remove(series: SeriesId, firstMs: number, lastMs: number): void {
    if (this.#series.has(series)) this.#statements.remove.run(series, startOfDay(firstMs), lastMs);
  }

  /** Call before a transaction commits: writes the rows of the days that it has changed. */
  writeChanged(): void {
    for (const [series, days] of this.#changed) {
      for (const startMs of [...days]) {
        const previous = this.#previousDay(series, startMs);
        if (previous !== undefined) days.add(previous);
      }
      for (const startMs of days) this.#write(series, startMs);
    }
    this.#changed.clear();
  }

  /** Call after a rollback. */
  forgetChanged(): void {
    this.#changed.clear();
  }

  /** The days in [startMs, endMs) that have a row, in order. Rows must not change during the iteration. */
  *between(series: SeriesId, { startMs, endMs }: TimeRange): Generator<DaySummary> {
    if (!this.#series.has(series)) return;
    for (let fromMs = startMs; ; ) {
      const page = this.#statements.between.all(series, fromMs, endMs - dayMs) as unknown as FoundDay[];
      for (const found of page) {
        const summary = summaryOf(series, found);
        if (summary !== undefined) yield { startMs: found[0], summary };
      }
      if (page.length < daysPerPage) return;
      fromMs = page.at(-1)![0] + dayMs;
    }
  }

  /** All rows that are not the summary of their blocks. */
  *wrongRows(): Generator<WrongDay> {
    for (const found of this.#statements.all.iterate()) {
      const [series, ...row] = found as unknown as [SeriesId, ...FoundDay];
      const [startMs, header] = row;
      const summary = this.#summarise(series, startMs);
      const expected = summary && encodedDay(series, startMs, summary);
      if (expected === undefined || !isDeepStrictEqual(expected, header)) yield { series, startMs };
    }
  }

  /** Inside a transaction: the day has no row, or the right one. */
  writeAgain({ series, startMs }: WrongDay): void {
    this.#statements.remove.run(series, startMs, startMs);
    this.#write(series, startMs);
  }

  /**
   * The day of the last block that starts before a day, if it has no row: it was the newest day until now.
   */
  #previousDay(series: SeriesId, startMs: number): number | undefined {
    const found = this.#statements.before.get(series, startMs);
    if (found === undefined) return undefined;
    const previous = startOfDay(Number(found["firstMs"]));
    const hasRow = this.#statements.one.get(series, previous) !== undefined;
    return hasRow ? undefined : previous;
  }

  /** Writes the row of a day that has none, if the day may have one. */
  #write(series: SeriesId, startMs: number): void {
    if (this.#statements.after.get(series, startMs + dayMs) === undefined) return;
    const summary = this.#summarise(series, startMs);
    if (summary === undefined) return;
    this.#statements.insert.run(series, startMs, encodedDay(series, startMs, summary));
    this.#series.add(series);
  }

  /**
   * Undefined when the day has few blocks, a block with a damaged row, or a summary that extends beyond it.
   */
  #summarise(series: SeriesId, startMs: number): Summary | undefined {
    const endMs = startMs + dayMs;
    const found = this.#statements.blocks.all(series, startMs, endMs).map(foundRowOf);
    const inside = found.filter(({ lastMs }) => lastMs >= startMs);
    if (inside.length < blocksPerDayMin) return undefined;
    const summaries = summariesOf(series, inside)?.filter(
      ({ firstMs, lastMs }) => lastMs >= startMs && firstMs < endMs,
    );
    const areWhole = summaries?.every(({ firstMs, lastMs }) => firstMs >= startMs && lastMs < endMs);
    return areWhole ? summaries!.reduce(combineSummaries) : undefined;
  }
}

function summariesOf(series: SeriesId, rows: readonly object[]): Summary[] | undefined {
  try {
    return rows.flatMap((row) => rowOf({ series, kind: numberKind }, row).summaries);
  } catch (error) {
    // A read of the block reports the damage.
    if (error instanceof DamageFound) return undefined;
    throw error;
  }
}

type FoundDay = readonly [startMs: number, header: Uint8Array];

const encodedDay = (series: SeriesId, startMs: number, summary: Summary): Uint8Array =>
  encodeRow(keysOf(series, startMs), { summaries: [summary], blockChecksum: 0 }).header;

/** Undefined when the row is damaged. */
function summaryOf(series: SeriesId, [startMs, header]: FoundDay): Summary | undefined {
  try {
    return decodeRow(keysOf(series, startMs), header).summaries[0];
  } catch (error) {
    if (error instanceof DamagedBlock) return undefined;
    throw error;
  }
}

/** The checksum of a day is that of the row of a block with these keys. */
const keysOf = (series: SeriesId, startMs: number): RowKeys => ({
  ...{ series, kind: numberKind, id: 0, firstMs: startMs, lastMs: startMs + dayMs, count: 0 },
});

type ReadName = "series" | "all" | "between" | "one" | "before" | "after" | "blocks";

function prepare(database: DatabaseSync): Record<ReadName | "insert" | "remove", StatementSync> {
  const sql = (text: string) => database.prepare(text);
  const arrays = (text: string) => {
    const statement = sql(text);
    statement.setReturnArrays(true);
    return statement;
  };
  const ofSeries = `series = ?1 AND kind = ${numberKind}`;
  return {
    // One search for each series, instead of a scan over all days.
    series: sql(`
      WITH RECURSIVE found(series) AS (
        SELECT min(series) FROM day
        UNION ALL
        SELECT (SELECT min(day.series) FROM day WHERE day.series > found.series) FROM found
        WHERE found.series IS NOT NULL)
      SELECT series FROM found WHERE series IS NOT NULL`),
    all: arrays("SELECT series, start_ms, header FROM day"),
    between: arrays(`
      SELECT start_ms, header FROM day WHERE series = ? AND start_ms >= ? AND start_ms <= ?
      ORDER BY start_ms LIMIT ${daysPerPage}`),
    one: sql("SELECT 1 FROM day WHERE series = ? AND start_ms = ?"),
    before: sql(`
      SELECT first_ms AS firstMs FROM block WHERE ${ofSeries} AND first_ms < ?2
      ORDER BY first_ms DESC LIMIT 1`),
    after: sql(`SELECT 1 FROM block WHERE ${ofSeries} AND first_ms >= ?2 LIMIT 1`),
    // From the last block that starts before the day, which may end before it.
    blocks: arrays(`
      SELECT data_id, first_ms, last_ms, count, header FROM block
      WHERE ${ofSeries} AND first_ms < ?3 AND first_ms >= coalesce(
        (SELECT max(first_ms) FROM block WHERE ${ofSeries} AND first_ms < ?2), ?2)
      ORDER BY first_ms`),
    insert: sql("INSERT OR REPLACE INTO day VALUES (?, ?, ?)"),
    remove: sql("DELETE FROM day WHERE series = ? AND start_ms >= ? AND start_ms <= ?"),
  };
}
