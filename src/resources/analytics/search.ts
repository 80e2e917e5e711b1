// One search for a window: reads the window, sends the samples to the compute thread, and scores the matches.
import type { ComputationModule } from "../../compute/computation.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import type { TimeRange } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import { latestPoint, refuseTexts } from "../datapoints/datapoints.ts";
import { requireSeries } from "../timeseries/timeseries.ts";
import { type DistanceMode, squaredDistance } from "./matching/sliding-distance.ts";
import type { WindowSearching } from "./matching/window-search.compute.ts";
import { gridOf, keysOf, readWhole, readWindow, type Source, sampleMs, samplesIn } from "./sources.ts";

export interface SearchWanted {
  /** The window to look for; `field` names it in refusals. */
  readonly window: { readonly source: Source; readonly range: TimeRange; readonly field: string };
  /** Where to look: as many columns as the window has, of the same buckets. */
  readonly searched: { readonly source: Source; readonly range: TimeRange };
  readonly mode: DistanceMode;
  /** Of matches; lowered to `limits.searchMatchesMax`. */
  readonly count: number;
}

/** Reads of the series from `fromMs` to `toMs`, not included, return the window. */
export interface Match {
  readonly fromMs: number;
  readonly toMs: number;
  /** The distance: 0 is the best. */
  readonly score: number;
}

const module: ComputationModule<WindowSearching> = {
  url: new URL("./matching/window-search.compute.ts", import.meta.url),
  size: "background",
};

export interface PreparedSearch {
  /** Of the window and of what is searched. */
  readonly seriesIds: readonly number[];
  /** The matches, best first. `tell` hears how much of the time range was searched, from 0 to 1. */
  readonly search: (ctx: RequestContext, tell?: (progress: number) => void) => Promise<Match[]>;
}

/**
 * Reads the window. Refuses unknown series (404), series of texts and windows that cannot be compared (400)
 * before anything is searched.
 */
export async function prepareSearch(ctx: RequestContext, wanted: SearchWanted): Promise<PreparedSearch> {
  const keys = [wanted.window, wanted.searched].flatMap(({ source }) => keysOf(source));
  const series = await requireSeries(ctx, keys, "READ");
  for (const one of series) refuseTexts(one);
  const columns = await readWindow(ctx, wanted.window);
  return {
    seriesIds: [...new Set(series.map(({ id }) => id))],
    search: (own, tell = () => {}) => matches(own, { ...wanted, columns }, tell),
  };
}

type Prepared = SearchWanted & { readonly columns: readonly Float64Array[] };

async function matches(
  ctx: RequestContext,
  wanted: Prepared,
  tell: (progress: number) => void,
): Promise<Match[]> {
  const { mode, columns: window } = wanted;
  const { source } = wanted.searched;
  const range = searchedRange(wanted);
  const grid = gridOf(source, window[0]!.length - 1);
  const count = Math.min(wanted.count, limits.searchMatchesMax);
  const start = { window, mode, count, ...(grid && { grid }) };
  const best = await ctx.computing.session(ctx, { module, start }, async (ask) => {
    const progress = await progressIn(ctx, source, range);
    // The next piece is read while the thread compares the one before.
    let compared = Promise.resolve();
    for await (const samples of samplesIn(ctx, source, range)) {
      await compared;
      const send = async () => {
        refuseMore((await ask({ kind: "samples", samples })).samples);
        tell(progress(samples.times));
      };
      compared = send();
      compared.catch(() => {}); // It is raised where it is awaited.
    }
    await compared;
    return (await ask({ kind: "best" })).best;
  });
  const found: Match[] = [];
  for (const { firstMs, lastMs, squared } of best) {
    const match = { fromMs: firstMs, toMs: lastMs + sampleMs(source) };
    const exact = await exactSquared(ctx, wanted, { startMs: match.fromMs, endMs: match.toMs });
    found.push({ ...match, score: Math.sqrt(exact ?? squared) });
  }
  return found.sort((a, b) => a.score - b.score || a.fromMs - b.fromMs);
}

/**
 * Buckets are those of the window's grid that are whole in the range: so the window itself is among them,
 * whatever multiple of its unit a bucket is.
 */
function searchedRange({ window, searched: { source, range } }: SearchWanted): TimeRange {
  if (source.kind === "points") return range;
  const { unitMs, bucketMs } = source.granularity;
  const origin = Math.floor(window.range.startMs / unitMs) * unitMs;
  const startMs = origin + Math.ceil((range.startMs - origin) / bucketMs) * bucketMs;
  return { startMs, endMs: startMs + Math.floor((range.endMs - startMs) / bucketMs) * bucketMs };
}

/** From the first samples to the last point of the first series. */
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
 * By the formula itself, from the window as it is stored; undefined when that has changed since, or depends
 * on samples outside of it.
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
