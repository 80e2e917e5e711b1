// The latest values, the last day and the numbers of points of the series in view. One request reads the
// latest values of up to a hundred of them, and one the last day.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import {
  type AggregateDatapoint,
  type Datapoint,
  getTimeseriesByIdDataCount,
  postTimeseriesDataquery,
  postTimeseriesLatest,
  type TimeSeries,
} from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import type { SparkPoint } from "../../ui/sparkline.tsx";
import { endOfTimeMs, startOfTimeMs } from "./all-time.ts";

/** The most series of one request. */
const seriesMax = 100;
const scrollPauseMs = 120;
const latestEveryMs = 5_000;
const dayEveryMs = 60_000;
const countsEveryMs = 60_000;
const dayMs = 86_400_000;
const bucketMs = 15 * 60_000;
/** Without it, the API counts points from 1970 to now: not those of a forecast. */
const allTime = { start: String(startOfTimeMs), end: String(endOfTimeMs) };

export interface DayOfSeries {
  readonly startMs: number;
  readonly endMs: number;
  readonly bucketMs: number;
  readonly points: readonly SparkPoint[];
  /** The points of the day. */
  readonly count: number;
}

export interface ValuesInView {
  /** By id; null when the series has no points, absent while it is not known. */
  readonly latest: ReadonlyMap<number, Datapoint | null>;
  /** By id; series of strings have none. */
  readonly day: ReadonlyMap<number, DayOfSeries>;
  /** Why the latest values could not be read. */
  readonly problem: unknown;
}

export function useValuesInView(rows: readonly TimeSeries[]): ValuesInView {
  const project = useProject();
  const [settled] = useDebouncedValue(rows, scrollPauseMs);
  const all = settled.map(({ id }) => id);
  const numeric = settled.filter(({ isString }) => !isString).map(({ id }) => id);
  const latest = useQuery({
    queryKey: ["series values", project, "latest", all],
    enabled: all.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: latestEveryMs,
    queryFn: ({ signal }) => inGroups(all, (ids) => readLatest(project, ids, signal)),
  });
  const day = useQuery({
    queryKey: ["series values", project, "day", numeric],
    enabled: numeric.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: dayEveryMs,
    staleTime: dayEveryMs,
    queryFn: ({ signal }) => inGroups(numeric, (ids) => readDay(project, ids, signal)),
  });
  return { latest: latest.data ?? new Map(), day: day.data ?? new Map(), problem: latest.error };
}

/** The numbers of all points by id, absent while it is not known. Each series takes a request. */
export function useCountsInView(rows: readonly TimeSeries[]): ReadonlyMap<number, number> {
  const project = useProject();
  const [settled] = useDebouncedValue(rows, scrollPauseMs);
  return useQueries({
    queries: settled.map(({ id }) => ({
      queryKey: ["series values", project, "count", id],
      staleTime: countsEveryMs,
      refetchInterval: countsEveryMs,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const { data } = await getTimeseriesByIdDataCount(project, id, allTime, { signal });
        return [id, data.items[0]!.count] as const;
      },
    })),
    combine: countsOf,
  });
}

const countsOf = (results: readonly { readonly data: readonly [number, number] | undefined }[]) =>
  new Map(results.flatMap(({ data }) => (data ? [data] : [])));

/** Reads values by id, in requests of at most `seriesMax` series. */
async function inGroups<Value>(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly (readonly [id: number, value: Value])[]>,
): Promise<ReadonlyMap<number, Value>> {
  const groups: (readonly number[])[] = [];
  for (let from = 0; from < ids.length; from += seriesMax) groups.push(ids.slice(from, from + seriesMax));
  return new Map((await Promise.all(groups.map(read))).flat());
}

async function readLatest(project: string, ids: readonly number[], signal: AbortSignal) {
  const body = { items: ids.map((id) => ({ id })), before: endOfTimeMs };
  const { data } = await postTimeseriesLatest(project, body, { signal });
  return ids.map((id, i) => [id, data.items[i]?.datapoints[0] ?? null] as const);
}

async function readDay(project: string, ids: readonly number[], signal: AbortSignal) {
  const endMs = Math.ceil(Date.now() / bucketMs) * bucketMs;
  const startMs = endMs - dayMs;
  const body = {
    items: ids.map((id) => ({ id })),
    ...{ start: startMs, end: endMs, aggregates: "average,count" },
    ...{ granularity: `${bucketMs / 60_000}m`, limit: dayMs / bucketMs },
  };
  const { data } = await postTimeseriesDataquery(project, body, {}, { signal });
  return ids.map((id, i) => {
    const buckets = (data.items[i]?.datapoints ?? []) as readonly AggregateDatapoint[];
    const points = buckets.flatMap(({ timestamp, average }) =>
      average === undefined ? [] : [{ timeMs: timestamp, value: average }],
    );
    const count = buckets.reduce((sum, bucket) => sum + (bucket.count ?? 0), 0);
    return [id, { startMs, endMs, bucketMs, points, count }] as const;
  });
}

/** Of the usual time between two points; a series that is later than that has stopped. */
const lateFactor = 10;
const lateMinMs = 60_000;

/**
 * Whether new points are overdue: compared with the usual time between points of the last day, or with a day
 * when there were none.
 */
export function isStale(latest: Datapoint, day: DayOfSeries | undefined, nowMs: number): boolean {
  const usualMs = day && day.count > 0 ? (day.endMs - day.startMs) / day.count : dayMs / lateFactor;
  return nowMs - latest.timestamp > Math.max(lateMinMs, lateFactor * usualMs);
}
