// The events of one filter, the latest first: those that begin in the time range or last into it.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Event, getEvents, getEventsSearch } from "../../api/generated.ts";
import { allPages, cursorPage, type ListPage, type ReadPage, searchPage } from "../../api/list-pages.ts";
import { addressOf } from "../../lib/address.ts";
import { readLasting } from "../../lib/lasting-events.ts";
import { filtered, literal } from "../../lib/odata.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import { type EventsSearch, rangeOf, type TimeRange } from "./search.ts";

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

/** A page of the list. The first one has the events that last into the range as well. */
interface EventPage extends ListPage<Event> {
  readonly range: TimeRange;
  readonly lasting: Awaited<ReturnType<typeof lastingInto>> | undefined;
}

/** Where a page begins. All pages of a read have the range of the first one, to which the cursor belongs. */
interface PagePlace {
  readonly range: TimeRange;
  readonly position: string | undefined;
}

async function readEvents(
  project: string,
  filter: Filter,
  { range, position }: PagePlace,
  signal: AbortSignal,
): Promise<EventPage> {
  const inRange = { ...filter, ...range };
  const [page, lasting] = await Promise.all([
    reader(project, inRange)({ position, limit: pageSize, signal }),
    position === undefined ? lastingInto(project, inRange, { limit: pageSize, signal }) : undefined,
  ]);
  return { ...page, range, lasting };
}

/** A range that ends now moves with each refresh. The list is the same one, so the table keeps its place. */
export function useEventList(search: EventsSearch): EventList {
  const project = useProject();
  const filter = filterOf(search);
  const { last, start, end } = search;
  const list = useInfiniteQuery({
    queryKey: ["events", project, "list", { ...filter, last, start, end }],
    initialPageParam: undefined as PagePlace | undefined,
    queryFn: ({ pageParam, signal }) => {
      const first = () => ({ range: rangeOf(search, Date.now()), position: undefined });
      return readEvents(project, filter, pageParam ?? first(), signal);
    },
    getNextPageParam: ({ range, next }: EventPage): PagePlace | undefined =>
      next === undefined ? undefined : { range, position: next },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => {
    const begun = pages?.flatMap(({ items }) => items) ?? [];
    return [...begun, ...(pages?.[0]?.lasting?.items ?? [])];
  }, [pages]);
  return {
    rows,
    isPending: list.isPending,
    error: list.error,
    hasMore: list.hasNextPage || pages?.at(-1)?.isCut === true || pages?.[0]?.lasting?.isCut === true,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: list.hasNextPage ? () => void list.fetchNextPage() : undefined,
    refetch: () => void list.refetch(),
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
