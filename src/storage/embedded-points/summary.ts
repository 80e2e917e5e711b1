// What is known of a stretch of points without reading them again: states that add up to the state of the whole.
//
// Means and sums of squared distances from them are kept, never sums of squares: these would lose everything to
// rounding for values that are far from zero and close together.
import { invariant } from "../../lib/invariant.ts";

export interface Summary {
  readonly count: number;
  readonly firstMs: number;
  readonly firstValue: number;
  readonly lastMs: number;
  readonly lastValue: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  /** Mean of the values, and the sum of their squared distances from it. */
  readonly mean: number;
  readonly squares: number;
  /** Sum of the absolute changes from each point to the next. */
  readonly variation: number;
  /** Over the lines between the points: mean in time, and the integral over ms of the squared distance from it. */
  readonly lineMean: number;
  readonly lineSquares: number;
  /** The same where each point holds its value until the next. */
  readonly stepMean: number;
  readonly stepSquares: number;
}

/** The order of the names is the order on disk (FORMAT.md). */
const fields = [
  "count",
  "firstMs",
  "firstValue",
  "lastMs",
  "lastValue",
  "min",
  "max",
  "sum",
  "mean",
  "squares",
  "variation",
  "lineMean",
  "lineSquares",
  "stepMean",
  "stepSquares",
] as const satisfies readonly (keyof Summary)[];

/** Bytes of an encoded summary. */
export const summaryBytes = fields.length * 8;

/** Sums up the points from index `from` up to `to`, at least one, in ascending time. */
export function summarise(times: Float64Array, values: Float64Array, from: number, to: number): Summary {
  invariant(from < to, "a summary has points");
  const points = new PointsState();
  points.addAll(values, from, to);
  const line = new TimeState();
  const step = new TimeState();
  for (let index = from + 1; index < to; index++) {
    const ms = times[index]! - times[index - 1]!;
    line.addLine(ms, values[index - 1]!, values[index]!);
    step.addLine(ms, values[index - 1]!, values[index - 1]!);
  }
  const firstValue = values[from]!;
  return {
    count: points.count,
    firstMs: times[from]!,
    firstValue,
    lastMs: times[to - 1]!,
    lastValue: values[to - 1]!,
    min: points.min,
    max: points.max,
    sum: points.sum,
    mean: points.mean,
    squares: points.squares,
    variation: points.variation,
    lineMean: line.ms > 0 ? line.mean : firstValue,
    lineSquares: line.squares,
    stepMean: step.ms > 0 ? step.mean : firstValue,
    stepSquares: step.squares,
  };
}

export function encodeSummary(summary: Summary): Uint8Array {
  const bytes = new Uint8Array(summaryBytes);
  const view = new DataView(bytes.buffer);
  for (const [index, name] of fields.entries()) view.setFloat64(index * 8, summary[name], true);
  return bytes;
}

/** The reverse of `encodeSummary`. The caller answers for the bytes being intact. */
export function decodeSummary(bytes: Uint8Array): Summary {
  invariant(bytes.length === summaryBytes, "a summary has its size");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = fields.map((name, index) => [name, view.getFloat64(index * 8, true)] as const);
  return Object.fromEntries(entries) as unknown as Summary;
}

/** The points of a stretch as they are, whatever lies between them. */
export class PointsState {
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  sum = 0;
  mean = 0;
  squares = 0;
  /** Changes between the points of the stretch. */
  variation = 0;

  clear(): void {
    this.count = 0;
    this.min = Number.NaN;
    this.max = Number.NaN;
    this.sum = 0;
    this.mean = 0;
    this.squares = 0;
    this.variation = 0;
  }

  /** Adds the values from index `from` up to `to`; the change from what came before is the caller's to add. */
  addAll(values: Float64Array, from: number, to: number): void {
    if (from >= to) return;
    let last = values[from]!;
    let [min, max, sum, variation] = [last, last, 0, 0];
    for (let index = from; index < to; index++) {
      const value = values[index]!;
      if (value < min) min = value;
      if (value > max) max = value;
      sum += value;
      variation += Math.abs(value - last);
      last = value;
    }
    const count = to - from;
    // Taken from the smallest, the distances cannot cancel; the second pass is what makes the squares exact.
    let above = 0;
    for (let index = from; index < to; index++) above += (values[index]! - min) / count;
    const mean = min + above;
    let squares = 0;
    for (let index = from; index < to; index++) {
      const distance = values[index]! - mean;
      squares += distance * distance;
    }
    this.add({ count, min, max, sum, mean, squares, variation });
  }

  /** Adds a later stretch; the change between the two is the caller's to add. */
  add(other: Pick<Summary, "count" | "min" | "max" | "sum" | "mean" | "squares" | "variation">): void {
    if (this.count === 0) {
      this.min = other.min;
      this.max = other.max;
    } else {
      if (other.min < this.min) this.min = other.min;
      if (other.max > this.max) this.max = other.max;
    }
    const count = this.count + other.count;
    const distance = other.mean - this.mean;
    this.squares += other.squares + distance * distance * ((this.count / count) * other.count);
    this.mean += distance * (other.count / count);
    this.sum += other.sum;
    this.variation += other.variation;
    this.count = count;
  }
}

/** A function over a stretch of time: its mean, and the integral of the squared distance from it. */
export class TimeState {
  ms = 0;
  mean = 0;
  squares = 0;

  clear(): void {
    this.ms = 0;
    this.mean = 0;
    this.squares = 0;
  }

  /** Adds a line from one value to another that takes `ms`. */
  addLine(ms: number, from: number, to: number): void {
    const change = to - from;
    this.add(ms, from / 2 + to / 2, ((change * change) / 12) * ms);
  }

  /** Adds a stretch of time with its mean and squares; one without length adds nothing. */
  add(ms: number, mean: number, squares: number): void {
    if (ms <= 0) return;
    const whole = this.ms + ms;
    const distance = mean - this.mean;
    this.squares += squares + distance * distance * ((this.ms / whole) * ms);
    this.mean += distance * (ms / whole);
    this.ms = whole;
  }
}
