// What is known of a stretch of points without reading them again: states that add up to that of the whole.
//
// Means and sums of squared distances from them are kept, never sums of squares: these would lose everything
// to rounding for values that are far from zero and close together.
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
  /** The lines between the points: mean in time, and the integral over ms of the squared distance from it. */
  readonly lineMean: number;
  readonly lineSquares: number;
  /** The same where each point holds its value until the next. */
  readonly stepMean: number;
  readonly stepSquares: number;
}

const fieldCount = 15;
/** Bytes of an encoded summary. */
export const summaryBytes = fieldCount * 8;

/** One summary in its encoded form, aligned. */
const numbers = new Float64Array(fieldCount);
const bytesOfNumbers = new Uint8Array(numbers.buffer);

/** Sums up the points from index `from` up to `to`, at least one, in ascending time. */
export function summarise(times: Float64Array, values: Float64Array, from: number, to: number): Summary {
  invariant(from < to, "a summary has points");
  const points = new PointsState();
  points.addPoints(values, from, to);
  const [line, step] = [new TimeState(), new TimeState()];
  line.addLines(times, values, { from, to, wantsSquares: true });
  step.addSteps(times, values, { from, to, wantsSquares: true });
  const firstValue = values[from]!;
  const hasTime = to - from > 1;
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
    variation: variationOf(values, from, to),
    lineMean: hasTime ? line.mean : firstValue,
    lineSquares: line.squares,
    stepMean: hasTime ? step.mean : firstValue,
    stepSquares: step.squares,
  };
}

/** The summary of the points of both; `next` lies behind `one`. */
export function joinSummaries(one: Summary, next: Summary): Summary {
  const points = new PointsState();
  points.add(one);
  points.add(next);
  const [line, step] = [new TimeState(), new TimeState()];
  const gapMs = next.firstMs - one.lastMs;
  line.add(one.lastMs - one.firstMs, one.lineMean, one.lineSquares);
  line.addLine(gapMs, one.lastValue, next.firstValue);
  line.add(next.lastMs - next.firstMs, next.lineMean, next.lineSquares);
  step.add(one.lastMs - one.firstMs, one.stepMean, one.stepSquares);
  step.add(gapMs, one.lastValue, 0);
  step.add(next.lastMs - next.firstMs, next.stepMean, next.stepSquares);
  return {
    count: points.count,
    firstMs: one.firstMs,
    firstValue: one.firstValue,
    lastMs: next.lastMs,
    lastValue: next.lastValue,
    min: points.min,
    max: points.max,
    sum: points.sum,
    mean: points.mean,
    squares: points.squares,
    variation: one.variation + Math.abs(next.firstValue - one.lastValue) + next.variation,
    lineMean: line.mean,
    lineSquares: line.squares,
    stepMean: step.mean,
    stepSquares: step.squares,
  };
}

/** Sum of the absolute changes from each value to the next, from index `from` up to `to`. */
export function variationOf(values: Float64Array, from: number, to: number): number {
  let variation = 0;
  for (let index = from + 1; index < to; index++) variation += Math.abs(values[index]! - values[index - 1]!);
  return variation;
}

/** The bytes of a summary, laid out as in FORMAT.md. */
export function encodeSummary(one: Summary): Uint8Array {
  numbers.set([one.count, one.firstMs, one.firstValue, one.lastMs, one.lastValue, one.min, one.max, one.sum]);
  const states = [one.mean, one.squares, one.variation, one.lineMean, one.lineSquares, one.stepMean];
  numbers.set([...states, one.stepSquares], 8);
  return bytesOfNumbers.slice();
}

/** The reverse of `encodeSummary`. The caller answers for the bytes being intact. */
export function decodeSummary(bytes: Uint8Array): Summary {
  invariant(bytes.length === summaryBytes, "a summary has its size");
  bytesOfNumbers.set(bytes);
  return {
    count: numbers[0]!,
    firstMs: numbers[1]!,
    firstValue: numbers[2]!,
    lastMs: numbers[3]!,
    lastValue: numbers[4]!,
    min: numbers[5]!,
    max: numbers[6]!,
    sum: numbers[7]!,
    mean: numbers[8]!,
    squares: numbers[9]!,
    variation: numbers[10]!,
    lineMean: numbers[11]!,
    lineSquares: numbers[12]!,
    stepMean: numbers[13]!,
    stepSquares: numbers[14]!,
  };
}

/** The points of a stretch as they are, whatever lies between them. */
export class PointsState {
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  sum = 0;
  mean = 0;
  squares = 0;

  clear(): void {
    this.count = 0;
    this.min = Number.NaN;
    this.max = Number.NaN;
    this.sum = 0;
    this.mean = 0;
    this.squares = 0;
  }

  /** Adds the values from index `from` up to `to`. */
  addPoints(values: Float64Array, from: number, to: number): void {
    if (from >= to) return;
    const base = values[from]!;
    let min = base;
    let max = base;
    let sum = 0;
    let above = 0;
    for (let index = from; index < to; index++) {
      const value = values[index]!;
      if (value < min) min = value;
      if (value > max) max = value;
      sum += value;
      above += value - base;
    }
    const count = to - from;
    // Measured from one of the values: what they all have in common cannot drown what differs.
    const mean = base + above / count;
    let squares = 0;
    for (let index = from; index < to; index++) {
      const distance = values[index]! - mean;
      squares += distance * distance;
    }
    this.add({ count, min, max, sum, mean, squares });
  }

  add(other: Pick<Summary, "count" | "min" | "max" | "sum" | "mean" | "squares">): void {
    if (this.count === 0) {
      this.count = other.count;
      this.min = other.min;
      this.max = other.max;
      this.sum = other.sum;
      this.mean = other.mean;
      this.squares = other.squares;
      return;
    }
    if (other.min < this.min) this.min = other.min;
    if (other.max > this.max) this.max = other.max;
    const count = this.count + other.count;
    const distance = other.mean - this.mean;
    this.squares += other.squares + distance * distance * ((this.count / count) * other.count);
    this.mean += distance * (other.count / count);
    this.sum += other.sum;
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

  /** Adds a stretch of time with its mean and squares; one without length adds nothing. */
  add(ms: number, mean: number, squares: number): void {
    if (ms <= 0) return;
    if (this.ms === 0) {
      this.ms = ms;
      this.mean = mean;
      this.squares = squares;
      return;
    }
    const whole = this.ms + ms;
    const distance = mean - this.mean;
    this.squares += squares + distance * distance * ((this.ms / whole) * ms);
    this.mean += distance * (ms / whole);
    this.ms = whole;
  }

  /** Adds a line from one value to another that takes `ms`. */
  addLine(ms: number, from: number, to: number): void {
    const change = to - from;
    this.add(ms, from / 2 + to / 2, ((change * change) / 12) * ms);
  }

  /**
   * Adds the lines between the points from index `from` up to `to`. Without `wantsSquares` the squares come
   * out wrong, in half the time.
   */
  addLines(times: Float64Array, values: Float64Array, { from, to, wantsSquares }: Stretch): void {
    if (to - from < 2) return;
    const base = values[from]!;
    let lastMs = times[from]!;
    let lastHalf = 0;
    let above = 0;
    for (let index = from + 1; index < to; index++) {
      const timeMs = times[index]!;
      const half = (values[index]! - base) / 2;
      above += (lastHalf + half) * (timeMs - lastMs);
      lastMs = timeMs;
      lastHalf = half;
    }
    const ms = lastMs - times[from]!;
    const mean = base + above / ms;
    this.add(ms, mean, wantsSquares ? lineSquares(times, values, { from, to }, mean) : 0);
  }

  /** Adds the points from index `from` up to `to`, each holding its value until the next; as `addLines`. */
  addSteps(times: Float64Array, values: Float64Array, { from, to, wantsSquares }: Stretch): void {
    if (to - from < 2) return;
    const base = values[from]!;
    let lastMs = times[from]!;
    let above = 0;
    for (let index = from + 1; index < to; index++) {
      const timeMs = times[index]!;
      above += (values[index - 1]! - base) * (timeMs - lastMs);
      lastMs = timeMs;
    }
    const ms = lastMs - times[from]!;
    const mean = base + above / ms;
    this.add(ms, mean, wantsSquares ? stepSquares(times, values, { from, to }, mean) : 0);
  }
}

/** Points by index. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly wantsSquares: boolean;
}

type Between = Pick<Stretch, "from" | "to">;

/** The integral of the squared distance of the lines from `mean`. */
function lineSquares(times: Float64Array, values: Float64Array, { from, to }: Between, mean: number): number {
  let squares = 0;
  let lastMs = times[from]!;
  let last = values[from]! - mean;
  for (let index = from + 1; index < to; index++) {
    const timeMs = times[index]!;
    const next = values[index]! - mean;
    squares += (last * last + last * next + next * next) * (timeMs - lastMs);
    lastMs = timeMs;
    last = next;
  }
  return squares / 3;
}

/** The same where each point holds its value until the next. */
function stepSquares(times: Float64Array, values: Float64Array, { from, to }: Between, mean: number): number {
  let squares = 0;
  let lastMs = times[from]!;
  for (let index = from + 1; index < to; index++) {
    const timeMs = times[index]!;
    const distance = values[index - 1]! - mean;
    squares += distance * distance * (timeMs - lastMs);
    lastMs = timeMs;
  }
  return squares;
}
