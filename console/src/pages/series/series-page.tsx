// All series of the project in a table, with a search.
import { Group, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { getTimeseries, getTimeseriesSearch, type TimeSeries } from "../../api/generated.ts";
import { countText } from "../../lib/format.ts";
import { linkToTrend } from "../../lib/trend-link.ts";
import { useProject } from "../../session/session.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import type { SeriesSearch } from "./search.ts";

const pageSize = 200;
const typingPauseMs = 200;

const columns: readonly TableColumn<TimeSeries>[] = [
  { key: "name", label: "Name", width: "minmax(140px, 2fr)", cell: ({ name }) => name },
  {
    key: "description",
    label: "Description",
    width: "minmax(120px, 3fr)",
    cell: ({ description }) => description ?? "",
  },
  { key: "unit", label: "Unit", width: "80px", cell: ({ unit }) => unit ?? "" },
  { key: "kind", label: "Kind", width: "90px", cell: kindOf },
];

export function SeriesPage() {
  const search = useSearch({ from: "/frame/series" });
  const list = useSeriesList(search);
  const navigate = useNavigate();
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const isWhole = list.isSuccess && !list.hasNextPage;
  return (
    <Page
      title="Series"
      fills
      note={list.isSuccess ? `${countText(rows.length)}${isWhole ? "" : " and more"}` : undefined}
      actions={<CopyAs request={requestOf(useProject(), search)} />}
      toolbar={<SeriesFilter />}
    >
      {list.isPending && <Loading what="the series" />}
      {list.isError && <Failure problem={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && (
        <VirtualTable
          label="Series"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          onOpen={({ name }) => void navigate(linkToTrend([name]))}
          loadMore={list.hasNextPage ? () => void list.fetchNextPage() : undefined}
          isLoadingMore={list.isFetchingNextPage}
          empty={<NoSeries search={search} />}
        />
      )}
    </Page>
  );
}

function SeriesFilter() {
  const { query } = useSearch({ from: "/frame/series" });
  const navigate = useNavigate({ from: "/series" });
  const change = useDebouncedCallback((value: string) => {
    void navigate({ search: (now) => ({ ...now, query: value === "" ? undefined : value }), replace: true });
  }, typingPauseMs);
  return (
    <Group>
      <TextInput
        key={query === undefined ? "empty" : "filled"}
        aria-label="Search series"
        placeholder="Search by name or description"
        leftSection={<Search size={15} aria-hidden />}
        defaultValue={query ?? ""}
        onChange={(event) => change(event.currentTarget.value)}
        w={{ base: "100%", xs: 320 }}
      />
    </Group>
  );
}

function NoSeries({ search }: { search: SeriesSearch }) {
  if (search.query !== undefined)
    return <Empty title="No series match">Search for another part of a name or description.</Empty>;
  return <Empty title="There are no series yet">Create them through the API, or import a CSV file.</Empty>;
}

function kindOf({ isString, isStep }: TimeSeries): string {
  if (isString) return "text";
  return isStep ? "steps" : "numbers";
}

interface SeriesPageResult {
  readonly items: readonly TimeSeries[];
  readonly next: string | undefined;
}

/** A search is ordered by how well it matches and has pages by offset; the list has pages by cursor. */
function useSeriesList({ query }: SeriesSearch) {
  const project = useProject();
  return useInfiniteQuery({
    queryKey: ["series", project, query],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<SeriesPageResult> => {
      if (query === undefined) {
        const { data } = await getTimeseries(project, { limit: pageSize, cursor: pageParam }, { signal });
        return { items: data.items, next: data.nextCursor };
      }
      const offset = Number(pageParam ?? 0);
      const { data } = await getTimeseriesSearch(project, { query, limit: pageSize, offset }, { signal });
      const isFull = data.items.length === pageSize;
      return { items: data.items, next: isFull ? String(offset + pageSize) : undefined };
    },
    getNextPageParam: ({ next }) => next,
  });
}

const requestOf = (project: string, { query }: SeriesSearch) => ({
  method: "GET" as const,
  project,
  path:
    query === undefined ? "/timeseries?limit=100" : `/timeseries/search?query=${encodeURIComponent(query)}`,
  odata: "Timeseries",
});
