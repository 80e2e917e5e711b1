// The events of one filter, the latest first: those that begin in the time range or last into it.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Event, getEvents, getEventsSearch } from "../../api/generated.ts";
import {
  allPages,
  cursorPage,
  type ListPage,
  listQuery,
  type ReadPage,
  searchPage,
} from "../../api/list-pages.ts";
import { addressOf } from "../../lib/address.ts";
import { readLasting } from "../../lib/lasting-events.ts";
import { filtered, literal } from "../../lib/odata.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { EventsSearch, TimeRange } from "./search.ts";

const pageSize = 500;
/** A page of a search has no more. */
const exportLastingMax = 1_000;
const refreshMs = 60_000;

type Filter = Pick<EventsSearch, "text" | "type" | "subtype" | "assets">;

const parametersOf = ({ type, subtype, assets }: Filter) => ({
  $type: type,
  subtype,
  assetSubtrees: assets && JSON.stringify(assets),
});

/** Reads the events that begin in the range. */
const reader =
  (project: string, filter: Filter & TimeRange): ReadPage<Event> =>
  async (page) => {
    const { limit, signal, position: cursor } = page;
    const { text: description, startMs, endMs } = filter;
    const query = { ...parametersOf(filter), minStartTime: startMs, maxStartTime: endMs, limit };
    if (description === undefined)
      return cursorPage((await getEvents(project, { ...query, sort: "DESC", cursor }, { signal })).data);
    const search = { ...query, description, sort: "startTime", dir: "desc" } as const;
    return searchPage(
      page,
      async (offset) => (await getEventsSearch(project, { ...search, offset }, { signal })).data.items,
    );
  };

/** Events that began before the range and last into it. */
const lastingInto = (
  project: string,
  { startMs, ...filter }: Filter & TimeRange,
  options: { readonly limit: number; readonly signal: AbortSignal },
) =>
  readLasting(
    project,
    { ...parametersOf(filter), ...(filter.text !== undefined && { description: filter.text }) },
    { startMs, ...options },
  );

const filterOf = ({ text, type, subtype, assets }: EventsSearch): Filter => ({ text, type, subtype, assets });

export interface EventList {
  readonly rows: readonly Event[];
  readonly isPending: boolean;
  readonly error: unknown;
  /** Whether there are more events than `rows`. */
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Absent when all pages are there. */
  readonly loadMore: (() => void) | undefined;
  refetch(): void;
}

export function useEventList(search: EventsSearch, range: TimeRange): EventList {
  const project = useProject();
  const filter = { ...filterOf(search), ...range };
  const queryKey = ["events", project, "list", filter];
  const list = useInfiniteQuery({
    ...listQuery({ queryKey, pageSize, read: reader(project, filter) }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const lasting = useQuery({
    queryKey: ["events", project, "lasting", filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => lastingInto(project, filter, { limit: pageSize, signal }),
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => {
    const begun = pages?.flatMap(({ items }) => items) ?? [];
    return [...begun, ...(lasting.data?.items ?? [])];
  }, [pages, lasting.data]);
  return {
    rows,
    isPending: list.isPending || lasting.isPending,
    error: list.error ?? lasting.error,
    hasMore: list.hasNextPage || pages?.at(-1)?.isCut === true || lasting.data?.isCut === true,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: list.hasNextPage ? () => void list.fetchNextPage() : undefined,
    refetch: () => void Promise.all([list.refetch(), lasting.refetch()]),
  };
}

/** All events of the filter, page by page. */
export async function* allEvents(
  project: string,
  filter: EventsSearch & TimeRange,
  signal: AbortSignal,
): AsyncGenerator<Pick<ListPage<Event>, "items" | "isCut">> {
  yield* allPages(reader(project, filter), signal);
  yield await lastingInto(project, filter, { limit: exportLastingMax, signal });
}

/** The request of the list for other programs. */
export function requestOf(project: string, search: EventsSearch, { startMs, endMs }: TimeRange): ApiRequest {
  const { text, type, subtype, assets } = search;
  const parameters = {
    ...{ type, subtype, assetSubtrees: assets && JSON.stringify(assets) },
    ...{ minStartTime: startMs, maxStartTime: endMs, limit: 100 },
    ...(text === undefined ? { sort: "DESC" } : { description: text, sort: "startTime", dir: "desc" }),
  };
  const path = `${text === undefined ? "/events" : "/events/search"}${addressOf(parameters)}`;
  // OData has no subtrees of assets.
  return { method: "GET", project, path, ...(!assets && { odata: odataOf(search, { startMs, endMs }) }) };
}

const odataOf = ({ text, type, subtype }: EventsSearch, { startMs, endMs }: TimeRange): string =>
  filtered("Events", [
    `StartTime ge ${new Date(startMs).toISOString()} and StartTime le ${new Date(endMs).toISOString()}`,
    type !== undefined && `Type eq ${literal(type)}`,
    subtype !== undefined && `SubType eq ${literal(subtype)}`,
    text !== undefined && `contains(Description,${literal(text)})`,
  ]);
