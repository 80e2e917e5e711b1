// Operations on columns of points in ascending order of time.
import type { PointColumns } from "./points.ts";

export type PointValues = PointColumns["values"];

/** The numbers and the strings of one series are stored as separate sets of points. */
export type ValueKind = 0 | 1;
export const numberKind: ValueKind = 0;
export const stringKind: ValueKind = 1;
export const kindOf = (isString: boolean): ValueKind => (isString ? stringKind : numberKind);

/** Empty columns. */
export function noPointsOf(kind: ValueKind): PointColumns {
  return { times: new Float64Array(0), values: kind === stringKind ? [] : new Float64Array(0) };
}

/** Index of the first of the ascending times in [from, to) that is at or after `atMs`; `to` without one. */
export function firstAtOrAfter(times: Float64Array, atMs: number, from = 0, to = times.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Copies the points with indexes in [from, to). */
export function slicePoints({ times, values }: PointColumns, from: number, to: number): PointColumns {
  return { times: times.slice(from, to), values: values.slice(from, to) };
}

/** As `slicePoints`, but numbers are views: valid until the columns change. */
export function viewPoints({ times, values }: PointColumns, from: number, to: number): PointColumns {
  return {
    times: times.subarray(from, to),
    values: Array.isArray(values) ? values.slice(from, to) : (values as Float64Array).subarray(from, to),
  };
}

/** The points with indexes in [from, to) of the columns. */
export interface PointRange {
  readonly points: PointColumns;
  readonly from: number;
  readonly to: number;
}

/**
 * Copies the points of all ranges, which are in order and of one kind. Both columns of numbers share one
 * buffer: transferring one to another thread costs half as much as two.
 */
export function concatRanges(ranges: readonly PointRange[], kind: ValueKind): PointColumns {
  const count = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  const buffer = new Float64Array(kind === stringKind ? count : count * 2);
  const times = buffer.subarray(0, count);
  const values: string[] | Float64Array = kind === stringKind ? [] : buffer.subarray(count);
  let at = 0;
  for (const { points, from, to } of ranges) {
    times.set(points.times.subarray(from, to), at);
    if (Array.isArray(values))
      for (let index = from; index < to; index++) values.push(points.values[index] as string);
    else values.set((points.values as Float64Array).subarray(from, to), at);
    at += to - from;
  }
  return { times, values };
}

/** Concatenates columns, which are in order and of one kind. A single one is returned as it is. */
export function concatPoints(all: readonly PointColumns[], kind: ValueKind): PointColumns {
  if (all.length === 1) return all[0]!;
  if (kind === stringKind) {
    return {
      times: concatNumbers(all.map((one) => one.times)),
      values: all.flatMap((one) => one.values as string[]),
    };
  }
  return {
    times: concatNumbers(all.map((one) => one.times)),
    values: concatNumbers(all.map((one) => one.values as Float64Array)),
  };
}

/** Merges both into new columns. Of two points with the same time, that of `newer` wins. */
export function mergePoints(older: PointColumns, newer: PointColumns): PointColumns {
  const [a, b] = [older.times, newer.times];
  const times = new Float64Array(a.length + b.length);
  const values = Array.isArray(newer.values)
    ? new Array<string>(times.length)
    : new Float64Array(times.length);
  const [target, from, into] = [values as unknown[], older.values as unknown[], newer.values as unknown[]];
  // Usually a few late points are merged into many: the points before and after all of these are copied in
  // bulk.
  let i = b.length === 0 ? a.length : firstAtOrAfter(a, b[0]!);
  copyTo({ times, values }, older, { from: 0, to: i, at: 0 });
  let count = i;
  for (let j = 0; j < b.length; j++) {
    const timeMs = b[j]!;
    for (; i < a.length && a[i]! < timeMs; i++, count++) {
      times[count] = a[i]!;
      target[count] = from[i];
    }
    if (i < a.length && a[i] === timeMs) i++;
    times[count] = timeMs;
    target[count++] = into[j];
  }
  copyTo({ times, values }, older, { from: i, to: a.length, at: count });
  count += a.length - i;
  return count === times.length ? { times, values } : slicePoints({ times, values }, 0, count);
}

function copyTo(
  target: PointColumns,
  { times, values }: PointColumns,
  { from, to, at }: { from: number; to: number; at: number },
): void {
  target.times.set(times.subarray(from, to), at);
  if (Array.isArray(values))
    for (let i = from; i < to; i++) (target.values as string[])[at + i - from] = values[i]!;
  else (target.values as Float64Array).set((values as Float64Array).subarray(from, to), at);
}

function concatNumbers(all: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(all.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const column of all) {
    joined.set(column, at);
    at += column.length;
  }
  return joined;
}
