// Reads raw points without FINAL, which takes longer than all else.
//
// ClickHouse reads one part after another, and the rows of a part are in order. If the runs of ascending
// times follow each other, then no point has two versions, and the rows are exact. If not, the points are
// read again with FINAL. Of a range with more points than the limit, any rows come first. They have a time
// with enough rows up to it; all rows up to that time are read then.
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { concatPoints, kindOf, noPointsOf, viewPoints } from "../point-columns.ts";
import type { Point, PointColumns, PointSeries, ScanQuery } from "../points.ts";
import type { ClickHouseClient } from "./client.ts";
import type { NativeRows } from "./native-format.ts";
import type { NearestPoints } from "./nearest.ts";
import { noSql, sql } from "./sql.ts";
import { type Alive, readAlive, requireAlive, within } from "./tombstones.ts";

export interface RawReadsParts {
  readonly client: ClickHouseClient;
  readonly nearest: NearestPoints;
  /**
   * Until version 20, FINAL returns rows in the order of the key and reads no more than LIMIT needs, while
   * ORDER BY reads all. Later versions need ORDER BY, and stop at LIMIT too.
   */
  readonly isOrderedByFinal: boolean;
}

interface Reading extends PointSeries, TimeRange {
  readonly alive: Alive;
}

/** One thread reads the rows of one series in order. */
const inOrder = { max_threads: 1 };

export class RawReads {
  readonly #parts: RawReadsParts;

  constructor(parts: RawReadsParts) {
    this.#parts = parts;
  }

  scan(query: ScanQuery): Promise<PointColumns> {
    return readAlive(this.#parts.client, [query.series], (alive) => this.#scan(query, alive));
  }

  async #scan(query: ScanQuery, alive: Alive): Promise<PointColumns> {
    const { series, isString, startMs, endMs, limit, includeOutside = false } = query;
    const before = includeOutside ? await this.#lastBefore(query, startMs, alive) : undefined;
    const found: PointColumns[] = before === undefined ? [] : [columnsOf(before)];
    const reading = { series, isString, alive, startMs, endMs };
    found.push(await this.#read(reading, limit - found.length));
    const count = found.reduce((sum, { times }) => sum + times.length, 0);
    if (includeOutside && count < limit)
      found.push(await this.#readFinal({ ...reading, startMs: endMs, endMs: Infinity }, 1));
    return concatPoints(found, kindOf(isString));
  }

  async #lastBefore(series: PointSeries, beforeMs: number, alive: Alive): Promise<Point | undefined> {
    // Without points before, this saves the search in ever longer ranges.
    const { times } = await this.#readRows({ ...series, alive, startMs: -Infinity, endMs: beforeMs }, 1);
    if (times.length === 0) return undefined;
    const [last] = await this.#parts.nearest.latest({ series: [series], beforeMs, alive });
    return last;
  }

  async #read(reading: Reading, limit: number): Promise<PointColumns> {
    const { isString, startMs, endMs } = reading;
    if (startMs >= endMs || limit <= 0) return noPointsOf(kindOf(isString));
    const some = await this.#readRows(reading, limit + 1);
    if (some.times.length <= limit) return inOrderOfTime(some) ?? this.#readFinal(reading, limit);
    // At least so many rows are up to this time.
    const lastMs = some.times.subarray(0, limit).reduce((last, timeMs) => Math.max(last, timeMs), -Infinity);
    // A string may have 16,384 characters, so no more of them are read than twice the page.
    const rowsMax = 2 * limit + (isString ? 0 : limits.clickHouseUnorderedRowsMax);
    const rows = await this.#readRows({ ...reading, endMs: lastMs + 1 }, rowsMax);
    // A merge since the first statement may have left fewer rows.
    const isWhole = rows.times.length >= limit && rows.times.length < rowsMax;
    const points = isWhole ? inOrderOfTime(rows) : undefined;
    return points === undefined ? this.#readFinal(reading, limit) : viewPoints(points, 0, limit);
  }

  /** Rows of the range, those of a part in order. */
  async #readRows(reading: Reading, rowsMax: number): Promise<PointColumns> {
    const { series, isString, alive } = reading;
    const rows = await this.#parts.client.query(
      sql`SELECT t, ${valueColumn(isString)}${alive.column} FROM points
        WHERE ${within([series], reading)}${alive.condition} LIMIT ${rowsMax}`,
      inOrder,
    );
    return columnsIn(requireAlive(rows), isString);
  }

  async #readFinal(reading: Reading, limit: number): Promise<PointColumns> {
    const order = this.#parts.isOrderedByFinal ? noSql : sql` ORDER BY series, t`;
    const { series, isString, alive } = reading;
    const rows = await this.#parts.client.query(
      sql`SELECT t, ${valueColumn(isString)}${alive.column} FROM points FINAL
        WHERE ${within([series], reading)}${alive.condition}${order} LIMIT ${limit}`,
      inOrder,
    );
    return columnsIn(requireAlive(rows), isString);
  }
}

const valueColumn = (isString: boolean) => (isString ? sql`s` : sql`v`);

const columnsIn = (rows: NativeRows, isString: boolean): PointColumns => ({
  times: rows.numbers("t"),
  values: isString ? rows.strings("s") : rows.numbers("v"),
});

/** The rows as runs of ascending times that follow each other; undefined if they overlap. */
function inOrderOfTime(points: PointColumns): PointColumns | undefined {
  const { times, values } = points;
  const runs: { from: number; to: number }[] = [];
  for (let from = 0, at = 1; at <= times.length; at++) {
    if (at < times.length && times[at]! > times[at - 1]!) continue;
    runs.push({ from, to: at });
    from = at;
  }
  if (runs.length <= 1) return points;
  runs.sort((a, b) => times[a.from]! - times[b.from]!);
  const overlaps = runs.some(({ from }, at) => at > 0 && times[from]! <= times[runs[at - 1]!.to - 1]!);
  if (overlaps) return undefined;
  const kind = kindOf(!(values instanceof Float64Array));
  return concatPoints(
    runs.map(({ from, to }) => viewPoints(points, from, to)),
    kind,
  );
}

const columnsOf = ({ timeMs, value }: Point): PointColumns => ({
  times: Float64Array.of(timeMs),
  values: typeof value === "string" ? [value] : Float64Array.of(value),
});
