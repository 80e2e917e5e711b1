// The series of a trend: their records by name, and how their lines look.
import { useQueries } from "@tanstack/react-query";
import { getTimeseries, type TimeSeries } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";

export interface TrendSeries {
  /** Unique in the trend. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly isStep: boolean;
  readonly isString: boolean;
  readonly isHidden: boolean;
  readonly color: string;
  readonly id: number;
}

export interface FoundSeries {
  readonly series: readonly TimeSeries[];
  readonly isPending: boolean;
  /** Names without a series that the person may read. */
  readonly missing: readonly string[];
  readonly problem: unknown;
}

const staleMs = 300_000;

/** The records of these names, in their order. */
export function useSeriesByName(names: readonly string[]): FoundSeries {
  const project = useProject();
  return useQueries({
    queries: names.map((name) => ({
      queryKey: ["series by name", project, name],
      staleTime: staleMs,
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<TimeSeries | null> => {
        const { data } = await getTimeseries(project, { name, limit: 1 }, { signal });
        return data.items[0] ?? null;
      },
    })),
    combine: (results) => ({
      series: results.flatMap(({ data }) => data ?? []),
      isPending: results.some(({ isPending }) => isPending),
      missing: results.flatMap(({ data }, index) => (data === null ? names[index]! : [])),
      problem: results.find(({ error }) => error)?.error,
    }),
  });
}
