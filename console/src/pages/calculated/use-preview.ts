// The results of the expression for a range.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { postTimeseriesDataquery } from "../../api/generated.ts";
import { useProject } from "../../session/session.ts";
import { aliasesIn, type CalculatedSearch } from "./search.ts";
import { typedNames } from "./use-typed-series.ts";

export const resultsMax = 5_000;
const typingPauseMs = 300;

export const requestOf = (search: CalculatedSearch) => ({
  items: [{ name: search.name ?? "result", function: search.function ?? "", aliases: aliasesIn(search) }],
  start: search.start ?? defaultStart,
  end: "now",
  limit: resultsMax,
});

export const defaultStart = "1d-ago";

export interface Result {
  readonly timestamp: number;
  readonly value: number;
}

export function usePreview(search: CalculatedSearch) {
  const project = useProject();
  const [settled] = useDebouncedValue(search, typingPauseMs);
  return useQuery({
    queryKey: ["calculated", project, requestOf(settled)],
    enabled: settled.function !== undefined && typedNames(settled).length === 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await postTimeseriesDataquery(project, requestOf(settled), {}, { signal });
      return {
        start: settled.start ?? defaultStart,
        results: data.items[0]!.datapoints as readonly Result[],
      };
    },
  });
}
