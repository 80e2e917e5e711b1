// The data of the lines in a window: loaded for a range around it, and in live mode continued every second
// and loaded again every ten.
import { type QueryClient, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useProject } from "../../session/session.ts";
import type { Columns, TimeWindow } from "../../ui/chart/columns.ts";
import { useNow } from "../../ui/use-now.ts";
import { continueColumns, type LoadedBuckets, loadColumns } from "./load-columns.ts";
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
  /** Changes when everything must be read again. */
  readonly version: number;
}

const liveEveryMs = 1_000;
/** Points before the last one, which arrive late, are read this often. */
const lateEveryMs = 10_000;
/** The data of earlier windows leaves the cache soon: a moving window makes much of it. */
const keptMs = 60_000;

export function useColumns({
  series,
  window,
  widthPx,
  isLive,
  version,
}: ColumnsWanted): readonly LoadedColumns[] {
  const project = useProject();
  const client = useQueryClient();
  const nowMs = useNow(lateEveryMs);
  const bucketMs = bucketFor(window, widthPx);
  const lengthMs = isLive ? Math.round(window.endMs - window.startMs) : 0;
  const { startMs, endMs } = loadedRange(window, bucketMs);
  const round = isLive ? Math.floor(nowMs / lateEveryMs) : 0;
  const isShown = widthPx > 0;
  // A window that moves within the loaded range is not a change of the queries.
  const queries = useMemo(
    () =>
      series.map((one) => {
        const place = isLive ? ["live", lengthMs, round] : [startMs, endMs];
        const source = isStored(one) ? one.id : one.formula;
        const prefix = ["trend", project, one.key, source, version, bucketMs];
        const queryKey = [...prefix, ...place];
        const request = { project, series: one, bucketMs };
        return {
          queryKey,
          gcTime: keptMs,
          enabled: isShown && (isStored(one) || one.isReady),
          staleTime: isLive ? 0 : keptMs,
          refetchInterval: isLive ? liveEveryMs : (false as const),
          structuralSharing: false,
          queryFn: ({ signal }: { signal: AbortSignal }) =>
            isLive
              ? live({ ...request, signal }, { client, queryKey, lengthMs })
              : loadColumns(
                  { ...request, signal, range: { startMs, endMs } },
                  loadedBuckets(client, prefix, { startMs, endMs }),
                ),
        };
      }),
    [client, project, series, version, bucketMs, isLive, lengthMs, round, startMs, endMs, isShown],
  );
  return useLastColumns(series, useQueries({ queries, combine: loadedOf }));
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
    .filter((one) => common(one.range) > 0)
    .sort((one, other) => common(other.range) - common(one.range))[0];
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
