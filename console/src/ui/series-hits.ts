// The search for series by words of their names and descriptions, for every control that picks series.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import {
  getTimeseries,
  getTimeseriesBySeries,
  getTimeseriesSearch,
  type TimeSeries,
} from "../api/generated.ts";
import { useProject } from "../session/session.ts";

const hitsMax = 30;
const typingPauseMs = 150;

/** The series that match the typed words best; without words, the first series of the project. */
export function useSeriesHits(typed: string) {
  const project = useProject();
  const [query] = useDebouncedValue(typed.trim(), typingPauseMs);
  return useQuery({
    queryKey: ["series to add", project, query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<TimeSeries[]> => {
      const { data } =
        query === ""
          ? await getTimeseries(project, { limit: hitsMax }, { signal })
          : await getTimeseriesSearch(project, { query, limit: hitsMax }, { signal });
      return data.items;
    },
  });
}

const namesStaleMs = 300_000;

/** The names of series; the id as text for one that is unknown, hidden or not yet read. */
export function useSeriesNames(ids: readonly number[]): (id: number) => string {
  const project = useProject();
  const distinct = [...new Set(ids)];
  const found = useQueries({
    queries: distinct.map((id) => ({
      queryKey: ["series", project, "name", id],
      staleTime: namesStaleMs,
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await getTimeseriesBySeries(project, id, {}, { signal })).data.items[0]!.name,
    })),
  });
  return (id) => found[distinct.indexOf(id)]?.data ?? String(id);
}

/** The series of exactly this name; null if there is none that the person may read. */
export const seriesByNameQuery = (project: string, name: string) => ({
  queryKey: ["series by name", project, name],
  staleTime: namesStaleMs,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<TimeSeries | null> => {
    const { data } = await getTimeseries(project, { name, limit: 1 }, { signal });
    return data.items[0] ?? null;
  },
});
