// Summaries of consecutive points, from which aggregates are calculated without reading the points again. The
// summaries of adjacent ranges combine to that of the whole range.
//
// They hold means and sums of squared distances from the mean, never sums of squares: for values far from
// zero and close together, rounding would leave nothing of those.
import { invariant } from "../lib/invariant.ts";
import { firstAtOrAfter } from "./point-columns.ts";

export interface Summary {
  readonly count: number;
  readonly firstMs: number;
  readonly firstValue: number;
  readonly lastMs: number;
  readonly lastValue: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  /** Mean of the values, and sum of their squared distances from it. */
  readonly mean: number;
  readonly squares: number;
  /** Sum of the absolute differences between consecutive values. */
  readonly variation: number;
  /**
   * Of the lines between the points: mean over time, and integral over time (ms) of the squared distance from
   * it.
   */
  readonly lineMean: number;
  readonly lineSquares: number;
  /** The same for steps, where each value holds until the next point. */
  readonly stepMean: number;
  readonly stepSquares: number;
}

/** Whether a summary with means has squares, too. They are NaN when they were not needed. */
export const hasSquares = ({ squares }: Summary): boolean => !Number.isNaN(squares);

/** Number of fields in the encoded form. */
export const summaryFields = 15;

/** Calculates the summary of the points with indexes in [from, to): at least one, in ascending order. */
export interface Summariser {
  summarise(times: Float64Array, values: Float64Array, from: number, to: number): Summary;
}

/** Summarises the times alone. Everything that depends on values is NaN. */
export const ofTimes: Summariser = {
  summarise(times, _values, from, to) {
    const fields = new Float64Array(summaryFields).fill(Number.NaN);
    fields[0] = to - from;
    fields[1] = times[from]!;
    fields[3] = times[to - 1]!;
    return decodeSummary(fields);
  },
};

/** A block of many points has a summary for each hour. */
const summarySpanMs = 3_600_000;
/** The row of a block with more summaries would not fit into a page of its file with others. */
const spansMax = 4;
/** With fewer points for each hour, years decode fast, and hourly summaries would take too much space. */
const spanPointsMin = 1_024;

/** The summaries that a block of these points stores: one for each hour, or one of all points. */
export function summariesOfBlock(
  times: Float64Array,
  values: Float64Array,
  summariser: Summariser,
): Summary[] {
  const count = times.length;
  const spanEnd = (timeMs: number) => (Math.floor(timeMs / summarySpanMs) + 1) * summarySpanMs;
  const spans = (spanEnd(times[count - 1]!) - spanEnd(times[0]!)) / summarySpanMs + 1;
  return spans > spansMax || count < spans * spanPointsMin
    ? [summariser.summarise(times, values, 0, count)]
    : summariesPerSpan(times, values, { from: 0, to: count, spanEnd }, summariser);
}

interface SpanRange {
  readonly from: number;
  readonly to: number;
  /** The end of the span with this time. */
  spanEnd(timeMs: number): number;
}

/** A summary for each span with a point, in order. */
export function summariesPerSpan(
  times: Float64Array,
  values: Float64Array,
  { from, to, spanEnd }: SpanRange,
  summariser: Summariser,
): Summary[] {
  const summaries: Summary[] = [];
  for (let first = from; first < to; ) {
    const end = firstAtOrAfter(times, spanEnd(times[first]!), first, to);
    summaries.push(summariser.summarise(times, values, first, end));
    first = end;
  }
  return summaries;
}

/** The summary of the points of both. All points of `next` are after those of `one`. */
export function combineSummaries(one: Summary, next: Summary): Summary {
  const points = new ValueStats();
  points.add(one);
  points.add(next);
  const [line, step] = [new TimeStats(), new TimeStats()];
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

/** Sets the fields from index `from` on, in the order of FORMAT.md, "Summary". */
export function encodeSummary(
  one: Summary,
  fields: Float64Array = new Float64Array(summaryFields),
  from = 0,
): Float64Array {
  fields[from] = one.count;
  fields[from + 1] = one.firstMs;
  fields[from + 2] = one.firstValue;
  fields[from + 3] = one.lastMs;
  fields[from + 4] = one.lastValue;
  fields[from + 5] = one.min;
  fields[from + 6] = one.max;
  fields[from + 7] = one.sum;
  fields[from + 8] = one.mean;
  fields[from + 9] = one.squares;
  fields[from + 10] = one.variation;
  fields[from + 11] = one.lineMean;
  fields[from + 12] = one.lineSquares;
  fields[from + 13] = one.stepMean;
  fields[from + 14] = one.stepSquares;
  return fields;
}

/** The reverse of `encodeSummary`. The caller has verified a checksum of the fields. */
export function decodeSummary(fields: Float64Array, from = 0): Summary {
  invariant(fields.length >= from + summaryFields, "a summary has all its fields");
  return {
    count: fields[from]!,
    firstMs: fields[from + 1]!,
    firstValue: fields[from + 2]!,
    lastMs: fields[from + 3]!,
    lastValue: fields[from + 4]!,
    min: fields[from + 5]!,
    max: fields[from + 6]!,
    sum: fields[from + 7]!,
    mean: fields[from + 8]!,
    squares: fields[from + 9]!,
    variation: fields[from + 10]!,
    lineMean: fields[from + 11]!,
    lineSquares: fields[from + 12]!,
    stepMean: fields[from + 13]!,
    stepSquares: fields[from + 14]!,
  };
}

/** Running statistics over values alone, without their times. */
class ValueStats {
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  sum = 0;
  mean = 0;
  squares = 0;

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

/** Running statistics of a function over time: its mean, and the integral of the squared distance from it. */
class TimeStats {
  ms = 0;
  mean = 0;
  squares = 0;

  /** Adds a span of time with its mean and squares. A span without length adds nothing. */
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

  /** Adds a line from one value to another over `ms` milliseconds. */
  addLine(ms: number, from: number, to: number): void {
    const change = to - from;
    this.add(ms, from / 2 + to / 2, ((change * change) / 12) * ms);
  }
}
