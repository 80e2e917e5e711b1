// Calculates aggregates of one series over buckets of time, from points and summaries added in order of time.
// scripts/kernels/kernels.ts has the calculation, compiled to WebAssembly, which is fast from the first read
// on: three aggregates of 8,192 points in 1,171 buckets took 61 us, and two points at a time less. In
// JavaScript they took 193 us, and 370 us in the first reads of a process.
//
// conformance/naive-aggregate.ts defines the aggregates. The interpolated series has
// straight lines between consecutive points; for a step series, each value applies until the next point.
//
// States: before the first point (`hasLast` is 0), with an open bucket (`isOpen`), and between buckets, after
// a bucket was completed and before the next point. Integrals over time need the line to the next point, so a
// point first completes the buckets before it (`advanceTo`), and then opens its own.
//
// Example: hourly averages of the points 00:00 = 0, 00:30 = 10, 01:30 = 40.
//
// | Call | Effect |
// |---|---|
// | point 00:00 | `openBucket(00:00)` |
// | point 00:30 | `addSegment` 0 to 10: in the open bucket |
// | point 01:30 | `completeBuckets(01:00)`: the line reaches 25 at 01:00. `addSegment` 10 to 25,
// `closeBucket`: |
// |             | (5 * 30 min + 17.5 * 30 min) / 60 min = 11.25. `openBucket(01:00)`, `addSegment` 25 to 40
// |
// | `finish()`  | no later point: `closeBucket` averages the 30 minutes that are known: 32.5 |
//
// A summary has the integral between its first and its last point. So it needs no points, only the segments
// before its first one and after its last one.
//
// Tests: `aggregation.test.ts` beside this file, the suite `conformance/points.ts` and
// `embedded-points/model.test.ts` compare results with the naive reference.
//
// The cost is that of the points added, where a summary counts as one, plus that of the rows returned. So a
// long gap costs nothing, unless an interpolation over it is requested.

import { aggregationAt, aggregationBytes, type Kernels, summariesMax } from "./kernels.ts";
import {
  type AggregateColumns,
  type AggregateQuery,
  aggregateNames,
  type BucketValue,
  bucketDetails,
} from "./points.ts";
import type { Summary } from "./summary.ts";

export interface NumberPoint {
  readonly timeMs: number;
  readonly value: number;
}

/** Aggregates over the values of the points. */
const valueAggregates: readonly BucketValue[] = ["min", "max", "sum", "discreteVariance"];
/** Aggregates that depend on the points in a bucket alone, not on the points before and after it. */
const ownAggregates: readonly BucketValue[] = [
  ...valueAggregates,
  ...(["count", "firstTime", "firstValue", "lastTime", "lastValue"] as const),
];
/** Aggregates of squared distances. */
const squareAggregates: readonly BucketValue[] = ["continuousVariance", "discreteVariance"];
/** Aggregates over the interpolated series. */
const timeAggregates: readonly BucketValue[] = ["average", "continuousVariance", "definedMs"];

/** Whether an aggregate depends on the last point before the range, or on the first one after it. */
export const needsNeighbours = ({ aggregates }: Pick<AggregateQuery, "aggregates">): boolean =>
  !aggregates.every((name) => ownAggregates.includes(name));

/**
 * The parts of summaries that a query needs: `times` for the number of points and their first and last times,
 * `values` for their extremes and sum too, `means` for everything but squares, `squares` for everything.
 */
export type SummaryNeeds = "times" | "values" | "means" | "squares";

export function summaryNeeds({ aggregates }: Pick<AggregateQuery, "aggregates">): SummaryNeeds {
  if (aggregates.every((name) => ["count", "firstTime", "lastTime"].includes(name))) return "times";
  if (aggregates.some((name) => squareAggregates.includes(name))) return "squares";
  return needsNeighbours({ aggregates }) ? "means" : "values";
}

/** The fields of the state that this class sets or reads, as indexes of doubles and of 32-bit integers. */
const field = { startMs: 0, endMs: 1, bucketMs: 2, lastMs: 7, lastValue: 8, completedByMs: 9, nextMs: 10 };
const integer = { wants: 6, functions: 7, rowsAt: 8, capacity: 9, rows: 10, hasLast: 11 };
const stateBytes = 27 * Float64Array.BYTES_PER_ELEMENT;
/** The functions have the numbers of this order. */
const functionOrder: readonly BucketValue[] = [...aggregateNames, ...bucketDetails];

/** The bits of `wants`, each with the functions that need it; a step series has the first bit. */
const needsOf: readonly (readonly BucketValue[])[] = [
  [],
  valueAggregates,
  ["discreteVariance"],
  timeAggregates,
  ["continuousVariance"],
  ["totalVariation"],
  ["interpolation"],
  ["stepInterpolation"],
];

export class Aggregation {
  readonly #kernels: Kernels;
  readonly #limit: number;
  readonly #isStep: boolean;
  readonly #functions: number;
  /** The state, then the numbers of the functions. */
  readonly #state: Uint8Array;
  readonly #doubles: Float64Array;
  readonly #integers: Int32Array;
  /** Rows for which the memory of the kernels has space. */
  readonly #capacity: number;
  /** Rows that were copied out of that memory, where the latest ones are. */
  readonly #copied: Rows[] = [];
  #copiedRows = 0;

  /**
   * `before` is the last point of the series before `startMs`, if there is one and `needsNeighbours`.
   */
  constructor(kernels: Kernels, query: Omit<AggregateQuery, "series">, before?: NumberPoint) {
    const { aggregates, startMs, endMs, bucketMs, isStep, limit } = query;
    this.#kernels = kernels;
    this.#limit = limit;
    this.#isStep = isStep;
    this.#functions = aggregates.length;
    const words = 2 * Math.ceil(aggregates.length / 2);
    this.#state = new Uint8Array(stateBytes + Int32Array.BYTES_PER_ELEMENT * words);
    this.#doubles = new Float64Array(this.#state.buffer);
    this.#integers = new Int32Array(this.#state.buffer);
    const rowBytes = Float64Array.BYTES_PER_ELEMENT * (1 + aggregates.length);
    this.#capacity = Math.floor((aggregationBytes - this.#state.length) / rowBytes);
    this.#doubles.set([startMs, endMs, bucketMs]);
    this.#doubles[field.lastMs] = this.#doubles[field.lastValue] = Number.NaN;
    this.#doubles[field.completedByMs] = -Infinity;
    this.#doubles[field.nextMs] = startMs;
    this.#integers[integer.wants] = wantsOf(query);
    this.#integers[integer.functions] = aggregates.length;
    this.#integers[integer.rowsAt] = aggregationAt + this.#state.length;
    this.#integers.set(
      aggregates.map((name) => functionOrder.indexOf(name)),
      stateBytes / Int32Array.BYTES_PER_ELEMENT,
    );
    if (before === undefined) return;
    this.#integers[integer.hasLast] = 1;
    this.#doubles[field.lastMs] = before.timeMs;
    this.#doubles[field.lastValue] = before.value;
  }

  /** The result has as many rows as the limit allows. Points added from here on change nothing. */
  get isFull(): boolean {
    return this.#copiedRows + this.#rowsInMemory >= this.#limit;
  }

  /**
   * Whether the result depends on the first point after the range. It does not without a point before that
   * one, or for steps, which hold the last value.
   */
  get needsAfter(): boolean {
    return this.#integers[integer.hasLast] === 1 && !this.#isStep && !this.isFull;
  }

  /** Time of the point that completed the last row, once `isFull`. */
  get completedByMs(): number {
    return this.#doubles[field.completedByMs]!;
  }

  /**
   * Adds the points from index `from` up to `to`: all in the range of the query, and after all added before.
   */
  addPoints(times: Float64Array, values: Float64Array, from: number, to: number): void {
    for (let first = from; first < to && !this.isFull; ) {
      this.#begin();
      first = this.#kernels.aggregatePoints(this.#state, { times, values, from: first, to });
      this.#copyIfFull();
    }
  }

  /**
   * Adds summaries in order, each of points that are all in one bucket, and after all points added before.
   */
  addSummaries(summaries: readonly Summary[]): void {
    for (let from = 0; from < summaries.length && !this.isFull; ) {
      this.#begin();
      from += this.#kernels.aggregateSummaries(this.#state, summaries.slice(from, from + summariesMax));
      this.#copyIfFull();
    }
  }

  /** Returns the result. `after` is the first point of the series at or after `endMs`, as `before`. */
  finish(after?: NumberPoint): AggregateColumns {
    for (let mayHaveMore = true; mayHaveMore && !this.isFull; ) {
      this.#begin();
      this.#kernels.finishAggregation(this.#state, after);
      mayHaveMore = this.#copyIfFull();
    }
    this.copyRows();
    this.#kernels.giveUpRows(this);
    return columnsOf(joined(this.#copied, 1 + this.#functions), this.#functions);
  }

  get #rowsInMemory(): number {
    return this.#integers[integer.rows]!;
  }

  /** Another aggregation may have used the memory since the last call. */
  #begin(): void {
    this.#kernels.takeRows(this);
    if (this.#rowsInMemory === 0)
      this.#integers[integer.capacity] = Math.min(this.#capacity, this.#limit - this.#copiedRows);
  }

  /** Returns whether there was no space for further rows. */
  #copyIfFull(): boolean {
    const isFull = this.#rowsInMemory === this.#integers[integer.capacity];
    if (isFull) this.copyRows();
    return isFull;
  }

  /** Copies the rows out of the memory of the kernels. */
  copyRows(): void {
    const rows = this.#rowsInMemory;
    if (rows === 0) return;
    const capacity = this.#integers[integer.capacity]!;
    const columns = 1 + this.#functions;
    const found = this.#kernels.numbersAt(this.#integers[integer.rowsAt]!, columns * capacity);
    const buffer = new Float64Array(columns * rows);
    for (let at = 0; at < columns; at++)
      buffer.set(found.subarray(at * capacity, at * capacity + rows), at * rows);
    this.#copied.push({ buffer, rows });
    this.#copiedRows += rows;
    this.#integers[integer.rows] = 0;
  }
}

/** The times of rows, then the values of each function. */
interface Rows {
  readonly buffer: Float64Array;
  readonly rows: number;
}

function joined(parts: readonly Rows[], columns: number): Rows {
  if (parts.length === 1) return parts[0]!;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const buffer = new Float64Array(columns * rows);
  for (let column = 0, to = 0; column < columns; column++)
    for (const part of parts) {
      buffer.set(part.buffer.subarray(column * part.rows, (column + 1) * part.rows), to);
      to += part.rows;
    }
  return { buffer, rows };
}

function wantsOf({ aggregates, isStep }: Pick<AggregateQuery, "aggregates" | "isStep">): number {
  const isNeeded = (names: readonly BucketValue[]) => names.some((name) => aggregates.includes(name));
  return needsOf.reduce((bits, names, bit) => (isNeeded(names) ? bits | (1 << bit) : bits), Number(isStep));
}

/** All columns share one buffer: sending one to another thread takes less time than sending several. */
function columnsOf({ buffer, rows }: Rows, functions: number): AggregateColumns {
  const column = (at: number) => buffer.subarray(at * rows, (at + 1) * rows);
  return { times: column(0), columns: Array.from({ length: functions }, (_, at) => column(at + 1)) };
}
