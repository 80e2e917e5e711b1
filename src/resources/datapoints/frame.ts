// Data frames: aggregates of many series side by side, one row a bucket, merged as they are read.
import type { RequestContext } from "../../context.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { AggregateColumns, AggregateName } from "../../storage/points.ts";
import { requireSeries, type SeriesKey, type SeriesRef } from "../timeseries/timeseries.ts";
import { refuseTexts } from "./datapoints.ts";
import { LimitedRows, type Rows } from "./limited-rows.ts";

export interface FrameQuestion {
  /** In the order of the frame; any may repeat. */
  readonly columns: readonly { readonly key: SeriesKey; readonly aggregate: AggregateName }[];
  readonly range: TimeRange;
  readonly granularity: Granularity;
  /** Rows; lowered to `limits.frameRowsMax`. */
  readonly limit: number;
  /** Continues an earlier frame: only rows at or after this time, which that one has left out. */
  readonly fromMs?: number;
}

export interface FrameColumn {
  readonly series: SeriesRef;
  readonly aggregate: AggregateName;
}

/**
 * Rows where any column has a value, ascending; `columns[i]` belongs to column i of the frame, NaN: no
 * value.
 */
export type FrameRows = Rows<Float64Array>;

export interface Frame {
  readonly columns: readonly FrameColumn[];
  readonly rows: LimitedRows<Float64Array>;
}

/** Refuses unknown series (404) and series of texts (400). The rows are read as they are taken. */
export async function readFrame(ctx: RequestContext, question: FrameQuestion): Promise<Frame> {
  const found = await requireSeries(
    ctx,
    question.columns.map(({ key }) => key),
    "READ",
  );
  for (const series of found) refuseTexts(series);
  const columns = question.columns.map(({ aggregate }, i): FrameColumn => ({ series: found[i]!, aggregate }));
  const limit = Math.min(question.limit, limits.frameRowsMax);
  const source = (most: number) => frameRows(ctx, columns, { ...question, limit: most });
  return { columns, rows: new LimitedRows(limit, source) };
}

/** Buckets of one series in memory at a time, and rows handed on at a time. */
const rowsPerBatch = 1_000;
/** Cells of such rows, which are merged in one step and written in another: about 2 ms each. */
const cellsPerBatch = 50_000;

async function* frameRows(
  ctx: RequestContext,
  columns: readonly FrameColumn[],
  question: FrameQuestion,
): AsyncGenerator<FrameRows> {
  let left = question.limit;
  const whole = wholeBuckets(question.range, question.granularity);
  const range = { ...whole, startMs: question.fromMs ?? whole.startMs };
  if (left === 0 || range.startMs === range.endMs) return;
  const bucketMs = question.granularity.bucketMs;
  const limit = Math.min(left, rowsPerBatch);
  const cursors = seriesCursors(ctx, columns, { ...range, bucketMs, limit });
  const rowsMax = Math.min(rowsPerBatch, Math.ceil(cellsPerBatch / columns.length));
  while (left > 0) {
    const times = await nextBatch(ctx, [...cursors.values()], Math.min(left, rowsMax));
    if (times.length === 0) return;
    const valuesOf = ({ series, aggregate }: FrameColumn) => cursors.get(series.id)!.column(aggregate);
    yield { times, columns: columns.map((column) => valuesOf(column).subarray(0, times.length)) };
    left -= times.length;
  }
}

/** Each distinct series once, asked for all of its aggregates together. */
function seriesCursors(
  ctx: RequestContext,
  columns: readonly FrameColumn[],
  buckets: TimeRange & { bucketMs: number; limit: number },
): Map<number, SeriesCursor> {
  const cursors = new Map<number, SeriesCursor>();
  for (const [id, same] of Map.groupBy(columns, ({ series }) => series.id)) {
    const wanted = [...new Set(same.map(({ aggregate }) => aggregate))];
    const ask = (startMs: number) =>
      ctx.points.aggregate({
        ...buckets,
        startMs,
        series: id,
        isStep: same[0]!.series.isStep,
        aggregates: wanted,
      });
    cursors.set(id, new SeriesCursor(ask, wanted, buckets));
  }
  return cursors;
}

/**
 * Fills the cursors' columns with the next rows, each the earliest bucket of any series; returns their times.
 */
async function nextBatch(
  ctx: RequestContext,
  cursors: readonly SeriesCursor[],
  rows: number,
): Promise<Float64Array> {
  for (const cursor of cursors) cursor.startBatch(rows);
  const times = new Float64Array(rows);
  for (let count = 0; ; ) {
    const starved = cursors.filter(({ isStarved }) => isStarved);
    await Promise.all(starved.map((cursor) => cursor.refill()));
    const filled = await ctx.computing.step(ctx, () => mergeRows(cursors, times, count));
    if (filled.isEnd || filled.count === rows) return times.subarray(0, filled.count);
    count = filled.count;
  }
}

/**
 * Fills rows from `count` on, until all are filled, a series is at its end in memory, or all are at their
 * end.
 */
function mergeRows(cursors: readonly SeriesCursor[], times: Float64Array, from: number) {
  let count = from;
  for (; count < times.length && !cursors.some(({ isStarved }) => isStarved); count += 1) {
    let timeMs = Number.POSITIVE_INFINITY;
    for (const cursor of cursors) timeMs = Math.min(timeMs, cursor.timeMs);
    if (timeMs === Number.POSITIVE_INFINITY) return { count, isEnd: true };
    times[count] = timeMs;
    for (const cursor of cursors) if (cursor.timeMs === timeMs) cursor.take(count);
  }
  return { count, isEnd: false };
}

/** Walks through the buckets of one series, a piece of them in memory. */
class SeriesCursor {
  /** Of the bucket it stands at; infinite after the last one, and while it is starved. */
  timeMs = Number.POSITIVE_INFINITY;
  /** The piece in memory is used up and there may be more. */
  isStarved = true;
  readonly #ask: (startMs: number) => Promise<AggregateColumns>;
  readonly #wanted: readonly AggregateName[];
  readonly #buckets: TimeRange & { readonly bucketMs: number; readonly limit: number };
  #startMs: number;
  #piece: AggregateColumns = { times: new Float64Array(), columns: [] };
  #at = 0;
  #taken: Float64Array[] = [];

  constructor(
    ask: (startMs: number) => Promise<AggregateColumns>,
    wanted: readonly AggregateName[],
    buckets: TimeRange & { readonly bucketMs: number; readonly limit: number },
  ) {
    this.#ask = ask;
    this.#wanted = wanted;
    this.#buckets = buckets;
    this.#startMs = buckets.startMs;
  }

  startBatch(rows: number): void {
    this.#taken = this.#wanted.map(() => new Float64Array(rows).fill(Number.NaN));
  }

  /** What was taken in this batch, one value a row. */
  column(aggregate: AggregateName): Float64Array {
    return this.#taken[this.#wanted.indexOf(aggregate)]!;
  }

  async refill(): Promise<void> {
    this.#piece = await this.#ask(this.#startMs);
    this.#at = -1;
    const { times } = this.#piece;
    const isLast = times.length < this.#buckets.limit;
    this.#startMs = isLast ? this.#buckets.endMs : times.at(-1)! + this.#buckets.bucketMs;
    this.#advance();
  }

  /** Copies the bucket it stands at into a row, and moves on. */
  take(row: number): void {
    for (const [i, column] of this.#piece.columns.entries()) this.#taken[i]![row] = column[this.#at]!;
    this.#advance();
  }

  #advance(): void {
    this.#at += 1;
    const { times } = this.#piece;
    const isUsedUp = this.#at >= times.length;
    this.isStarved = isUsedUp && this.#startMs < this.#buckets.endMs;
    this.timeMs = isUsedUp ? Number.POSITIVE_INFINITY : times[this.#at]!;
  }
}
