// Runs one search: reads the window, sends samples to the compute thread, and computes the scores of matches.
import type { ComputationModule } from "../../compute/computation.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { latestPoint, refuseStrings } from "../datapoints/datapoints.ts";
import { requireSeries } from "../timeseries/timeseries.ts";
import { type DistanceMode, squaredDistance } from "./matching/sliding-distance.ts";
import type { WindowSearching } from "./matching/window-search.compute.ts";
import { gridOf, keysOf, readWhole, readWindow, type Source, sampleMs, samplesIn } from "./sources.ts";

export interface SearchQuery {
  /** The window to search for; `field` is its name in refusals. */
  readonly window: { readonly source: Source; readonly range: TimeRange; readonly field: string };
  /** The series to search: as many columns as the window, with the same buckets. */
  readonly searched: { readonly source: Source; readonly range: TimeRange };
  readonly mode: DistanceMode;
  /** The most matches; lowered to `limits.searchMatchesMax`. */
  readonly count: number;
}

/** A match: the samples from `fromMs` up to `toMs`, not included. */
export interface Match {
  readonly fromMs: number;
  readonly toMs: number;
  /** The distance from the window: 0 is the best. */
  readonly score: number;
}

const module: ComputationModule<WindowSearching> = {
  url: new URL("./matching/window-search.compute.ts", import.meta.url),
  size: "background",
};

export interface PreparedSearch {
  /** The series of the window and the searched ones. */
  readonly seriesIds: readonly number[];
  /**
   * Returns the matches, best first. `tell` gets the share of the time range searched so far, from 0 to 1.
   */
  readonly search: (ctx: RequestContext, tell?: (progress: number) => void) => Promise<Match[]>;
}

/**
 * Reads the window. Refuses unknown series (404), series of strings, and windows that cannot be compared
 * (400).
 */
export async function prepareSearch(ctx: RequestContext, query: SearchQuery): Promise<PreparedSearch> {
  const keys = [query.window, query.searched].flatMap(({ source }) => keysOf(source));
  const series = await requireSeries(ctx, keys, "READ");
  for (const one of series) refuseStrings(one);
  const columns = await readWindow(ctx, query.window);
  return {
    seriesIds: [...new Set(series.map(({ id }) => id))],
    search: (own, tell = () => {}) => matches(own, { ...query, columns }, tell),
  };
}

type Prepared = SearchQuery & { readonly columns: readonly Float64Array[] };

async function matches(
  ctx: RequestContext,
  query: Prepared,
  tell: (progress: number) => void,
): Promise<Match[]> {
  const { mode, columns: window } = query;
  const { source } = query.searched;
  const range = searchedRange(query);
  const grid = gridOf(source, window[0]!.length - 1);
  const count = Math.min(query.count, limits.searchMatchesMax);
  const start = { window, mode, count, ...(grid && { grid }) };
  const best = await ctx.computing.session(ctx, { module, start }, async (ask) => {
    const progress = await progressIn(ctx, source, range);
    // The next samples are read while the thread compares the current ones.
    let compared = Promise.resolve();
    for await (const samples of samplesIn(ctx, source, range)) {
      await compared;
      const send = async () => {
        refuseMore((await ask({ kind: "samples", samples })).samples);
        tell(progress(samples.times));
      };
      compared = send();
      compared.catch(() => {}); // The failure is thrown where the promise is awaited.
    }
    await compared;
    return (await ask({ kind: "best" })).best;
  });
  const found: Match[] = [];
  for (const { firstMs, lastMs, squared } of best) {
    const match = { fromMs: firstMs, toMs: lastMs + sampleMs(source) };
    const exact = await exactSquared(ctx, query, { startMs: match.fromMs, endMs: match.toMs });
    found.push({ ...match, score: Math.sqrt(exact ?? squared) });
  }
  return found.sort((a, b) => a.score - b.score || a.fromMs - b.fromMs);
}

/**
 * The whole buckets of the window's grid in the range. So the window itself is found, whatever the length of
 * a bucket.
 */
function searchedRange({ window, searched: { source, range } }: SearchQuery): TimeRange {
  if (source.kind === "points") return range;
  const { unitMs, bucketMs } = source.granularity;
  const origin = Math.floor(window.range.startMs / unitMs) * unitMs;
  const startMs = origin + Math.ceil((range.startMs - origin) / bucketMs) * bucketMs;
  return { startMs, endMs: startMs + Math.floor((range.endMs - startMs) / bucketMs) * bucketMs };
}

/** Measures progress from the first samples to the last point of the first series. */
async function progressIn(ctx: RequestContext, source: Source, { endMs }: TimeRange) {
  const latest = await latestPoint(ctx, keysOf(source)[0]!, endMs);
  let firstMs: number | undefined;
  return (times: Float64Array): number => {
    firstMs ??= times[0]!;
    const whole = (latest?.timeMs ?? endMs) - firstMs;
    return whole > 0 ? Math.min(1, Math.max(0, (times.at(-1)! - firstMs) / whole)) : 1;
  };
}

function refuseMore(samples: number): void {
  if (samples > limits.searchSamplesMax) throw fail("search-too-long", { limit: limits.searchSamplesMax });
}

/**
 * The squared distance by its formula, from stored samples. Undefined if these have changed since, or if
 * filled gaps depend on other samples.
 */
async function exactSquared(
  ctx: RequestContext,
  { columns, searched: { source }, mode }: Prepared,
  range: TimeRange,
): Promise<number | undefined> {
  const { columns: read } = await readWhole(ctx, source, range);
  let sum = 0;
  for (const [c, column] of columns.entries()) {
    if (read[c]!.length !== column.length) return undefined;
    sum += squaredDistance(column, read[c]!, mode);
  }
  return Number.isNaN(sum) ? undefined : sum;
}
