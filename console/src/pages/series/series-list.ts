// The list of series over one filter: its requests page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getTimeseries, getTimeseriesSearch, type TimeSeries } from "../../api/generated.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { SeriesKind, SeriesSearch } from "./search.ts";

/** The largest offset of a search; it has no results beyond. */
const searchOffsetMax = 1_000;
const pageSize = 200;
const exportPageSize = 1_000;

export interface SeriesPageResult {
  readonly items: readonly TimeSeries[];
  readonly next: string | undefined;
  /** Whether a search has more results than it can return. */
  readonly isCut: boolean;
}

const kindFilters: Readonly<Record<SeriesKind, { isString?: boolean; isStep?: boolean }>> = {
  numbers: { isString: false, isStep: false },
  steps: { isString: false, isStep: true },
  text: { isString: true },
};

export function kindOf({ isString, isStep }: TimeSeries): SeriesKind {
  if (isString) return "text";
  return isStep ? "steps" : "numbers";
}

interface PageOptions {
  readonly position: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A search is ordered by how well it matches and has pages by offset; the list has pages by cursor. */
async function readPage(
  project: string,
  { query, unit, kind, assets }: SeriesSearch,
  { position, limit, signal }: PageOptions,
): Promise<SeriesPageResult> {
  const filter = { unit, ...(kind && kindFilters[kind]), limit };
  const subtrees = assets && JSON.stringify(assets);
  if (query === undefined) {
    const { data } = await getTimeseries(
      project,
      { ...filter, path: subtrees, cursor: position },
      { signal },
    );
    return { items: data.items, next: data.nextCursor, isCut: false };
  }
  const offset = Number(position ?? 0);
  const search = { ...filter, query, assetSubtrees: subtrees, offset };
  const { items } = (await getTimeseriesSearch(project, search, { signal })).data;
  const isFull = items.length === limit;
  const hasNext = isFull && offset + limit <= searchOffsetMax;
  return { items, next: hasNext ? String(offset + limit) : undefined, isCut: isFull && !hasNext };
}

export function useSeriesList(search: SeriesSearch) {
  const project = useProject();
  return useInfiniteQuery({
    queryKey: ["series", project, search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: position, signal }) =>
      readPage(project, search, { position, limit: pageSize, signal }),
    getNextPageParam: ({ next }) => next,
  });
}

/** All pages, one after the other. */
export async function* allSeries(
  project: string,
  search: SeriesSearch,
  signal: AbortSignal,
): AsyncGenerator<readonly TimeSeries[]> {
  let position: string | undefined;
  do {
    const page = await readPage(project, search, { position, limit: exportPageSize, signal });
    yield page.items;
    position = page.next;
  } while (position !== undefined);
}

/** The request of the list for other programs. */
export function requestOf(project: string, { query, unit, kind, assets }: SeriesSearch): ApiRequest {
  const subtrees = assets && JSON.stringify(assets);
  const parameters = {
    ...(query === undefined ? { path: subtrees } : { query, assetSubtrees: subtrees }),
    ...{ unit, ...(kind && kindFilters[kind]), limit: 100 },
  };
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
  const path = query === undefined ? "/timeseries" : "/timeseries/search";
  return { method: "GET", project, path: `${path}?${text}`, odata: odataOf({ query, unit, kind }) };
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

function odataOf({ query, unit, kind }: SeriesSearch): string {
  const { isString, isStep } = kind ? kindFilters[kind] : {};
  const conditions = [
    query !== undefined && `contains(Name,${literal(query)})`,
    unit !== undefined && `Unit eq ${literal(unit)}`,
    isString !== undefined && `IsString eq ${isString}`,
    isStep !== undefined && `IsStep eq ${isStep}`,
  ].filter((condition) => condition !== false);
  if (conditions.length === 0) return "Timeseries";
  return `Timeseries?$filter=${encodeURIComponent(conditions.join(" and "))}`;
}
