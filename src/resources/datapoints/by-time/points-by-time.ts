// Reads and writes single points of many series: those at given times, whatever else the series have.
import type { RequestContext } from "../../../context.ts";
import type { TimeRange } from "../../../lib/time.ts";
import { limits } from "../../../limits.ts";
import type { PointRuns, PointSeries } from "../../../storage/points.ts";

export type PointValue = number | string;

/** Points of one series; `isString` is the type of the series. */
export interface SeriesTimes extends PointSeries {
  /** Ascending, without repetition. */
  readonly times: readonly number[];
}

/**
 * The values at these times, by time; a time without a point is absent. The caller may read the series.
 */
export async function valuesAt(
  ctx: RequestContext,
  { series, isString, times }: SeriesTimes,
): Promise<ReadonlyMap<number, PointValue>> {
  const found = new Map<number, PointValue>();
  const endMs = (times.at(-1) ?? 0) + 1;
  let limit: number = limits.pointsMatchedFirst;
  for (let at = 0; at < times.length; ) {
    ctx.signal.throwIfAborted();
    const page = await ctx.points.scan({ series, isString, startMs: times[at]!, endMs, limit });
    const before = at;
    for (const [index, timeMs] of page.times.entries()) {
      while (times[at]! < timeMs) at += 1;
      if (times[at] === timeMs) found.set(times[at++]!, page.values[index]!);
    }
    if (page.times.length < limit) break;
    // Few of the points are wanted if they are far apart: then many short scans read less.
    const isDense = at - before > limit / 4;
    limit = isDense
      ? Math.min(limit * 2, limits.pointsMatchedMax)
      : Math.max(limit >> 1, limits.pointsMatchedFirst);
  }
  return found;
}

/** Whether the series has a point in the range. The caller may read the series. */
export async function hasPoint(
  ctx: RequestContext,
  { series, isString }: PointSeries,
  { startMs, endMs }: TimeRange,
): Promise<boolean> {
  return (await ctx.points.scan({ startMs, endMs, series, isString, limit: 1 })).times.length > 0;
}

export interface SinglePoint extends PointSeries {
  readonly timeMs: number;
  readonly value: PointValue;
}

/**
 * Writes all of these points or none. Each value has the type of its series, and the caller may write to it.
 */
export async function writePoints(ctx: RequestContext, points: readonly SinglePoint[]): Promise<void> {
  const numbers = points.filter(({ isString }) => !isString);
  const strings = points.filter(({ isString }) => isString);
  await ctx.points.append({
    ...(numbers.length > 0 && {
      numbers: { ...runsOf(numbers), values: Float64Array.from(numbers, ({ value }) => value as number) },
    }),
    ...(strings.length > 0 && {
      strings: { ...runsOf(strings), values: strings.map(({ value }) => value as string) },
    }),
  });
}

function runsOf(points: readonly SinglePoint[]): Omit<PointRuns<never>, "values"> {
  const series: number[] = [];
  const ends: number[] = [];
  for (const [at, point] of points.entries()) {
    if (point.series !== series.at(-1)) {
      series.push(point.series);
      ends.push(at);
    }
    ends[ends.length - 1] = at + 1;
  }
  return {
    series: Float64Array.from(series),
    ends: Uint32Array.from(ends),
    times: Float64Array.from(points, ({ timeMs }) => timeMs),
  };
}

/** Deletes the points in these ranges, some at a time: deletions at once share a sync of the disk. */
export async function deleteRanges(
  ctx: RequestContext,
  ranges: readonly (TimeRange & { readonly series: number })[],
): Promise<void> {
  for (let from = 0; from < ranges.length; from += limits.rangesDeletedAtOnce) {
    const some = ranges.slice(from, from + limits.rangesDeletedAtOnce);
    await Promise.all(
      some.map(({ series, startMs, endMs }) => ctx.points.delete(series, { startMs, endMs })),
    );
  }
}
