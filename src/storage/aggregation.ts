// Calculates aggregates of one series over buckets of time, from points and summaries added in order of time.
//
// conformance/naive-aggregate.ts defines the aggregates. The interpolated series has
// straight lines between consecutive points; for a step series, each value applies until the next point.
//
// States: before the first point (`#hasLast` is false), with an open bucket (`#isOpen`), and between buckets,
// after a bucket was completed and before the next point. Integrals over time need the line to the next
// point, so a point first completes the buckets before it (`#advanceTo`), and then opens its own.
//
// Example: hourly averages of the points 00:00 = 0, 00:30 = 10, 01:30 = 40.
//
// | Call | Effect |
// |---|---|
// | point 00:00 | `#openBucket(00:00)` |
// | point 00:30 | `#addSegment` 0 to 10: in the open bucket |
// | point 01:30 | `#completeBuckets(01:00)`: the line reaches 25 at 01:00. `#addSegment` 10 to 25,
// `#closeBucket`: |
// |             | (5 * 30 min + 17.5 * 30 min) / 60 min = 11.25. `#openBucket(01:00)`, `#addSegment` 25 to 40
// |
// | `finish()`  | no later point: `#closeBucket` averages the 30 minutes that are known: 32.5 |
//
// A summary has the integral between its first and its last point. So it needs no points, only the segments
// before its first one and after its last one.
//
// Tests: `aggregation.test.ts` beside this file, the suite `conformance/points.ts` and
// `embedded-points/model.test.ts` compare results with the naive reference.
//
// The cost is that of the points added, where a summary counts as one, plus that of the rows returned. So a
// long gap costs nothing, unless an interpolation over it is requested.

import { firstAtOrAfter } from "./point-columns.ts";
import type { AggregateColumns, AggregateQuery, BucketValue } from "./points.ts";
import { type Summary, TimeStats, ValueStats, variationOf } from "./summary.ts";

export interface NumberPoint {
  readonly timeMs: number;
  readonly value: number;
}

const noValue = Number.NaN;
/** Aggregates over the values of the points. */
const valueAggregates: readonly BucketValue[] = ["min", "max", "sum", "discreteVariance"];
/** Aggregates that depend on the points in a bucket alone, not on the points before and after it. */
const ownAggregates: readonly BucketValue[] = [
  ...valueAggregates,
  ...(["count", "firstTime", "firstValue", "lastTime", "lastValue"] as const),
];
/** Aggregates over the interpolated series. */
const timeAggregates: readonly BucketValue[] = ["average", "continuousVariance", "definedMs"];

/** Whether an aggregate depends on the last point before the range, or on the first one after it. */
export const needsNeighbours = ({ aggregates }: Pick<AggregateQuery, "aggregates">): boolean =>
  !aggregates.every((name) => ownAggregates.includes(name));

/**
 * The parts of summaries that a query needs: `times` for the number of points and their first and last times,
 * `values` for their extremes and sum too, `distances` for everything.
 */
export type SummaryNeeds = "times" | "values" | "distances";

export function summaryNeeds({ aggregates }: Pick<AggregateQuery, "aggregates">): SummaryNeeds {
  if (aggregates.every((name) => ["count", "firstTime", "lastTime"].includes(name))) return "times";
  return needsNeighbours({ aggregates }) || aggregates.includes("discreteVariance") ? "distances" : "values";
}

export class Aggregation {
  readonly #query: Omit<AggregateQuery, "series">;
  readonly #wantsPoints: boolean;
  readonly #wantsTime: boolean;
  readonly #wantsSquares: boolean;
  readonly #wantsVariation: boolean;
  readonly #wantsLine: boolean;
  readonly #wantsStep: boolean;

  /** The last point added, if any. */
  #hasLast = false;
  #lastMs = noValue;
  #lastValue = noValue;
  #completedByMs = -Infinity;

  /** The open bucket is the one with the last point. The next row may start at `#nextMs`. */
  #isOpen = false;
  #nextMs: number;
  #bucketStartMs = noValue;
  #count = 0;
  #variation = 0;
  #interpolation = noValue;
  #stepInterpolation = noValue;
  #firstMs = noValue;
  #firstValue = noValue;
  readonly #points = new ValueStats();
  readonly #time = new TimeStats();

  readonly #rowTimes: number[] = [];
  readonly #rows: readonly number[][];

  /**
   * `before` is the last point of the series before `startMs`, if there is one and `needsNeighbours`.
   */
  constructor(query: Omit<AggregateQuery, "series">, before?: NumberPoint) {
    const wants = (names: readonly BucketValue[]) => names.some((name) => query.aggregates.includes(name));
    this.#query = query;
    this.#wantsPoints = wants(valueAggregates);
    this.#wantsTime = wants(timeAggregates);
    this.#wantsSquares = wants(["continuousVariance"]);
    this.#wantsVariation = wants(["totalVariation"]);
    this.#wantsLine = wants(["interpolation"]);
    this.#wantsStep = wants(["stepInterpolation"]);
    this.#nextMs = query.startMs;
    this.#rows = query.aggregates.map(() => []);
    if (before !== undefined) this.#remember(before.timeMs, before.value);
  }

  /** The result has as many rows as the limit allows. Points added from here on change nothing. */
  get isFull(): boolean {
    return this.#rowTimes.length >= this.#query.limit;
  }

  /**
   * Whether the result depends on the first point after the range. It does not without a point before that
   * one, or for steps, which hold the last value.
   */
  get needsAfter(): boolean {
    return this.#hasLast && !this.#query.isStep && !this.isFull;
  }

  /** Time of the point that completed the last row, once `isFull`. */
  get completedByMs(): number {
    return this.#completedByMs;
  }

  /**
   * Adds the points from index `from` up to `to`: all in the range of the query, and after all added before.
   */
  addPoints(times: Float64Array, values: Float64Array, from: number, to: number): void {
    let first = from;
    while (first < to && !this.isFull) {
      this.#advanceTo(times[first]!, values[first]!);
      if (this.isFull) return;
      const end = firstAtOrAfter(times, this.#bucketStartMs + this.#query.bucketMs, first, to);
      this.#count += end - first;
      if (this.#wantsPoints) this.#points.addPoints(values, first, end);
      if (this.#wantsVariation) this.#variation += variationOf(values, first, end);
      if (this.#wantsTime) {
        const range = { from: first, to: end, wantsSquares: this.#wantsSquares };
        if (this.#query.isStep) this.#time.addSteps(times, values, range);
        else this.#time.addLines(times, values, range);
      }
      this.#remember(times[end - 1]!, values[end - 1]!);
      first = end;
    }
  }

  /** Adds the summary of points that are all in one bucket, and after all points added before. */
  addSummary(summary: Summary): void {
    if (this.isFull) return;
    this.#advanceTo(summary.firstMs, summary.firstValue);
    if (this.isFull) return;
    this.#count += summary.count;
    this.#variation += summary.variation;
    this.#points.add(summary);
    const ms = summary.lastMs - summary.firstMs;
    if (this.#query.isStep) this.#time.add(ms, summary.stepMean, summary.stepSquares);
    else this.#time.add(ms, summary.lineMean, summary.lineSquares);
    this.#remember(summary.lastMs, summary.lastValue);
  }

  /** Returns the result. `after` is the first point of the series at or after `endMs`, as `before`. */
  finish(after?: NumberPoint): AggregateColumns {
    const { endMs, isStep } = this.#query;
    if (!this.isFull && this.#hasLast) {
      if (after !== undefined) this.#completeBuckets(endMs, after.timeMs, after.value);
      else if (isStep) this.#completeBuckets(endMs, Infinity, this.#lastValue);
      else this.#completeWithoutNext(endMs);
    }
    return columnsOf(this.#rowTimes, this.#rows);
  }

  #remember(timeMs: number, value: number): void {
    this.#hasLast = true;
    this.#lastMs = timeMs;
    this.#lastValue = value;
  }

  #bucketStart(timeMs: number): number {
    const { startMs, bucketMs } = this.#query;
    return startMs + Math.floor((timeMs - startMs) / bucketMs) * bucketMs;
  }

  /**
   * Advances along the interpolated series from the last point to this one. Completes the buckets before it
   * and opens its own.
   */
  #advanceTo(timeMs: number, value: number): void {
    this.#completedByMs = timeMs;
    if (this.#isOpen && timeMs < this.#bucketStartMs + this.#query.bucketMs) {
      this.#addSegment(timeMs - this.#lastMs, this.#lastValue, value);
      // The step happens at the point itself, which is inside the bucket.
      if (this.#query.isStep) this.#variation += Math.abs(value - this.#lastValue);
      return;
    }
    const startMs = this.#bucketStart(timeMs);
    if (this.#hasLast) this.#completeBuckets(startMs, timeMs, value);
    this.#openBucket(startMs, timeMs, value);
  }

  /** Completes the buckets before `untilMs`, with the interpolation between the last point and the next. */
  #completeBuckets(untilMs: number, nextMs: number, nextValue: number): void {
    if (this.#isOpen) {
      const endMs = this.#bucketStartMs + this.#query.bucketMs;
      this.#addSegment(endMs - this.#lastMs, this.#lastValue, this.#interpolate(endMs, nextMs, nextValue));
      this.#closeBucket();
    }
    if (!this.#wantsLine && !this.#wantsStep) return;
    while (this.#nextMs < untilMs && !this.isFull) {
      const atMs = this.#nextMs;
      this.#addEmptyRow(this.#interpolate(atMs, nextMs, nextValue));
    }
  }

  /** Completes the buckets before `untilMs`, where the interpolated series ends at the last point. */
  #completeWithoutNext(untilMs: number): void {
    if (this.#isOpen) this.#closeBucket();
    while (this.#wantsStep && this.#nextMs < untilMs && !this.isFull) this.#addEmptyRow(noValue);
  }

  #openBucket(startMs: number, timeMs: number, value: number): void {
    this.#isOpen = true;
    this.#bucketStartMs = startMs;
    this.#nextMs = startMs + this.#query.bucketMs;
    this.#count = 0;
    this.#variation = 0;
    this.#points.clear();
    this.#time.clear();
    this.#firstMs = timeMs;
    this.#firstValue = value;
    const isAtStart = timeMs === startMs;
    this.#interpolation = isAtStart ? value : noValue;
    this.#stepInterpolation = isAtStart ? value : this.#lastValue;
    if (isAtStart || !this.#hasLast) return;
    this.#interpolation = this.#interpolate(startMs, timeMs, value);
    this.#addSegment(timeMs - startMs, this.#interpolation, value);
    if (this.#query.isStep) this.#variation += Math.abs(value - this.#lastValue);
  }

  /**
   * Adds a segment of the interpolated series to the open bucket: a line, or for a step series the value
   * `from`.
   */
  #addSegment(ms: number, from: number, to: number): void {
    if (this.#query.isStep) {
      this.#time.add(ms, from, 0);
      return;
    }
    this.#time.addLine(ms, from, to);
    this.#variation += Math.abs(to - from);
  }

  /** The interpolated value at `atMs`, between the last point and the next. */
  #interpolate(atMs: number, nextMs: number, nextValue: number): number {
    if (atMs === nextMs) return nextValue;
    if (this.#query.isStep) return this.#lastValue;
    const share = (atMs - this.#lastMs) / (nextMs - this.#lastMs);
    return this.#lastValue + (nextValue - this.#lastValue) * share;
  }

  #closeBucket(): void {
    this.#isOpen = false;
    const { aggregates } = this.#query;
    let hasValue = false;
    for (let i = 0; i < aggregates.length; i++) {
      const value = this.#valueOf(aggregates[i]!);
      this.#rows[i]!.push(value);
      hasValue ||= Number.isFinite(value);
    }
    if (hasValue) this.#rowTimes.push(this.#bucketStartMs);
    else for (const row of this.#rows) row.pop();
  }

  #addEmptyRow(interpolation: number): void {
    this.#rowTimes.push(this.#nextMs);
    const { aggregates } = this.#query;
    for (let i = 0; i < aggregates.length; i++) {
      const step = aggregates[i] === "stepInterpolation" ? this.#lastValue : noValue;
      this.#rows[i]!.push(aggregates[i] === "interpolation" ? interpolation : step);
    }
    this.#nextMs += this.#query.bucketMs;
  }

  #valueOf(name: BucketValue): number {
    const time = this.#time;
    switch (name) {
      case "count":
        return this.#count;
      case "min":
        return this.#points.min;
      case "max":
        return this.#points.max;
      case "sum":
        return this.#points.sum;
      case "discreteVariance":
        return this.#points.squares / this.#points.count;
      case "average":
        // Without a length, the interpolated series has only the one point.
        return time.ms > 0 ? time.mean : this.#lastValue;
      case "continuousVariance":
        return time.ms > 0 ? time.squares / time.ms : 0;
      case "totalVariation":
        return this.#variation;
      case "interpolation":
        return this.#interpolation;
      case "stepInterpolation":
        return this.#stepInterpolation;
      case "firstTime":
        return this.#firstMs;
      case "firstValue":
        return this.#firstValue;
      case "lastTime":
        return this.#lastMs;
      case "lastValue":
        return this.#lastValue;
      case "definedMs":
        return time.ms;
    }
  }
}

/** All columns share one buffer: sending one to another thread takes less time than sending several. */
function columnsOf(times: readonly number[], rows: readonly (readonly number[])[]): AggregateColumns {
  const count = times.length;
  const buffer = new Float64Array(count * (1 + rows.length));
  buffer.set(times);
  for (const [at, row] of rows.entries()) buffer.set(row, (at + 1) * count);
  return {
    times: buffer.subarray(0, count),
    columns: rows.map((_, at) => buffer.subarray((at + 1) * count, (at + 2) * count)),
  };
}
