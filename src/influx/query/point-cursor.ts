// Reads the points of one series page by page, in either order of time.
import type { RequestContext } from "../../context.ts";
import type { TimeRange } from "../../lib/time.ts";
import type { PointColumns } from "../../storage/points.ts";
import type { ResultCell } from "./conditions.ts";
import type { StoredSeries } from "./series-model.ts";

export interface PointsQuery {
  readonly series: StoredSeries;
  readonly range: TimeRange;
  readonly isDescending: boolean;
  /** The points of a page, about. */
  readonly pageSize: number;
}

/** The pages of a series; none is empty. */
export const pagesOfPoints = (ctx: RequestContext, query: PointsQuery): AsyncGenerator<PointColumns> =>
  query.isDescending ? descendingPages(ctx, query) : ascendingPages(ctx, query);

async function* ascendingPages(
  ctx: RequestContext,
  { series, range, pageSize: limit }: PointsQuery,
): AsyncGenerator<PointColumns> {
  const { id, isString } = series;
  for (let { startMs } = range; startMs < range.endMs; ) {
    ctx.signal.throwIfAborted();
    const page = await ctx.points.scan({ series: id, isString, startMs, endMs: range.endMs, limit });
    if (page.times.length > 0) yield page;
    if (page.times.length < limit) return;
    startMs = page.times.at(-1)! + 1;
  }
}

/** The first time range that is read backwards. */
const firstSpanMs = 60_000;

/**
 * The store scans forwards: reads spans of time backwards, each ending with the last point before the span
 * after it. A span is longer after a page with few points, and shorter if it has too many.
 */
async function* descendingPages(
  ctx: RequestContext,
  { series, range, pageSize }: PointsQuery,
): AsyncGenerator<PointColumns> {
  const { id, isString } = series;
  for (let [endMs, spanMs] = [range.endMs, firstSpanMs]; endMs > range.startMs; ) {
    ctx.signal.throwIfAborted();
    const [last] = await ctx.points.latest([{ series: id, isString }], endMs);
    if (!last || last.timeMs < range.startMs) return;
    const untilMs = last.timeMs + 1;
    const startMs = Math.max(range.startMs, untilMs - spanMs);
    const page = await ctx.points.scan({
      series: id,
      isString,
      startMs,
      endMs: untilMs,
      limit: pageSize + 1,
    });
    const count = page.times.length;
    if (count > pageSize) {
      spanMs = Math.ceil(spanMs / 8);
      continue;
    }
    yield { times: page.times.toReversed(), values: page.values.toReversed() };
    endMs = startMs;
    if (count < pageSize / 4) spanMs *= 4;
  }
}

/** The last point of a series, if it is in the range. */
export async function* latestPage(
  ctx: RequestContext,
  { series, range }: PointsQuery,
): AsyncGenerator<PointColumns> {
  const [last] = await ctx.points.latest([{ series: series.id, isString: series.isString }], range.endMs);
  if (!last || last.timeMs < range.startMs) return;
  const { timeMs, value } = last;
  const times = Float64Array.of(timeMs);
  yield { times, values: typeof value === "number" ? Float64Array.of(value) : [value] };
}

/** A position in the pages of a series. */
export class PointCursor {
  /** The current time; undefined while a page is needed, and at the end. */
  timeMs: number | undefined;
  needsPage = true;
  readonly #pages: AsyncGenerator<PointColumns>;
  #page: PointColumns = { times: new Float64Array(), values: [] };
  #at = 0;

  constructor(pages: AsyncGenerator<PointColumns>) {
    this.#pages = pages;
  }

  get value(): ResultCell {
    return this.#page.values[this.#at]!;
  }

  async refill(): Promise<void> {
    const { value, done } = await this.#pages.next();
    this.needsPage = false;
    if (done) return;
    this.#page = value;
    this.#at = 0;
    this.timeMs = value.times[0]!;
  }

  advance(): void {
    this.#at += 1;
    this.timeMs = this.#page.times[this.#at];
    this.needsPage = this.timeMs === undefined;
  }
}
