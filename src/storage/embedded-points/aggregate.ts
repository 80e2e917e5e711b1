// Aggregates of one series over buckets of time, fed in time order with points and with block summaries.
//
// The definitions are those of conformance/naive-aggregate.ts. What is fed costs its points, and a summary
// counts as one; beyond that only buckets that are answered cost anything, so that a long gap is free unless
// an interpolation over it is requested.
import type { AggregateColumns, AggregateName, AggregateQuery } from "../points.ts";
import { firstAtOrAfter } from "./columns.ts";
import { PointsState, type Summary, TimeState, variationOf } from "./summary.ts";

export interface Point {
  readonly timeMs: number;
  readonly value: number;
}

const none = Number.NaN;
const ofPoints: readonly AggregateName[] = ["min", "max", "sum", "discreteVariance"];
const ofTime: readonly AggregateName[] = ["average", "continuousVariance"];

export class Aggregation {
  readonly #query: Omit<AggregateQuery, "series">;
  readonly #wantsPoints: boolean;
  readonly #wantsTime: boolean;
  readonly #wantsSquares: boolean;
  readonly #wantsVariation: boolean;
  readonly #wantsLine: boolean;
  readonly #wantsStep: boolean;

  /** The last point fed, if any. */
  #hasLast = false;
  #lastMs = none;
  #lastValue = none;
  #readMs = -Infinity;

  /** The open bucket, which holds a point; without one `#nextMs` is where the next may start. */
  #isOpen = false;
  #nextMs: number;
  #startMs = none;
  #count = 0;
  #variation = 0;
  #interpolation = none;
  #stepInterpolation = none;
  readonly #points = new PointsState();
  readonly #time = new TimeState();

  readonly #rowTimes: number[] = [];
  readonly #rows: readonly number[][];

  /** `before`: the last point of the series before `startMs`, if there is one. */
  constructor(query: Omit<AggregateQuery, "series">, before?: Point) {
    const wants = (names: readonly AggregateName[]) => names.some((name) => query.aggregates.includes(name));
    this.#query = query;
    this.#wantsPoints = wants(ofPoints);
    this.#wantsTime = wants(ofTime);
    this.#wantsSquares = wants(["continuousVariance"]);
    this.#wantsVariation = wants(["totalVariation"]);
    this.#wantsLine = wants(["interpolation"]);
    this.#wantsStep = wants(["stepInterpolation"]);
    this.#nextMs = query.startMs;
    this.#rows = query.aggregates.map(() => []);
    if (before !== undefined) this.#remember(before.timeMs, before.value);
  }

  /** All buckets that the limit allows are complete: what is fed from here on changes nothing. */
  get full(): boolean {
    return this.#rowTimes.length >= this.#query.limit;
  }

  /** When all is complete: the time of the point that completed it. */
  get readMs(): number {
    return this.#readMs;
  }

  /** Adds the points from index `from` up to `to`, all in the range of the query and after what came. */
  addPoints(times: Float64Array, values: Float64Array, from: number, to: number): void {
    let first = from;
    while (first < to && !this.full) {
      this.#reach(times[first]!, values[first]!);
      if (this.full) return;
      const end = firstAtOrAfter(times, this.#startMs + this.#query.bucketMs, first, to);
      this.#count += end - first;
      if (this.#wantsPoints) this.#points.addPoints(values, first, end);
      if (this.#wantsVariation) this.#variation += variationOf(values, first, end);
      if (this.#wantsTime) {
        const stretch = { from: first, to: end, wantsSquares: this.#wantsSquares };
        if (this.#query.isStep) this.#time.addSteps(times, values, stretch);
        else this.#time.addLines(times, values, stretch);
      }
      this.#remember(times[end - 1]!, values[end - 1]!);
      first = end;
    }
  }

  /** Adds points of which the first and the last lie in the same bucket. */
  addSummary(summary: Summary): void {
    if (this.full) return;
    this.#reach(summary.firstMs, summary.firstValue);
    if (this.full) return;
    this.#count += summary.count;
    this.#variation += summary.variation;
    this.#points.add(summary);
    const ms = summary.lastMs - summary.firstMs;
    if (this.#query.isStep) this.#time.add(ms, summary.stepMean, summary.stepSquares);
    else this.#time.add(ms, summary.lineMean, summary.lineSquares);
    this.#remember(summary.lastMs, summary.lastValue);
  }

  /** The answer. `after`: the first point of the series at or after `endMs`, if there is one. */
  finish(after?: Point): AggregateColumns {
    const { endMs, isStep } = this.#query;
    if (!this.full && this.#hasLast) {
      if (after !== undefined) this.#leave(endMs, after.timeMs, after.value);
      else if (isStep) this.#leave(endMs, Infinity, this.#lastValue);
      else this.#end(endMs);
    }
    return {
      times: new Float64Array(this.#rowTimes),
      columns: this.#rows.map((row) => new Float64Array(row)),
    };
  }

  #remember(timeMs: number, value: number): void {
    this.#hasLast = true;
    this.#lastMs = timeMs;
    this.#lastValue = value;
  }

  #bucketOf(timeMs: number): number {
    const { startMs, bucketMs } = this.#query;
    return startMs + Math.floor((timeMs - startMs) / bucketMs) * bucketMs;
  }

  /** Moves on to the bucket of the next point, along f from the last point to this one. */
  #reach(timeMs: number, value: number): void {
    this.#readMs = timeMs;
    if (this.#isOpen && timeMs < this.#startMs + this.#query.bucketMs) {
      this.#piece(timeMs - this.#lastMs, this.#lastValue, value);
      // The jump of a step series happens at the point itself, which lies inside the bucket.
      if (this.#query.isStep) this.#variation += Math.abs(value - this.#lastValue);
      return;
    }
    const startMs = this.#bucketOf(timeMs);
    if (this.#hasLast) this.#leave(startMs, timeMs, value);
    this.#open(startMs, timeMs, value);
  }

  /** Completes the buckets up to `untilMs` along f from the last point to the next. */
  #leave(untilMs: number, nextMs: number, nextValue: number): void {
    if (this.#isOpen) {
      const endMs = this.#startMs + this.#query.bucketMs;
      this.#piece(endMs - this.#lastMs, this.#lastValue, this.#between(endMs, nextMs, nextValue));
      this.#close();
    }
    if (!this.#wantsLine && !this.#wantsStep) return;
    while (this.#nextMs < untilMs && !this.full) {
      const atMs = this.#nextMs;
      this.#emptyRow(this.#between(atMs, nextMs, nextValue));
    }
  }

  /** Completes the buckets up to `untilMs` with f ending at the last point. */
  #end(untilMs: number): void {
    if (this.#isOpen) this.#close();
    while (this.#wantsStep && this.#nextMs < untilMs && !this.full) this.#emptyRow(none);
  }

  #open(startMs: number, timeMs: number, value: number): void {
    this.#isOpen = true;
    this.#startMs = startMs;
    this.#nextMs = startMs + this.#query.bucketMs;
    this.#count = 0;
    this.#variation = 0;
    this.#points.clear();
    this.#time.clear();
    const isAtStart = timeMs === startMs;
    this.#interpolation = isAtStart ? value : none;
    this.#stepInterpolation = isAtStart ? value : this.#lastValue;
    if (isAtStart || !this.#hasLast) return;
    this.#interpolation = this.#between(startMs, timeMs, value);
    this.#piece(timeMs - startMs, this.#interpolation, value);
    if (this.#query.isStep) this.#variation += Math.abs(value - this.#lastValue);
  }

  /** A piece of f in the open bucket: a line, or for a step series the value at its beginning. */
  #piece(ms: number, from: number, to: number): void {
    if (this.#query.isStep) {
      this.#time.add(ms, from, 0);
      return;
    }
    this.#time.addLine(ms, from, to);
    this.#variation += Math.abs(to - from);
  }

  /** f(atMs), from the last point to the next. */
  #between(atMs: number, nextMs: number, nextValue: number): number {
    if (atMs === nextMs) return nextValue;
    if (this.#query.isStep) return this.#lastValue;
    const share = (atMs - this.#lastMs) / (nextMs - this.#lastMs);
    return this.#lastValue + (nextValue - this.#lastValue) * share;
  }

  #close(): void {
    this.#isOpen = false;
    const { aggregates } = this.#query;
    let hasValue = false;
    for (let i = 0; i < aggregates.length; i++) {
      const value = this.#valueOf(aggregates[i]!);
      this.#rows[i]!.push(value);
      hasValue ||= Number.isFinite(value);
    }
    if (hasValue) this.#rowTimes.push(this.#startMs);
    else for (const row of this.#rows) row.pop();
  }

  #emptyRow(interpolation: number): void {
    this.#rowTimes.push(this.#nextMs);
    const { aggregates } = this.#query;
    for (let i = 0; i < aggregates.length; i++) {
      const step = aggregates[i] === "stepInterpolation" ? this.#lastValue : none;
      this.#rows[i]!.push(aggregates[i] === "interpolation" ? interpolation : step);
    }
    this.#nextMs += this.#query.bucketMs;
  }

  #valueOf(name: AggregateName): number {
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
        // Without any length f is defined at one point only.
        return time.ms > 0 ? time.mean : this.#lastValue;
      case "continuousVariance":
        return time.ms > 0 ? time.squares / time.ms : 0;
      case "totalVariation":
        return this.#variation;
      case "interpolation":
        return this.#interpolation;
      case "stepInterpolation":
        return this.#stepInterpolation;
    }
  }
}
