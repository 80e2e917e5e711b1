// The newest points of one series in memory: sorted, unique in time, the last written wins.
//
// Points in order, the usual case, are copied to the end. Points out of order wait unsorted behind them until
// somebody reads, flushes, or as many wait as are sorted: sorting then costs O(n log n) over all of them.
import type { PointColumns } from "../points.ts";
import { cut, firstAtOrAfter, type Kind, merge, strings, type Values } from "./columns.ts";

const capacityMin = 16;
/**
 * So many points are kept as they come: of a million series that have a few each, columns would fill a GB.
 */
const fewMax = 8;
/** Small heads are many and grow together. */
const growth = { small: 2, large: 1.5, smallMax: 1024 };
const unsortedMin = 4096;
/** Points that one of the near past may pass. */
const nearEnd = 16;

const noTimes = new Float64Array(0);

export class Head {
  readonly series: number;
  readonly kind: Kind;
  /** How many points were left when blocks were last made of the others. */
  countAfterFlush = 0;
  /** Time and value of the first points in turn, until there are more, or others, than fit here. */
  #few: number[] | undefined;
  #times: Float64Array = noTimes;
  #values: Values;
  #count = 0;
  /** The points below this index are sorted and unique. */
  #sorted = 0;

  constructor(series: number, kind: Kind) {
    this.series = series;
    this.kind = kind;
    this.#values = kind === strings ? [] : noTimes;
    if (kind !== strings) this.#few = [];
  }

  /** Points held, those that a later one with the same time will replace included. */
  get count(): number {
    return this.#count;
  }

  /** Takes in the points with indexes in [from, to), in any order of time. */
  add(points: PointColumns, from: number, to: number): void {
    if (to - from === 1 && this.#few !== undefined && this.#addToFew(this.#few, points, from)) return;
    this.#reserve(to - from);
    if (to - from === 1 && this.#putNearEnd(points, from)) return;
    const { times } = points;
    let at = from;
    if (this.#sorted === this.#count) {
      let last = this.#count === 0 ? -Infinity : this.#times[this.#count - 1]!;
      while (at < to && times[at]! > last) last = times[at++]!;
      this.#copy(points, from, at);
      this.#sorted = this.#count;
    }
    if (at === to) return;
    this.#copy(points, at, to);
    if (this.#count - this.#sorted > Math.max(unsortedMin, this.#sorted)) this.#settle();
  }

  /** Adds one point behind those that are there; says whether it is done. */
  #addToFew(few: number[], { times, values }: PointColumns, index: number): boolean {
    const timeMs = times[index]!;
    if (few.length >= 2 * fewMax || few.at(-2)! >= timeMs) return false;
    few.push(timeMs, values[index] as number);
    this.#sorted = ++this.#count;
    return true;
  }

  /** From here on the points are in columns. */
  #spread(): void {
    const few = this.#few;
    if (few === undefined) return;
    this.#few = undefined;
    if (few.length === 0) return;
    const [times, values] = [new Float64Array(capacityMin), new Float64Array(capacityMin)];
    for (let i = 0; i < this.#count; i++) {
      times[i] = few[2 * i]!;
      values[i] = few[2 * i + 1]!;
    }
    [this.#times, this.#values] = [times, values];
  }

  /**
   * Puts one point where it belongs, if that is at the end of the sorted ones or little before it: scans
   * often come out of order by one or two. Says whether it is done.
   */
  #putNearEnd({ times, values }: PointColumns, index: number): boolean {
    if (this.#sorted !== this.#count) return false;
    const timeMs = times[index]!;
    const own = this.#times;
    let at = this.#count;
    const first = Math.max(0, at - nearEnd);
    while (at > first && own[at - 1]! >= timeMs) at--;
    if (at > 0 && at === first && own[at - 1]! >= timeMs) return false;
    const isTaken = at < this.#count && own[at] === timeMs;
    if (!isTaken) this.#makeRoom(at);
    own[at] = timeMs;
    (this.#values as (number | string)[])[at] = values[index]!;
    return true;
  }

  #makeRoom(at: number): void {
    const count = this.#count++;
    this.#sorted = this.#count;
    if (at === count) return;
    this.#times.copyWithin(at + 1, at, count);
    if (Array.isArray(this.#values)) this.#values.splice(at, 0, "");
    else (this.#values as Float64Array).copyWithin(at + 1, at, count);
  }

  /** All points, as views that hold until the next change. */
  points(): PointColumns {
    this.#settle();
    const values = this.#values;
    return {
      times: this.#times.subarray(0, this.#count),
      values: Array.isArray(values) ? values : (values as Float64Array).subarray(0, this.#count),
    };
  }

  /** The points in [startMs, endMs). */
  between(startMs: number, endMs: number): PointColumns {
    const all = this.points();
    const from = firstAtOrAfter(all.times, startMs);
    return cut(all, from, firstAtOrAfter(all.times, endMs, from));
  }

  /** Removes the points with indexes in [from, to) of `points()`. */
  remove(from: number, to: number): void {
    if (to <= from) return;
    this.#settle();
    this.#times.copyWithin(from, to, this.#count);
    if (Array.isArray(this.#values)) this.#values.splice(from, to - from);
    else (this.#values as Float64Array).copyWithin(from, to, this.#count);
    this.#count -= to - from;
    this.#sorted = this.#count;
  }

  removeBetween(startMs: number, endMs: number): void {
    const { times } = this.points();
    const from = firstAtOrAfter(times, startMs);
    this.remove(from, firstAtOrAfter(times, endMs, from));
  }

  #reserve(more: number): void {
    this.#spread();
    const needed = this.#count + more;
    if (needed <= this.#times.length) return;
    const before = this.#times.length;
    const factor = before < growth.smallMax ? growth.small : growth.large;
    const capacity = Math.max(capacityMin, needed, Math.ceil(before * factor));
    const times = new Float64Array(capacity);
    times.set(this.#times.subarray(0, this.#count));
    this.#times = times;
    if (this.kind === strings) return;
    const values = new Float64Array(capacity);
    values.set((this.#values as Float64Array).subarray(0, this.#count));
    this.#values = values;
  }

  #copy({ times, values }: PointColumns, from: number, to: number): void {
    const at = this.#count;
    this.#count += to - from;
    if (this.kind === strings) {
      for (let i = from; i < to; i++) (this.#values as string[]).push(values[i] as string);
    } else if (to - from > 32) {
      (this.#values as Float64Array).set((values as Float64Array).subarray(from, to), at);
    } else {
      for (let i = from; i < to; i++) (this.#values as Float64Array)[at + i - from] = values[i] as number;
    }
    if (to - from > 32) this.#times.set(times.subarray(from, to), at);
    else for (let i = from; i < to; i++) this.#times[at + i - from] = times[i]!;
  }

  #settle(): void {
    this.#spread();
    if (this.#sorted === this.#count) return;
    const all = { times: this.#times, values: this.#values };
    const settled = merge(cut(all, 0, this.#sorted), sorted(cut(all, this.#sorted, this.#count)));
    this.#times = settled.times;
    this.#values = settled.values;
    this.#count = settled.times.length;
    this.#sorted = this.#count;
  }
}

/**
 * The points ascending; of equal times only the last. Most are in order but for some strays, which alone are
 * sorted: each came after the one of its time that is in order, if there is one.
 */
function sorted(points: PointColumns): PointColumns {
  const { times } = points;
  const inOrder = new Uint32Array(times.length);
  const strays = new Uint32Array(times.length);
  let [count, strayCount, last] = [0, 0, -Infinity];
  for (let index = 0; index < times.length; index++) {
    const timeMs = times[index]!;
    if (timeMs > last) {
      inOrder[count++] = index;
      last = timeMs;
    } else strays[strayCount++] = index;
  }
  if (strayCount === 0) return points;
  if (strayCount > count) return picked(points, lastOfEach(times));
  const others = sorted(picked(points, strays.subarray(0, strayCount)));
  return merge(picked(points, inOrder.subarray(0, count)), others);
}

/** Indexes by time; of equal times only that of the last. */
function lastOfEach(times: Float64Array): Uint32Array {
  const order = Uint32Array.from(times, (_, index) => index).sort((a, b) => times[a]! - times[b]! || a - b);
  return order.filter((one, index) => times[one] !== times[order[index + 1] ?? -1]);
}

function picked({ times, values }: PointColumns, indexes: Uint32Array): PointColumns {
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
