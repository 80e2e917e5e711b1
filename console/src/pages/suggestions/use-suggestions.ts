// The list of suggestions page by page, the names of their records, and the review.
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import {
  getSuggestions,
  postFilesByids,
  postSuggestionsAccept,
  postSuggestionsReject,
  postSuggestionsTimeseries,
  postTimeseriesByids,
  type Suggestion,
} from "../../api/generated.ts";
import { cursorPage, listQuery } from "../../api/list-pages.ts";
import { useProject } from "../../session/session.ts";
import type { Verdict } from "../../ui/verdict-buttons.tsx";
import type { SuggestionsSearch } from "./search.ts";

const pageSize = 100;

export const filterOf = ({ state = "OPEN", kind, score }: SuggestionsSearch) => ({
  ...{ state, kind },
  ...(score !== undefined && { scoreMax: Number(score) }),
});

export function useSuggestionList(search: SuggestionsSearch) {
  const project = useProject();
  return useInfiniteQuery(
    listQuery({
      queryKey: ["suggestions", project, "list", search],
      pageSize,
      read: async ({ limit, position: cursor, signal }) =>
        cursorPage((await getSuggestions(project, { ...filterOf(search), limit, cursor }, { signal })).data),
    }),
  );
}

/**
 * Accepts or rejects suggestions, one review after the other; the lists and records with them are read again,
 * which the next review does not wait for.
 */
export function useReview() {
  const project = useProject();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ verdict, items }: { verdict: Verdict; items: readonly number[] }) => {
      const review = verdict === "accept" ? postSuggestionsAccept : postSuggestionsReject;
      return review(project, { items: [...items] });
    },
    scope: { id: "reviews of suggestions" },
    onSettled: () => {
      for (const key of ["suggestions", "files", "timeseries"])
        void client.invalidateQueries({ queryKey: [key] });
    },
  });
}

/** Compares all series without an asset, a page at a time; returns how many suggestions are new. */
export function useComputation() {
  const project = useProject();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const counts = { examined: 0, proposed: 0 };
      for (let cursor: string | undefined; ; ) {
        const { data } = await postSuggestionsTimeseries(project, cursor === undefined ? {} : { cursor });
        counts.examined += data.examined;
        counts.proposed += data.proposed;
        cursor = data.nextCursor;
        if (cursor === undefined) return counts;
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["suggestions"] }),
  });
}

/** The name of the series or file of a suggestion; its id as text while it is not known. */
export function useSubjectNames(rows: readonly Suggestion[]): (row: Suggestion) => string {
  const project = useProject();
  const idsOf = (member: "seriesId" | "fileId") =>
    [...new Set(rows.flatMap((row) => row[member] ?? []))].sort((a, b) => a - b);
  const [series, files] = [idsOf("seriesId"), idsOf("fileId")];
  const { data: seriesNames } = useQuery({
    queryKey: ["timeseries", project, "names", series],
    enabled: series.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await postTimeseriesByids(project, { items: series }, {}, { signal });
      return new Map(data.items.map(({ id, name }) => [id, name]));
    },
  });
  const { data: fileNames } = useQuery({
    queryKey: ["files", project, "names", files],
    enabled: files.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await postFilesByids(project, { items: files }, { signal });
      return new Map(data.items.map(({ id, fileName }) => [id, fileName]));
    },
  });
  return ({ seriesId, fileId }) =>
    (seriesId === undefined ? fileNames?.get(fileId!) : seriesNames?.get(seriesId)) ??
    String(seriesId ?? fileId);
}
