// The data of the lines in a window: loaded for a range around it, and in live mode continued every second.
import { type QueryClient, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useProject } from "../../session/session.ts";
import type { Columns, TimeWindow } from "../../ui/chart/columns.ts";
import { continueColumns, loadColumns } from "./load-columns.ts";
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
  const bucketMs = bucketFor(window, widthPx);
  const lengthMs = Math.round(window.endMs - window.startMs);
  const range = loadedRange(window, bucketMs);
  return useQueries({
    queries: series.map((one) => {
      const place = isLive ? ["live", lengthMs] : [range.startMs, range.endMs];
      const source = isStored(one) ? one.id : one.formula;
      const queryKey = ["trend", project, one.key, source, version, bucketMs, ...place];
      const request = { project, series: one, bucketMs };
      return {
        queryKey,
        gcTime: keptMs,
        enabled: widthPx > 0 && (isStored(one) || one.isReady),
        staleTime: isLive ? 0 : keptMs,
        refetchInterval: isLive ? liveEveryMs : (false as const),
        placeholderData: (previous: Columns | undefined, query: { queryKey: QueryKey } | undefined) =>
          query?.queryKey[2] === one.key ? previous : undefined,
        structuralSharing: false,
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          isLive
            ? live({ ...request, signal }, { client, queryKey, lengthMs })
            : loadColumns({ ...request, signal, range }),
      };
    }),
    combine: (results) =>
      results.map(({ data, error, isFetching }) => ({
        columns: data,
        problem: error,
        isLoading: isFetching,
      })),
  });
}

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
