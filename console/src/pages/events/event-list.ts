// The events of one filter, the latest first: those that begin in the time range or last into it.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Event, getEvents, getEventsSearch } from "../../api/generated.ts";
import type { ApiRequest } from "../../lib/snippets.ts";
import { useProject } from "../../session/session.ts";
import type { EventsSearch, TimeRange } from "./search.ts";

const pageSize = 500;
const exportPageSize = 1_000;
/** The largest offset of a search; it has no results beyond. */
const searchOffsetMax = 1_000;
const refreshMs = 60_000;

type Filter = Pick<EventsSearch, "text" | "type" | "subtype" | "assets">;

interface EventsPageResult {
  readonly items: readonly Event[];
  readonly next: string | undefined;
  /** Whether a search has more results than it can return. */
  readonly isCut: boolean;
}

const parametersOf = ({ type, subtype, assets }: Filter) => ({
  $type: type,
  subtype,
  assetSubtrees: assets && JSON.stringify(assets),
});

interface PageOptions {
  readonly position: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Events that begin in the range. A search has pages by offset; the list has pages by cursor. */
async function readPage(
  project: string,
  filter: Filter & TimeRange,
  { position, limit, signal }: PageOptions,
): Promise<EventsPageResult> {
  const { text, startMs, endMs } = filter;
  const query = { ...parametersOf(filter), minStartTime: startMs, maxStartTime: endMs, limit };
  if (text === undefined) {
    const { data } = await getEvents(project, { ...query, sort: "DESC", cursor: position }, { signal });
    return { items: data.items, next: data.nextCursor, isCut: false };
  }
  const offset = Number(position ?? 0);
  const search = { ...query, description: text, sort: "startTime", dir: "desc", offset } as const;
  const { items } = (await getEventsSearch(project, search, { signal })).data;
  const isFull = items.length === limit;
  const hasNext = isFull && offset + limit <= searchOffsetMax;
  return { items, next: hasNext ? String(offset + limit) : undefined, isCut: isFull && !hasNext };
}

/** Events that began before the range and end in it or after it, the latest end first. */
async function readLasting(
  project: string,
  { startMs, ...filter }: Filter & TimeRange,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const query = { ...parametersOf(filter), minEndTime: startMs, maxStartTime: startMs - 1, limit: pageSize };
  const words = filter.text === undefined ? {} : { description: filter.text };
  const search = { ...query, ...words, sort: "endTime", dir: "desc" } as const;
  return (await getEventsSearch(project, search, { signal })).data.items;
}

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
  const list = useInfiniteQuery({
    queryKey: ["events", project, "list", filter],
    initialPageParam: undefined as string | undefined,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
    queryFn: ({ pageParam: position, signal }) =>
      readPage(project, filter, { position, limit: pageSize, signal }),
    getNextPageParam: ({ next }) => next,
  });
  const lasting = useQuery({
    queryKey: ["events", project, "lasting", filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readLasting(project, filter, signal),
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => {
    const begun = pages?.flatMap(({ items }) => items) ?? [];
    return [...begun, ...(lasting.data ?? [])];
  }, [pages, lasting.data]);
  return {
    rows,
    isPending: list.isPending || lasting.isPending,
    error: list.error ?? lasting.error,
    hasMore: list.hasNextPage || pages?.at(-1)?.isCut === true,
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
): AsyncGenerator<readonly Event[]> {
  let position: string | undefined;
  do {
    const page = await readPage(project, filter, { position, limit: exportPageSize, signal });
    yield page.items;
    position = page.next;
  } while (position !== undefined);
  yield await readLasting(project, filter, signal);
}

/** The request of the list for other programs. */
export function requestOf(project: string, search: EventsSearch, { startMs, endMs }: TimeRange): ApiRequest {
  const { text, type, subtype, assets } = search;
  const parameters = {
    ...{ type, subtype, assetSubtrees: assets && JSON.stringify(assets) },
    ...{ minStartTime: startMs, maxStartTime: endMs, limit: 100 },
    ...(text === undefined ? { sort: "DESC" } : { description: text, sort: "startTime", dir: "desc" }),
  };
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
  const path = text === undefined ? "/events" : "/events/search";
  return { method: "GET", project, path: `${path}?${query}`, odata: odataOf(search, { startMs, endMs }) };
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

function odataOf({ text, type, subtype }: EventsSearch, { startMs, endMs }: TimeRange): string {
  const conditions = [
    `StartTime ge ${new Date(startMs).toISOString()} and StartTime le ${new Date(endMs).toISOString()}`,
    type !== undefined && `Type eq ${literal(type)}`,
    subtype !== undefined && `SubType eq ${literal(subtype)}`,
    text !== undefined && `contains(Description,${literal(text)})`,
  ].filter((condition) => condition !== false);
  return `Events?$filter=${encodeURIComponent(conditions.join(" and "))}`;
}
