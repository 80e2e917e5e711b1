// Reads pages of points and of buckets for OData: several series in sequence, as rows or as columns.
import type { RequestContext } from "../../../context.ts";
import type { TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { ColumnBatch, ColumnPage, PropertyColumn } from "../../../odata/column-page.ts";
import type { EntitySetQuery } from "../../../odata/model.ts";
import type { Filter } from "../../../query/filter.ts";
import { type LengthBound, lengthOfValue } from "../../../query/length-bound.ts";
import type { RowsToFilter } from "../../../query/memory-filter.compute.ts";
import { filterRows } from "../../../query/memory-filter.ts";
import type { Page, Position } from "../../../query/page.ts";
import type { AggregateName } from "../../../storage/points.ts";
import type { SeriesRef } from "../../timeseries/timeseries.ts";
import { countPoints, prepareReads, type SeriesQuery } from "../datapoints.ts";
import type { Rows } from "../limited-rows.ts";

/** A point, or a bucket with the requested aggregates. */
export interface PointRow extends Partial<Record<AggregateName, number>> {
  readonly seriesId: number;
  readonly timeMs: number;
  readonly value?: number | string;
}

/** The property name of an aggregate: `StepInterpolation`. */
export const propertyOf = (name: AggregateName) => name.charAt(0).toUpperCase() + name.slice(1);

/** A read of these series in sequence, each in ascending time. */
export interface Plan {
  readonly series: readonly SeriesRef[];
  readonly range: TimeRange;
  /** The part of the filter that the points store cannot evaluate. */
  readonly rest: Filter;
  readonly aggregates?: NonNullable<SeriesQuery["aggregates"]>;
  /**
   * Buckets without a value for any of these are left out. Without names, all buckets with a point are read.
   */
  readonly selected?: readonly AggregateName[];
}

/** Rows of one series that match the plan, as columns: the values of points, or the aggregates of buckets. */
interface Chunk {
  /** The position of the series in the plan. */
  readonly at: number;
  readonly seriesId: number;
  readonly times: Float64Array;
  readonly columns: Rows["columns"];
}

/** A chunk, the number of rows read for it, and the time of the last one. */
interface Scanned {
  readonly chunk: Chunk;
  readonly scanned: number;
  readonly lastMs: number;
}

/** Reads the rows of a plan from a position on. The reader takes about `most` of them. */
async function* chunksOf(
  ctx: RequestContext,
  plan: Plan,
  { after, most }: { readonly after: readonly number[] | undefined; readonly most: number },
): AsyncGenerator<Scanned> {
  const { series, range, rest, aggregates } = plan;
  const chunkMax = aggregates ? limits.bucketsPerReadMax : limits.pointsPerReadMax;
  const limit = Math.min(chunkMax, rest.kind === "everything" ? most + 1 : chunkMax);
  const [firstAt = 0, afterMs] = after ?? [];
  let fromMs = afterMs === undefined ? undefined : afterMs + 1;
  for (let at = firstAt; at < series.length; at++, fromMs = undefined)
    for (let scanned = limit; scanned === limit && (fromMs ?? range.startMs) < range.endMs; ) {
      scanned = 0;
      const seriesId = series[at]!.id;
      const query = {
        key: seriesId,
        range,
        limit,
        ...(fromMs !== undefined && { fromMs }),
        ...(aggregates && { aggregates }),
      };
      const [result] = await prepareReads(ctx, [query]);
      for await (const { times, columns } of result!.rows.read()) {
        scanned += times.length;
        if (times.length === 0) continue;
        const lastMs = times.at(-1)!;
        fromMs = lastMs + 1;
        const chunk = await matching(ctx, { at, seriesId, times, columns }, plan);
        yield { chunk, scanned: times.length, lastMs };
      }
    }
}

/**
 * The rows of a chunk that match the filter, without buckets that have no point or no selected value.
 */
async function matching(ctx: RequestContext, chunk: Chunk, plan: Plan): Promise<Chunk> {
  const { rest, aggregates } = plan;
  const isShown = shownRows(chunk, plan);
  if (rest.kind === "everything" && chunk.times.every((_, at) => isShown(at))) return chunk;
  const met =
    rest.kind === "everything"
      ? [...chunk.times.keys()]
      : (await filterRows(ctx, rest, columnsToFilter(chunk, aggregates))).indexes;
  const positions = met.filter(isShown);
  const picked = <Column extends Float64Array | readonly string[]>(column: Column) =>
    column instanceof Float64Array
      ? Float64Array.from(positions, (at) => column[at]!)
      : positions.map((at) => (column as readonly string[])[at]!);
  return { ...chunk, times: picked(chunk.times) as Float64Array, columns: chunk.columns.map(picked) };
}

/** Tells whether a row is shown: always for points, for buckets if they have a point and a selected value. */
function shownRows({ columns }: Chunk, { aggregates, selected = [] }: Plan): (at: number) => boolean {
  if (!aggregates) return () => true;
  const columnOf = (name: AggregateName) => columns[aggregates.names.indexOf(name)] as Float64Array;
  const counts = columnOf("count");
  if (selected.length === 0) return (at) => counts[at]! > 0;
  const values = selected.map(columnOf);
  return (at) => counts[at]! > 0 && values.some((column) => Number.isFinite(column[at]!));
}

/** The columns under the field names of `rowsOf`, for the memory filter. */
function columnsToFilter({ seriesId, times, columns }: Chunk, aggregates: Plan["aggregates"]): RowsToFilter {
  const named = columns.map((column, at) => [aggregates ? aggregates.names[at]! : "value", column] as const);
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

/** The rows as objects, without aggregates that have no value. */
function rowsOf({ seriesId, times, columns }: Chunk, aggregates: Plan["aggregates"]): PointRow[] {
  const rows: PointRow[] = [];
  for (let at = 0; at < times.length; at++) {
    const row: Record<string, number | string> = { seriesId, timeMs: times[at]! };
    for (const [index, column] of columns.entries()) {
      const value = column[at]!;
      if (!aggregates) row["value"] = value;
      else if (!Number.isNaN(value)) row[aggregates.names[index]!] = value;
    }
    rows.push(row as unknown as PointRow);
  }
  return rows;
}

interface ChunkPage {
  readonly chunks: readonly Chunk[];
  readonly next?: Position;
}

/** A page ends when it is full, or after `odataPointsScannedMax` rows have been filtered. */
async function chunkPage(ctx: RequestContext, plan: Plan, page: EntitySetQuery["page"]): Promise<ChunkPage> {
  const chunks: Chunk[] = [];
  let [left, scannedRows] = [page.limit, 0];
  const after = page.after as readonly number[] | undefined;
  for await (const { chunk, scanned, lastMs } of chunksOf(ctx, plan, { after, most: page.limit })) {
    if (left > 0 && chunk.times.length > 0) chunks.push(firstOf(chunk, left));
    if (chunk.times.length > left) {
      const last = chunks.at(-1)!;
      return { chunks, next: [last.at, last.times.at(-1)!] };
    }
    left -= chunk.times.length;
    if (page.bound && isTooLong(chunk, page.bound)) return { chunks, next: [chunk.at, lastMs] };
    scannedRows += scanned;
    if (scannedRows >= limits.odataPointsScannedMax) return { chunks, next: [chunk.at, lastMs] };
  }
  return { chunks };
}

/** Counts the characters of a chunk's strings. Numbers are too short to matter. */
function isTooLong({ columns: [values] }: Chunk, bound: LengthBound): boolean {
  if (values === undefined || values instanceof Float64Array) return false;
  const length = values.reduce((sum, value) => sum + lengthOfValue(value), 0);
  const isCut = length > bound.left;
  bound.count({ length, isCut });
  return isCut;
}

/** A page as rows. */
export async function pageOf(
  ctx: RequestContext,
  plan: Plan,
  page: EntitySetQuery["page"],
): Promise<Page<PointRow>> {
  const { chunks, ...rest } = await chunkPage(ctx, plan, page);
  return { items: chunks.flatMap((chunk) => rowsOf(chunk, plan.aggregates)), ...rest };
}

/** A page of numbers as columns, which are written without an object for each row. */
export async function columnsOf(
  ctx: RequestContext,
  plan: Plan,
  page: EntitySetQuery["page"],
): Promise<ColumnPage> {
  const { chunks, ...rest } = await chunkPage(ctx, plan, page);
  const names = plan.aggregates?.names ?? [];
  const runs = chunks.map(({ seriesId, times, columns }): ColumnBatch => {
    const doubles = columns as readonly Float64Array[];
    const own: Record<string, PropertyColumn> = {
      Id: { kind: "numbered", beginning: `${seriesId}_`, values: times },
      TimeStamp: { kind: "times", values: times },
      TimeseriesId: { kind: "same", text: String(seriesId) },
    };
    if (!plan.aggregates) own["Value"] = { kind: "doubles", values: doubles[0]! };
    for (const [at, name] of names.entries())
      own[propertyOf(name)] = { kind: "doubles", values: doubles[at]!, isNaNAbsent: true };
    return { count: times.length, columns: own };
  });
  return { batches: runs, ...rest };
}

/** The number of rows. The store counts points without a filter, without reading them. */
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
