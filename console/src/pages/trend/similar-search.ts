// Searches the history for windows in which series look like they do in one window, by a job of the server.
import { HttpError } from "@oazapfts/runtime";
import {
  getAnalyticsJobsByJobId,
  getAnalyticsPatternsearchByJobId,
  type PatternSearch,
  postAnalyticsJobsByJobIdCancel,
  postAnalyticsPatternsearchSearch,
} from "../../api/generated.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { bucketOfAtMost, granularityOf } from "./resolution.ts";
import type { StoredSeries } from "./trend-series.ts";

export interface SimilarQuery {
  readonly series: readonly StoredSeries[];
  readonly window: TimeWindow;
  /** Where to search; it ends now. Undefined for all time. */
  readonly fromMs: number | undefined;
}

export interface SimilarWindow extends TimeWindow {
  /** From 0 to 1: the mean correlation of the series with those of the window. */
  readonly likeness: number;
}

/**
 * The shape of a window has at most so many samples: enough to tell shapes apart, and quick to compare.
 * Fewer are tried when the points of a series are too far apart, because the first and the last sample need
 * a point.
 */
const samplesTried = [300, 100, 30, 10];
const matchesMax = 20;
const pollMs = 400;

/** The server compares at most so many series together. */
export const seriesMax = 10;
/** A window has at least two buckets of a second. */
export const shortestMs = 2_000;

interface SearchRequest {
  readonly body: PatternSearch;
  readonly samples: number;
}

function searchOf({ series, window, fromMs }: SimilarQuery, samplesMax: number): SearchRequest {
  const bucketMs = bucketOfAtMost(window, samplesMax);
  const startMs = Math.floor(window.startMs / bucketMs) * bucketMs;
  // A window often ends now: a bucket that has just begun has no points.
  const endMs = Math.max(startMs + 2 * bucketMs, Math.floor(window.endMs / bucketMs) * bucketMs);
  const timeSeries = series.map(({ id, isStep }) => ({
    id,
    missingDataStrategy: isStep ? ("ffill" as const) : ("linearInterpolation" as const),
  }));
  const spec = { timeSeries, aggregates: ["average"], granularity: granularityOf(bucketMs) };
  return {
    samples: (endMs - startMs) / bucketMs,
    body: {
      timeSeriesDataSpec: [{ ...spec, start: startMs, end: endMs }],
      description: "Find similar windows",
      // The window itself is one of the matches.
      arguments: { limit: matchesMax + 1, ...(fromMs !== undefined && { minRange: fromMs }) },
    },
  };
}

/**
 * The mean correlation, from the distance of z-normalised samples: each column adds at most twice its
 * samples, times one minus its correlation, to the square.
 */
const likenessOf = (score: number, samples: number, columns: number): number =>
  Math.max(0, 1 - score ** 2 / (2 * samples * columns));

/** The matches, most alike first, without the window itself. Aborting cancels the job of the server. */
export async function searchSimilar(
  project: string,
  query: SimilarQuery,
  { signal, onProgress }: { readonly signal: AbortSignal; onProgress(part: number): void },
): Promise<readonly SimilarWindow[]> {
  const { jobId, samples } = await startSearch(project, query, signal);
  const cancel = () => void postAnalyticsJobsByJobIdCancel(project, jobId).catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  for (;;) {
    const { status, progress, errorMsg } = await getAnalyticsJobsByJobId(project, jobId, { signal });
    if (status === "DONE") break;
    if (status !== "RUNNING") throw new Error(errorMsg ?? "Somebody cancelled the search.");
    onProgress(progress);
    await pause(pollMs, signal);
  }
  signal.removeEventListener("abort", cancel);
  const { items } = (await getAnalyticsPatternsearchByJobId(project, jobId, { signal })).data;
  const { startMs, endMs } = query.window;
  return items
    .filter(({ from, to }) => to <= startMs || from >= endMs)
    .slice(0, matchesMax)
    .map(({ from, to, score }) => ({
      ...{ startMs: from, endMs: to },
      likeness: likenessOf(score, samples, query.series.length),
    }));
}

async function startSearch(project: string, query: SimilarQuery, signal: AbortSignal) {
  let refusal: unknown;
  for (const samplesMax of samplesTried) {
    const { body, samples } = searchOf(query, samplesMax);
    try {
      const { jobId } = await postAnalyticsPatternsearchSearch(project, body, { signal });
      return { jobId, samples };
    } catch (problem) {
      if (!(problem instanceof HttpError && problem.status === 400)) throw problem;
      refusal = problem;
    }
  }
  throw refusal;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
