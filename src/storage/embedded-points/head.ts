// The head of one series: its newest points, in memory. They are unique in time; the point written last wins.
//
// Points in order, the usual case, are appended. Points out of order are kept unsorted after the sorted ones.
// A read or a flush sorts them, and so does an addition when there are more of them than sorted ones.

import { freeChunk } from "../../lib/free-memory.ts";
import {
  firstAtOrAfter,
  mergePoints,
  noPointsOf,
  type PointValues,
  slicePoints,
  stringKind,
  type ValueKind,
} from "../point-columns.ts";
import type { PointColumns } from "../points.ts";
import { HeadChanges } from "./head-changes.ts";

const capacityMin = 16;
/** Factor by which the capacity of columns grows. */
const growth = { small: 2, large: 1.5, smallMax: 1024 };
/** So many points may be unsorted even when fewer are sorted. */
const unsortedMin = 4096;
/**
 * How many points from the end a single late point is inserted directly. Moving so many points costs less
 * than to leave it unsorted, after which all later points count as late until the head is sorted.
 */
const insertDistanceMax = 1024;

/** Numbers the heads of a shard and their changes, in order. */
export class HeadVersions {
  #last = 0;

  next(): number {
    return ++this.#last;
  }
}

export class Head {
  readonly series: number;
  readonly kind: ValueKind;
  /** Number of points that were left after the last flush. */
  countAfterFlush = 0;
  #times: Float64Array;
  #values: PointValues;
  #count: number;
  /** The points before this index are sorted and unique. */
  #sorted: number;
  readonly #versions: HeadVersions;
  readonly #firstVersion: number;
  #changes: HeadChanges | undefined;

  /** With `copied`, the head has the points of another one, in order, its first version and its changes. */
  constructor(
    series: number,
    kind: ValueKind,
    versions: HeadVersions,
    copied?: {
      readonly version: number;
      readonly changes: HeadChanges | undefined;
      readonly points: PointColumns;
    },
  ) {
    this.series = series;
    this.kind = kind;
    this.#versions = versions;
    this.#firstVersion = copied?.version ?? versions.next();
    this.#changes = copied?.changes;
    const { times, values } = copied?.points ?? noPointsOf(kind);
    this.#times = times;
    this.#values = values;
    this.#count = times.length;
    this.#sorted = times.length;
  }

  /** Number of points, including those that a later point with the same time will replace. */
  get count(): number {
    return this.#count;
  }

  /** Of the last change of points other than those added at the end or moved to blocks. */
  get version(): number {
    return this.#changes?.lastVersion ?? this.#firstVersion;
  }

  /**
   * Whether the head had the same points in [startMs, endMs) when it had this version, except for points that
   * were added at its end or moved to blocks since. False for a version of another head of the series.
   */
  isUnchanged(version: number, startMs: number, endMs: number): boolean {
    if (version < this.#firstVersion) return false;
    return this.#changes === undefined || this.#changes.isUnchangedSince(version, startMs, endMs);
  }

  #changed(fromMs: number, toMs: number): void {
    const version = this.#versions.next();
    if (this.#changes === undefined) this.#changes = new HeadChanges(version, fromMs, toMs);
    else this.#changes.add(version, fromMs, toMs);
  }

  /** Adds copies of the points with indexes in [from, to), in any order of time. */
  add(points: PointColumns, from: number, to: number): void {
    this.#reserve(to - from);
    if (to - from === 1 && this.#insertNearEnd(points, from)) return;
    const { times } = points;
    let at = from;
    if (this.#sorted === this.#count) {
      let last = this.#count === 0 ? -Infinity : this.#times[this.#count - 1]!;
      while (at < to && times[at]! > last) last = times[at++]!;
      this.#copy(points, from, at);
      this.#sorted = this.#count;
    }
    if (at === to) return;
    let [fromMs, toMs] = [Infinity, -Infinity];
    for (let late = at; late < to; late++) {
      fromMs = Math.min(fromMs, times[late]!);
      toMs = Math.max(toMs, times[late]!);
    }
    this.#changed(fromMs, toMs);
    this.#copy(points, at, to);
    if (this.#count - this.#sorted > Math.max(unsortedMin, this.#sorted)) this.#sortAll();
  }

  /**
   * Inserts a point at its position, if that is near the end: points often arrive out of order by a few.
   * Returns whether it did.
   */
  #insertNearEnd({ times, values }: PointColumns, index: number): boolean {
    if (this.#sorted !== this.#count) return false;
    const timeMs = times[index]!;
    const own = this.#times;
    let at = this.#count;
    const first = Math.max(0, at - insertDistanceMax);
    if (first > 0 && own[first]! >= timeMs) return false;
    if (at > 0 && own[at - 1]! >= timeMs) at = firstAtOrAfter(own, timeMs, first, at - 1);
    if (at < this.#count) this.#changed(timeMs, timeMs);
    const isTaken = at < this.#count && own[at] === timeMs;
    if (!isTaken) this.#openSlot(at);
    own[at] = timeMs;
    (this.#values as (number | string)[])[at] = values[index]!;
    return true;
  }

  /** Moves the points from this index on by one. */
  #openSlot(at: number): void {
    const count = this.#count++;
    this.#sorted = this.#count;
    if (at === count) return;
    this.#times.copyWithin(at + 1, at, count);
    if (Array.isArray(this.#values)) this.#values.splice(at, 0, "");
    else (this.#values as Float64Array).copyWithin(at + 1, at, count);
  }

  /** All points, in order, valid until the next change: views, or the array of strings itself. */
  points(): PointColumns {
    this.#sortAll();
    const values = this.#values;
    return {
      times: this.#times.subarray(0, this.#count),
      values: Array.isArray(values) ? values : (values as Float64Array).subarray(0, this.#count),
    };
  }

  /** Number of points in [startMs, endMs). */
  countBetween(startMs: number, endMs: number): number {
    const { times } = this.points();
    const from = firstAtOrAfter(times, startMs);
    return firstAtOrAfter(times, endMs, from) - from;
  }

  /** Removes the points with indexes in [from, to) of `points()`, which are in blocks now. */
  remove(from: number, to: number): void {
    if (to <= from) return;
    this.#sortAll();
    this.#times.copyWithin(from, to, this.#count);
    if (Array.isArray(this.#values)) this.#values.splice(from, to - from);
    else (this.#values as Float64Array).copyWithin(from, to, this.#count);
    this.#count -= to - from;
    this.#sorted = this.#count;
    if (this.#count === 0) this.#free();
  }

  #free(): void {
    freeChunk(this.#times);
    if (!Array.isArray(this.#values)) freeChunk(this.#values as Float64Array);
    const { times, values } = noPointsOf(this.kind);
    this.#times = times;
    this.#values = values;
  }

  removeBetween(startMs: number, endMs: number): void {
    const { times } = this.points();
    const from = firstAtOrAfter(times, startMs);
    const to = firstAtOrAfter(times, endMs, from);
    if (to > from) this.#changed(startMs, endMs);
    this.remove(from, to);
  }

  #reserve(more: number): void {
    const needed = this.#count + more;
    if (needed <= this.#times.length) return;
    const before = this.#times.length;
    const factor = before < growth.smallMax ? growth.small : growth.large;
    const capacity = Math.max(capacityMin, needed, Math.ceil(before * factor));
    const times = new Float64Array(capacity);
    times.set(this.#times.subarray(0, this.#count));
    freeChunk(this.#times);
    this.#times = times;
    if (this.kind === stringKind) return;
    const values = new Float64Array(capacity);
    values.set((this.#values as Float64Array).subarray(0, this.#count));
    freeChunk(this.#values as Float64Array);
    this.#values = values;
  }

  #copy({ times, values }: PointColumns, from: number, to: number): void {
    const at = this.#count;
    this.#count += to - from;
    if (this.kind === stringKind) {
      for (let i = from; i < to; i++) (this.#values as string[]).push(values[i] as string);
    } else if (to - from > 32) {
      (this.#values as Float64Array).set((values as Float64Array).subarray(from, to), at);
    } else {
      for (let i = from; i < to; i++) (this.#values as Float64Array)[at + i - from] = values[i] as number;
    }
    if (to - from > 32) this.#times.set(times.subarray(from, to), at);
    else for (let i = from; i < to; i++) this.#times[at + i - from] = times[i]!;
  }

  #sortAll(): void {
    if (this.#sorted === this.#count) return;
    const all = { times: this.#times, values: this.#values };
    const merged = mergePoints(
      slicePoints(all, 0, this.#sorted),
      sortPoints(slicePoints(all, this.#sorted, this.#count)),
    );
    freeChunk(all.times);
    if (!Array.isArray(all.values)) freeChunk(all.values as Float64Array);
    this.#times = merged.times;
    this.#values = merged.values;
    this.#count = merged.times.length;
    this.#sorted = this.#count;
  }
}

/**
 * Sorts points; of those with the same time only the last remains. Points that are in order are not sorted
 * again. Of equal times the others remain, because they were written later.
 */
function sortPoints(points: PointColumns): PointColumns {
  const { times } = points;
  const inOrder = new Uint32Array(times.length);
  const outOfOrder = new Uint32Array(times.length);
  let [count, outOfOrderCount, last] = [0, 0, -Infinity];
  for (let index = 0; index < times.length; index++) {
    const timeMs = times[index]!;
    if (timeMs > last) {
      inOrder[count++] = index;
      last = timeMs;
    } else outOfOrder[outOfOrderCount++] = index;
  }
  if (outOfOrderCount === 0) return points;
  if (outOfOrderCount > count) return pickPoints(points, lastOfEach(times));
  const others = sortPoints(pickPoints(points, outOfOrder.subarray(0, outOfOrderCount)));
  return mergePoints(pickPoints(points, inOrder.subarray(0, count)), others);
}

/** Indexes in order of time; of points with the same time only the last. */
function lastOfEach(times: Float64Array): Uint32Array {
  const order = Uint32Array.from(times, (_, index) => index).sort((a, b) => times[a]! - times[b]! || a - b);
  return order.filter((one, index) => times[one] !== times[order[index + 1] ?? -1]);
}

function pickPoints({ times, values }: PointColumns, indexes: Uint32Array): PointColumns {
  const count = indexes.length;
  const pickedTimes = new Float64Array(count);
  const pickedValues = Array.isArray(values) ? new Array<string>(count) : new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const index = indexes[at]!;
    pickedTimes[at] = times[index]!;
    (pickedValues as (number | string)[])[at] = values[index]!;
  }
  return { times: pickedTimes, values: pickedValues };
}
