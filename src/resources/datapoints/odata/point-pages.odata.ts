// Pages of points and of buckets over OData: of several series one after the other, as rows or by columns.
import type { RequestContext } from "../../../context.ts";
import type { TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { Cells, ColumnPage, Run } from "../../../odata/columns.ts";
import type { SetQuestion } from "../../../odata/model.ts";
import type { Filter } from "../../../query/filter.ts";
import { type LengthBound, lengthOfValue } from "../../../query/length-bound.ts";
import type { RowsToFilter } from "../../../query/memory-filter.compute.ts";
import { filterRows } from "../../../query/memory-filter.ts";
import type { Page, Position } from "../../../query/page.ts";
import type { AggregateName } from "../../../storage/points.ts";
import type { SeriesRef } from "../../timeseries/timeseries.ts";
import { countPoints, readMany, type SeriesQuestion } from "../datapoints.ts";
import type { Rows } from "../limited-rows.ts";

/** A point or a bucket; of a bucket, the aggregates that were asked. */
export interface PointRow extends Partial<Record<AggregateName, number>> {
  readonly seriesId: number;
  readonly timeMs: number;
  readonly value?: number | string;
}

/** What the property of an aggregate is called. */
export const propertyOf = (name: AggregateName) => name.charAt(0).toUpperCase() + name.slice(1);

/** What is read: these series one after the other, each in ascending time. */
export interface Plan {
  readonly series: readonly SeriesRef[];
  readonly range: TimeRange;
  /** What else the rows must meet; no store can say that of points. */
  readonly rest: Filter;
  readonly aggregates?: NonNullable<SeriesQuestion["aggregates"]>;
  /**
   * Buckets in which none of these has a value are left out; every bucket with a point has one of them when
   * none is named.
   */
  readonly selected?: readonly AggregateName[];
}

/** Rows of one series that meet the plan, by columns: of points their values, of buckets the aggregates. */
interface Chunk {
  /** Of the series in the plan. */
  readonly at: number;
  readonly seriesId: number;
  readonly times: Float64Array;
  readonly columns: Rows["columns"];
}

/** A chunk with how much was read for it, and how far. */
interface Scanned {
  readonly chunk: Chunk;
  readonly scanned: number;
  readonly lastMs: number;
}

/** All rows of the plan from a position on; `most` is about how many the reader will take. */
async function* chunksOf(
  ctx: RequestContext,
  plan: Plan,
  { after, most }: { readonly after: readonly number[] | undefined; readonly most: number },
): AsyncGenerator<Scanned> {
  const { series, range, rest, aggregates } = plan;
  const { bucketMs } = aggregates?.granularity ?? { bucketMs: 1 };
  const chunkMax = aggregates ? limits.bucketsPerReadMax : limits.pointsPerReadMax;
  const limit = Math.min(chunkMax, rest.kind === "everything" ? most + 1 : chunkMax);
  const [firstAt = 0, afterMs] = after ?? [];
  let startMs = afterMs === undefined ? range.startMs : afterMs + bucketMs;
  for (let at = firstAt; at < series.length; at++, startMs = range.startMs)
    for (let scanned = limit; scanned === limit && startMs < range.endMs; ) {
      scanned = 0;
      const seriesId = series[at]!.id;
      const question = {
        key: seriesId,
        range: { ...range, startMs },
        limit,
        ...(aggregates && { aggregates }),
      };
      const [answer] = await readMany(ctx, [question]);
      for await (const { times, columns } of answer!.rows.read()) {
        scanned += times.length;
        if (times.length === 0) continue;
        const lastMs = times.at(-1)!;
        startMs = lastMs + bucketMs;
        const chunk = await kept(ctx, { at, seriesId, times, columns }, plan);
        yield { chunk, scanned: times.length, lastMs };
      }
    }
}

/**
 * Without buckets that have no point or no selected value, and rows that do not meet what the store could not
 * be asked.
 */
async function kept(ctx: RequestContext, chunk: Chunk, plan: Plan): Promise<Chunk> {
  const { rest, aggregates } = plan;
  const isThere = presence(chunk, plan);
  if (rest.kind === "everything" && chunk.times.every((_, at) => isThere(at))) return chunk;
  const met =
    rest.kind === "everything"
      ? [...chunk.times.keys()]
      : (await filterRows(ctx, rest, rowsToSift(chunk, aggregates))).indexes;
  const places = met.filter(isThere);
  const picked = <Column extends Float64Array | readonly string[]>(column: Column) =>
    column instanceof Float64Array
      ? Float64Array.from(places, (at) => column[at]!)
      : places.map((at) => (column as readonly string[])[at]!);
  return { ...chunk, times: picked(chunk.times) as Float64Array, columns: chunk.columns.map(picked) };
}

/** Whether a row appears: a point always, a bucket with a point and a selected value. */
function presence({ columns }: Chunk, { aggregates, selected = [] }: Plan): (at: number) => boolean {
  if (!aggregates) return () => true;
  const columnOf = (name: AggregateName) => columns[aggregates.wanted.indexOf(name)] as Float64Array;
  const counts = columnOf("count");
  if (selected.length === 0) return (at) => counts[at]! > 0;
  const values = selected.map(columnOf);
  return (at) => counts[at]! > 0 && values.some((column) => Number.isFinite(column[at]!));
}

/** The columns under the names of the fields that `rowsOf` gives. */
function rowsToSift({ seriesId, times, columns }: Chunk, aggregates: Plan["aggregates"]): RowsToFilter {
  const named = columns.map((column, at) => [aggregates ? aggregates.wanted[at]! : "value", column] as const);
  return {
    count: times.length,
    columns: {
      seriesId: new Float64Array(times.length).fill(seriesId),
      timeMs: times,
      ...Object.fromEntries(named),
    },
    json: [],
    charactersMax: Number.POSITIVE_INFINITY,
  };
}

const firstOf = (chunk: Chunk, count: number): Chunk => ({
  ...chunk,
  times: chunk.times.subarray(0, count),
  columns: chunk.columns.map((column) =>
    column instanceof Float64Array ? column.subarray(0, count) : column.slice(0, count),
  ),
});

/** Each row by itself; aggregates without a value are left out. */
function rowsOf({ seriesId, times, columns }: Chunk, aggregates: Plan["aggregates"]): PointRow[] {
  const rows: PointRow[] = [];
  for (let at = 0; at < times.length; at++) {
    const row: Record<string, number | string> = { seriesId, timeMs: times[at]! };
    for (const [place, column] of columns.entries()) {
      const value = column[at]!;
      if (!aggregates) row["value"] = value;
      else if (!Number.isNaN(value)) row[aggregates.wanted[place]!] = value;
    }
    rows.push(row as unknown as PointRow);
  }
  return rows;
}

interface ChunkPage {
  readonly chunks: readonly Chunk[];
  readonly next?: Position;
}

/** A page ends where it is full, or where a filter by values has been held against enough of them. */
async function chunkPage(ctx: RequestContext, plan: Plan, page: SetQuestion["page"]): Promise<ChunkPage> {
  const chunks: Chunk[] = [];
  let [room, looked] = [page.limit, 0];
  const after = page.after as readonly number[] | undefined;
  for await (const { chunk, scanned, lastMs } of chunksOf(ctx, plan, { after, most: page.limit })) {
    if (room > 0 && chunk.times.length > 0) chunks.push(firstOf(chunk, room));
    if (chunk.times.length > room) {
      const last = chunks.at(-1)!;
      return { chunks, next: [last.at, last.times.at(-1)!] };
    }
    room -= chunk.times.length;
    if (page.bound && isTooLong(chunk, page.bound)) return { chunks, next: [chunk.at, lastMs] };
    looked += scanned;
    if (looked >= limits.odataPointsScannedMax) return { chunks, next: [chunk.at, lastMs] };
  }
  return { chunks };
}

/** Counts the strings of a chunk; numbers are too short to fill a page. */
function isTooLong({ columns: [values] }: Chunk, bound: LengthBound): boolean {
  if (values === undefined || values instanceof Float64Array) return false;
  const length = values.reduce((sum, value) => sum + lengthOfValue(value), 0);
  const isCut = length > bound.left;
  bound.count({ length, isCut });
  return isCut;
}

/** Rows of a page. */
export async function pageOf(
  ctx: RequestContext,
  plan: Plan,
  page: SetQuestion["page"],
): Promise<Page<PointRow>> {
  const { chunks, ...rest } = await chunkPage(ctx, plan, page);
  return { items: chunks.flatMap((chunk) => rowsOf(chunk, plan.aggregates)), ...rest };
}

/** The same page of numbers, as it is written by columns. */
export async function columnsOf(
  ctx: RequestContext,
  plan: Plan,
  page: SetQuestion["page"],
): Promise<ColumnPage> {
  const { chunks, ...rest } = await chunkPage(ctx, plan, page);
  const wanted = plan.aggregates?.wanted ?? [];
  const runs = chunks.map(({ seriesId, times, columns }): Run => {
    const doubles = columns as readonly Float64Array[];
    const own: Record<string, Cells> = {
      Id: { kind: "numbered", beginning: `${seriesId}_`, values: times },
      TimeStamp: { kind: "times", values: times },
      TimeseriesId: { kind: "same", text: String(seriesId) },
    };
    if (!plan.aggregates) own["Value"] = { kind: "doubles", values: doubles[0]! };
    for (const [at, name] of wanted.entries())
      own[propertyOf(name)] = { kind: "doubles", values: doubles[at]!, isNaNAbsent: true };
    return { count: times.length, cells: own };
  });
  return { runs, ...rest };
}

/** How many rows there are, of points without reading them where the store can count. */
export async function countOf(ctx: RequestContext, plan: Plan): Promise<number> {
  let count = 0;
  if (plan.rest.kind === "everything" && !plan.aggregates) {
    for (const { id } of plan.series) count += await countPoints(ctx, id, plan.range);
    return count;
  }
  for await (const { chunk } of chunksOf(ctx, plan, { after: undefined, most: Number.POSITIVE_INFINITY }))
    count += chunk.times.length;
  return count;
}
