// The list of series over one filter: its requests page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getTimeseries, getTimeseriesSearch, type TimeSeries } from "../../api/generated.ts";
import { allPages, cursorPage, listQuery, type ReadPage, searchPage } from "../../api/list-pages.ts";
import { addressOf } from "../../lib/address.ts";
import { filtered, literal } from "../../lib/odata.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { SeriesKind, SeriesSearch } from "./search.ts";

const pageSize = 200;

export const kindFilters: Readonly<Record<SeriesKind, { isString?: boolean; isStep?: boolean }>> = {
  numbers: { isString: false, isStep: false },
  steps: { isString: false, isStep: true },
  text: { isString: true },
};

export function kindOf({ isString, isStep }: TimeSeries): SeriesKind {
  if (isString) return "text";
  return isStep ? "steps" : "numbers";
}

const reader =
  (project: string, { query, unit, kind, assets }: SeriesSearch): ReadPage<TimeSeries> =>
  async (page) => {
    const { limit, signal, position: cursor } = page;
    const filter = { unit, ...(kind && kindFilters[kind]), limit };
    const subtrees = assets && JSON.stringify(assets);
    if (query === undefined)
      return cursorPage(
        (await getTimeseries(project, { ...filter, path: subtrees, cursor }, { signal })).data,
      );
    const search = { ...filter, query, assetSubtrees: subtrees };
    return searchPage(
      page,
      async (offset) => (await getTimeseriesSearch(project, { ...search, offset }, { signal })).data.items,
    );
  };

export function useSeriesList(search: SeriesSearch) {
  const project = useProject();
  const queryKey = ["series", project, search];
  return useInfiniteQuery(listQuery({ queryKey, pageSize, read: reader(project, search) }));
}

/** All series of the filter, page by page. */
export const allSeries = (project: string, search: SeriesSearch, signal: AbortSignal) =>
  allPages(reader(project, search), signal);

/** The request of the list for other programs. */
export function requestOf(project: string, { query, unit, kind, assets }: SeriesSearch): ApiRequest {
  const subtrees = assets && JSON.stringify(assets);
  const parameters = {
    ...(query === undefined ? { path: subtrees } : { query, assetSubtrees: subtrees }),
    ...{ unit, ...(kind && kindFilters[kind]), limit: 100 },
  };
  const path = `${query === undefined ? "/timeseries" : "/timeseries/search"}${addressOf(parameters)}`;
  // OData has no subtrees of assets.
  return { method: "GET", project, path, ...(!assets && { odata: odataOf({ query, unit, kind }) }) };
}

function odataOf({ query, unit, kind }: SeriesSearch): string {
  const { isString, isStep } = kind ? kindFilters[kind] : {};
  return filtered("Timeseries", [
    query !== undefined && `contains(Name,${literal(query)})`,
    unit !== undefined && `Unit eq ${literal(unit)}`,
    isString !== undefined && `IsString eq ${isString}`,
    isStep !== undefined && `IsStep eq ${isStep}`,
  ]);
}
