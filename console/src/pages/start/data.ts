// What the first page shows: counts, the newest values, recent events, saved trends, and the server's health.
import { useQuery } from "@tanstack/react-query";
import { baseUrl } from "../../api/base.ts";
import {
  defaults,
  getEvents,
  getTimeseries,
  getTrends,
  postTimeseriesLatest,
  type TimeSeries,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import type { SeriesChecked } from "./freshness-text.ts";

const refreshMs = 10_000;
const seriesMax = 1_000;
/** The server takes the items of so many series in one request. */
const seriesPerRequest = 100;
const eventsMax = 6;
const trendsMax = 6;

/** Sets of OData with a count. */
export const countedSets = ["Assets", "Timeseries", "Events", "Files"] as const;
export type CountedSet = (typeof countedSets)[number];

/** How many records of a set the account can read; no REST operation counts all records of a type. */
export function useCount(set: CountedSet) {
  const project = useProject();
  return useQuery({
    queryKey: ["start", project, "count", set],
    queryFn: async ({ signal }) => {
      const address = `${baseUrl()}/odata/v1/projects/${encodeURIComponent(project)}/${set}/$count`;
      const headers = defaults.headers as Record<string, string>;
      const response = await defaults.fetch!(address, { headers, signal });
      if (response.status === 403) return null;
      if (!response.ok) throw new Error(`The server responded with status ${response.status}.`);
      return Number(await response.text());
    },
  });
}

export interface Freshness extends SeriesChecked {
  /** The series with the newest value; absent without any value. */
  readonly newest?: { readonly name: string; readonly timeMs: number };
}

const hourMs = 3_600_000;

/** The age of the data, from the first series of the project. */
export function useFreshness() {
  const project = useProject();
  return useQuery({
    queryKey: ["start", project, "freshness"],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }): Promise<Freshness> => {
      const { items: series, nextCursor } = (await getTimeseries(project, { limit: seriesMax }, { signal }))
        .data;
      const hasMore = nextCursor !== undefined;
      if (series.length === 0) return { checked: 0, silent: 0, hasMore };
      const latest = await readLatest(project, series, signal);
      const timed = latest.flatMap(({ name, datapoints: [point] }) =>
        point === undefined ? [] : [{ name, timeMs: point.timestamp }],
      );
      const newest = timed.sort((a, b) => b.timeMs - a.timeMs)[0];
      const sinceMs = Date.now() - hourMs;
      const silent = series.length - timed.filter(({ timeMs }) => timeMs >= sinceMs).length;
      return { checked: series.length, silent, hasMore, ...(newest && { newest }) };
    },
  });
}

async function readLatest(project: string, series: readonly TimeSeries[], signal: AbortSignal) {
  const requests: ReturnType<typeof postTimeseriesLatest>[] = [];
  for (let from = 0; from < series.length; from += seriesPerRequest) {
    const items = series.slice(from, from + seriesPerRequest).map(({ id }) => ({ id }));
    requests.push(postTimeseriesLatest(project, { items }, { signal }));
  }
  return (await Promise.all(requests)).flatMap(({ data }) => data.items);
}

export function useRecentEvents() {
  const project = useProject();
  return useQuery({
    queryKey: ["start", project, "events"],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) =>
      (await getEvents(project, { sort: "DESC", maxStartTime: Date.now(), limit: eventsMax }, { signal }))
        .data.items,
  });
}

export function useSavedTrends() {
  const project = useProject();
  return useQuery({
    queryKey: ["start", project, "trends"],
    queryFn: async ({ signal }) => (await getTrends(project, { limit: trendsMax }, { signal })).data.items,
  });
}

export interface Health {
  readonly status: "ok" | "degraded" | "failing";
  readonly store: string;
  readonly quarantined: readonly unknown[];
  readonly backups?: { readonly problem?: string };
}

/** The health of the server, also when it is not well (503). */
export function useHealth(enabled: boolean) {
  return useQuery({
    queryKey: ["start", "health"],
    enabled,
    refetchInterval: refreshMs,
    queryFn: async ({ signal }) => {
      const response = await defaults.fetch!(`${baseUrl()}/health`, { signal });
      return (await response.json()) as Health;
    },
  });
}
