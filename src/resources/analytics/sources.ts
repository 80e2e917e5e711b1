// Reads the samples of a search: the points of one series, or buckets of several.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateName } from "../../storage/points.ts";
import { readDataFrame } from "../datapoints/data-frame.ts";
import { prepareReads } from "../datapoints/datapoints.ts";
import type { LimitedRows } from "../datapoints/limited-rows.ts";
import type { SeriesKey } from "../timeseries/timeseries.ts";
import { type GapFilling, type Grid, GridRows } from "./matching/grid-rows.ts";
import type { Samples } from "./matching/window-search.ts";

export interface BucketColumn {
  readonly key: SeriesKey;
  readonly aggregate: AggregateName;
  readonly fill?: GapFilling;
}

/** Points have no grid: samples follow each other at any distance in time. */
export type Source =
  | { readonly kind: "points"; readonly key: SeriesKey }
  | {
      readonly kind: "buckets";
      readonly columns: readonly BucketColumn[];
      readonly granularity: Granularity;
    };

export const keysOf = (source: Source): readonly SeriesKey[] =>
  source.kind === "points" ? [source.key] : source.columns.map(({ key }) => key);

/** The time that a sample covers. */
export const sampleMs = (source: Source): number =>
  source.kind === "points" ? 1 : source.granularity.bucketMs;

export const gridOf = (source: Source, filledMax: number): Grid | undefined =>
  source.kind === "points"
    ? undefined
    : {
        bucketMs: source.granularity.bucketMs,
        fillings: source.columns.map(({ fill }) => fill),
        filledMax,
      };

/** Refuses unknown series (404). Empty buckets are left out. */
export async function* samplesIn(
  ctx: RequestContext,
  source: Source,
  range: TimeRange,
): AsyncGenerator<Samples> {
  for (let startMs: number | undefined = range.startMs; startMs !== undefined; ) {
    const rows = await pageFrom(ctx, source, { ...range, startMs });
    for await (const samples of rows.read()) if (samples.times.length > 0) yield samples;
    startMs = rows.nextMs;
  }
}

async function pageFrom(
  ctx: RequestContext,
  source: Source,
  range: TimeRange,
): Promise<LimitedRows<Float64Array>> {
  if (source.kind === "buckets") {
    const { columns, granularity } = source;
    return (await readDataFrame(ctx, { columns, granularity, range, limit: limits.frameRowsMax })).rows;
  }
  const [result] = await prepareReads(ctx, [{ key: source.key, range, limit: limits.pointsPerReadMax }]);
  return result!.rows as LimitedRows<Float64Array>;
}

/** All samples of the range by column, with gaps filled. Stops after `limits.searchWindowMax` + 1. */
export async function readWhole(ctx: RequestContext, source: Source, range: TimeRange): Promise<Samples> {
  const grid = gridOf(source, limits.searchWindowMax);
  const rows = grid && new GridRows(grid);
  const pieces: Samples[] = [];
  let count = 0;
  for await (const read of samplesIn(ctx, source, range)) {
    const samples = rows ? rows.add(read) : read;
    pieces.push(samples);
    count += samples.times.length;
    if (count > limits.searchWindowMax) break;
  }
  if (rows) pieces.push(rows.end());
  return {
    times: joined(pieces.map(({ times }) => times)),
    columns: keysOf(source).map((_, c) => joined(pieces.map(({ columns }) => columns[c]!))),
  };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Reads the window to search for. Refuses (400) one that is too short or too long, or that has a gap. */
export async function readWindow(
  ctx: RequestContext,
  { source, range, field }: { readonly source: Source; readonly range: TimeRange; readonly field: string },
): Promise<readonly Float64Array[]> {
  const { times, columns } = await readWhole(ctx, source, range);
  const unit = source.kind === "points" ? "points" : "buckets";
  const most = limits.searchWindowMax;
  // No row precedes the first bucket with points, and none follows the last one.
  const length = source.kind === "points" ? times.length : bucketsIn(range, source.granularity);
  const isWhole = times.length === length && columns.every((column) => column.every(Number.isFinite));
  if (length >= 2 && length <= most && isWhole) return columns;
  const expected = `a window of 2 to ${most} ${unit} without a gap`;
  const got = length > most ? `more than ${most} ${unit}` : isWhole ? `${length} ${unit}` : "a gap";
  throw fail("field-invalid", { field, expected, got });
}

function bucketsIn(range: TimeRange, granularity: Granularity): number {
  const { startMs, endMs } = wholeBuckets(range, granularity);
  return (endMs - startMs) / granularity.bucketMs;
}
