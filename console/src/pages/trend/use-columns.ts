// The data of the lines in a window: loaded for a range around it, and in live mode continued every second
// and loaded again every ten.
import { type QueryClient, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useProject } from "../../session/session.ts";
import { bucketsIn, type Columns, type TimeWindow } from "../../ui/chart/columns.ts";
import { useNow } from "../../ui/use-now.ts";
import { BucketReader } from "./bucket-reader.ts";
import { continueColumns, type LoadedBuckets, loadColumns } from "./load-columns.ts";
import type { ReadableSeries } from "./read-points.ts";
import { bucketFor, loadedRange } from "./resolution.ts";
import { isStored, type TrendSeries } from "./trend-series.ts";

export interface LoadedColumns {
  readonly columns: Columns | undefined;
  readonly problem: unknown;
  readonly isLoading: boolean;
}

export interface ColumnsWanted {
  readonly series: readonly TrendSeries[];
  readonly window: TimeWindow;
  readonly widthPx: number;
  readonly isLive: boolean;
  /** Data that is not live is read again so often; absent for never. */
  readonly refreshMs?: number;
  /** False for data that is to be requested later. */
  readonly isWanted?: boolean;
  /** Changes when everything must be read again. */
  readonly version: number;
}

const liveEveryMs = 1_000;
/** Points before the last one, which arrive late, are read this often. */
const lateEveryMs = 10_000;
/** The data of earlier windows leaves the cache soon: a moving window makes much of it. */
const keptMs = 60_000;

export function useColumns(wanted: ColumnsWanted): readonly LoadedColumns[] {
  const { series, window, widthPx, isLive, refreshMs, isWanted = true, version } = wanted;
  const project = useProject();
  const client = useQueryClient();
  const [reader] = useState(() => new BucketReader());
  const nowMs = useNow(lateEveryMs);
  const bucketMs = bucketFor(window, widthPx);
  const lengthMs = isLive ? Math.round(window.endMs - window.startMs) : 0;
  const { startMs, endMs } = loadedRange(window, bucketMs);
  const round = isLive ? Math.floor(nowMs / lateEveryMs) : 0;
  const isRequested = widthPx > 0 && isWanted;
  // A window that moves within the loaded range is not a change of the queries.
  const queries = useMemo(() => {
    const range = { startMs, endMs };
    const place = { version, bucketMs, range, live: isLive ? { lengthMs, round } : undefined };
    return series.map((one) => ({
      ...columnsQuery({ client, project, reader }, one, place),
      enabled: isRequested && isReadable(one),
      refetchInterval: isLive ? liveEveryMs : (refreshMs ?? (false as const)),
    }));
  }, [
    client,
    project,
    reader,
    series,
    version,
    bucketMs,
    isLive,
    refreshMs,
    lengthMs,
    round,
    startMs,
    endMs,
    isRequested,
  ]);
  return useLastColumns(series, useQueries({ queries, combine: loadedOf }));
}

/** The part of a series that its data needs. */
type LoadableSeries = ReadableSeries & Pick<TrendSeries, "key">;

interface EarlyColumns extends Pick<ColumnsWanted, "window" | "widthPx" | "version"> {
  readonly series: readonly LoadableSeries[];
}

/**
 * Requests the data of a fixed window before the page renders it: the response arrives while the page is
 * rendered without it.
 */
export function loadEarly(source: Source, { series, window, widthPx, version }: EarlyColumns): void {
  if (widthPx === 0) return;
  const bucketMs = bucketFor(window, widthPx);
  const place = { version, bucketMs, range: loadedRange(window, bucketMs), live: undefined };
  for (const one of series) void source.client.prefetchQuery(columnsQuery(source, one, place));
}

export const isReadable = (series: TrendSeries): boolean => isStored(series) || series.isReady;

interface Source {
  readonly client: QueryClient;
  readonly project: string;
  readonly reader: BucketReader;
}

/** Which data of a series: a range, or in live mode a length of time up to now. */
interface Place {
  readonly version: number;
  readonly bucketMs: number;
  readonly range: TimeWindow;
  readonly live: { readonly lengthMs: number; readonly round: number } | undefined;
}

function columnsQuery(
  { client, project, reader }: Source,
  series: LoadableSeries,
  { version, bucketMs, range, live: length }: Place,
) {
  const source = series.kind === "stored" ? series.id : series.formula;
  const ofSeries = ["trend", project, series.key, source, version];
  const prefix = [...ofSeries, bucketMs];
  const end = length ? ["live", length.lengthMs, length.round] : [range.startMs, range.endMs];
  const queryKey = [...prefix, ...end];
  const request = { project, series, bucketMs, reader };
  return {
    queryKey,
    gcTime: keptMs,
    staleTime: length ? 0 : keptMs,
    structuralSharing: false,
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      length
        ? live({ ...request, signal }, { client, queryKey, lengthMs: length.lengthMs })
        : loadColumns(
            { ...request, signal, range },
            { loaded: loadedBuckets(client, prefix, range), points: pointsIn(client, ofSeries, range) },
          ),
  };
}

/** A line has its last data until the next one is loaded, so that it does not vanish meanwhile. */
function useLastColumns(
  series: readonly TrendSeries[],
  loaded: readonly LoadedColumns[],
): readonly LoadedColumns[] {
  const [last] = useState(() => new Map<string, Columns>());
  return useMemo(() => {
    const keys = new Set(series.map(({ key }) => key));
    for (const key of last.keys()) if (!keys.has(key)) last.delete(key);
    return series.map(({ key }, index) => {
      const one = loaded[index]!;
      if (one.columns) last.set(key, one.columns);
      return one.columns ? one : { ...one, columns: last.get(key) };
    });
  }, [series, loaded, last]);
}

const isSame = (one: TimeWindow, other: TimeWindow): boolean =>
  one.startMs === other.startMs && one.endMs === other.endMs;

/** The buckets of another range that were read lately and are most of this one, if there are any. */
function loadedBuckets(client: QueryClient, prefix: QueryKey, range: TimeWindow): LoadedBuckets | undefined {
  const common = (one: TimeWindow) => Math.min(one.endMs, range.endMs) - Math.max(one.startMs, range.startMs);
  return client
    .getQueryCache()
    .findAll({ queryKey: prefix, predicate: ({ state }) => !state.isInvalidated })
    .flatMap(({ queryKey, state }): LoadedBuckets[] => {
      const columns = state.data as Columns | undefined;
      const [startMs, endMs] = queryKey.slice(prefix.length);
      if (columns?.kind !== "buckets" || columns.readMs < Date.now() - keptMs) return [];
      return typeof startMs === "number" && typeof endMs === "number"
        ? [{ columns, range: { startMs, endMs } }]
        : [];
    })
    .filter((one) => common(one.range) > 0 && !isSame(one.range, range))
    .sort((one, other) => common(other.range) - common(one.range))[0];
}

/**
 * About how many points a range has: its share of those in the shortest loaded buckets that cover it, or else
 * as many as other loaded buckets have in such a time.
 */
function pointsIn(
  client: QueryClient,
  ofSeries: QueryKey,
  { startMs, endMs }: TimeWindow,
): number | undefined {
  const [best] = client
    .getQueriesData<Columns>({ queryKey: ofSeries })
    .flatMap(([queryKey, columns]) => {
      if (columns?.kind !== "buckets" || columns.averagesMs !== undefined) return [];
      if (columns.times.length === 0) return [];
      const [fromMs, toMs] = queryKey.slice(ofSeries.length + 1) as [unknown, unknown];
      const isCovering = typeof fromMs === "number" && fromMs <= startMs && Number(toMs) >= endMs;
      return [{ columns, isCovering, bucketMs: columns.bucketMs }];
    })
    .sort((one, other) =>
      one.isCovering === other.isCovering ? one.bucketMs - other.bucketMs : one.isCovering ? -1 : 1,
    );
  if (!best) return undefined;
  const { columns, isCovering, bucketMs } = best;
  const { counts } = isCovering ? bucketsIn(columns, { startMs: startMs - bucketMs + 1, endMs }) : columns;
  const points = counts.reduce((sum, count) => sum + count, 0);
  const share = (endMs - startMs) / (counts.length * bucketMs);
  return isCovering ? points * Math.min(1, share) : points * share;
}

const loadedOf = (
  results: readonly { data: Columns | undefined; error: unknown; isFetching: boolean }[],
): readonly LoadedColumns[] =>
  results.map(({ data, error, isFetching }) => ({ columns: data, problem: error, isLoading: isFetching }));

interface LivePlace {
  readonly client: QueryClient;
  readonly queryKey: QueryKey;
  readonly lengthMs: number;
}

/** Continues the data of the last time; without it, loads the window and half of its length before. */
function live(
  request: Omit<Parameters<typeof loadColumns>[0], "range">,
  { client, queryKey, lengthMs }: LivePlace,
): Promise<Columns> {
  const nowMs = Date.now();
  const startMs = Math.floor((nowMs - lengthMs * 1.1) / request.bucketMs) * request.bucketMs;
  const range = { startMs, endMs: nowMs + request.bucketMs + 60_000 };
  const previous = client.getQueryData<Columns>(queryKey);
  return previous ? continueColumns(previous, { ...request, range }) : loadColumns({ ...request, range });
}
