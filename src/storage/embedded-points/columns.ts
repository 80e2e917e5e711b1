// Columns of points in ascending time, and the few things the engine does with them.
import type { PointColumns } from "../points.ts";

export type Values = PointColumns["values"];

/** Which of two separate sets of points of a series is meant: its numbers or its strings. */
export type Kind = 0 | 1;
export const numbers: Kind = 0;
export const strings: Kind = 1;
export const kindOf = (isString: boolean): Kind => (isString ? strings : numbers);

/** No points, of numbers or of strings. */
export function emptyColumns(kind: Kind): PointColumns {
  return { times: new Float64Array(0), values: kind === strings ? [] : new Float64Array(0) };
}

/** Index of the first of the ascending times in [from, to) at or after `atMs`; `to` when there is none. */
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

/** The points with indexes in [from, to), in arrays of their own. */
export function cut({ times, values }: PointColumns, from: number, to: number): PointColumns {
  return { times: times.slice(from, to), values: values.slice(from, to) };
}

/** As `cut`, but where they are numbers in the same memory: to be looked at before that changes. */
export function view({ times, values }: PointColumns, from: number, to: number): PointColumns {
  const isText = Array.isArray(values);
  return {
    times: times.subarray(from, to),
    values: isText ? values.slice(from, to) : (values as Float64Array).subarray(from, to),
  };
}

/** The points with indexes in [from, to). */
export interface Stretch {
  readonly points: PointColumns;
  readonly from: number;
  readonly to: number;
}

/**
 * The points of all stretches one after the other, ascending and of one kind, in memory of their own. Both
 * columns of numbers lie in one buffer: moving it to another thread costs about half of what two do.
 */
export function gather(stretches: readonly Stretch[], kind: Kind): PointColumns {
  const count = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  const room = new Float64Array(kind === strings ? count : count * 2);
  const times = room.subarray(0, count);
  const values: string[] | Float64Array = kind === strings ? [] : room.subarray(count);
  let at = 0;
  for (const { points, from, to } of stretches) {
    times.set(points.times.subarray(from, to), at);
    if (Array.isArray(values))
      for (let index = from; index < to; index++) values.push(points.values[index] as string);
    else values.set((points.values as Float64Array).subarray(from, to), at);
    at += to - from;
  }
  return { times, values };
}

/** The points of all pieces one after the other; the pieces are ascending and of one kind. */
export function join(pieces: readonly PointColumns[], kind: Kind): PointColumns {
  if (pieces.length === 1) return pieces[0]!;
  if (kind === strings) {
    return {
      times: joinNumbers(pieces.map((one) => one.times)),
      values: pieces.flatMap((one) => one.values as string[]),
    };
  }
  return {
    times: joinNumbers(pieces.map((one) => one.times)),
    values: joinNumbers(pieces.map((one) => one.values as Float64Array)),
  };
}

/** Both sets of points in one; of equal times the point of `newer` wins. */
export function merge(older: PointColumns, newer: PointColumns): PointColumns {
  const [a, b] = [older.times, newer.times];
  const times = new Float64Array(a.length + b.length);
  const values = Array.isArray(newer.values)
    ? new Array<string>(times.length)
    : new Float64Array(times.length);
  const [target, from, into] = [values as unknown[], older.values as unknown[], newer.values as unknown[]];
  // Mostly a few late points fall between many: what lies before and behind them all is copied as a whole.
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
  return count === times.length ? { times, values } : cut({ times, values }, 0, count);
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

function joinNumbers(pieces: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(pieces.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
