// Lists page by page. The lists of the API have pages by cursor; searches have pages by offset, because they
// are ordered by how well a record matches.
import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";

/** The largest offset of a search; it has no results beyond. */
const searchOffsetMax = 1_000;
const exportPageSize = 1_000;

export interface ListPage<Row> {
  readonly items: readonly Row[];
  /** The position of the next page; undefined after the last one. */
  readonly next: string | undefined;
  /** Whether a search has more results than it can return. */
  readonly isCut: boolean;
}

interface PageOptions {
  /** Undefined for the first page. */
  readonly position: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export type ReadPage<Row> = (options: PageOptions) => Promise<ListPage<Row>>;

interface CursorPage<Row> {
  readonly items: readonly Row[];
  readonly nextCursor?: string;
}

/** A page of a list, from a response with a cursor. */
export const cursorPage = <Row>({ items, nextCursor }: CursorPage<Row>): ListPage<Row> => ({
  ...{ items, next: nextCursor, isCut: false },
});

/** A page of a search. */
export async function searchPage<Row>(
  { position, limit }: PageOptions,
  read: (offset: number) => Promise<readonly Row[]>,
): Promise<ListPage<Row>> {
  const offset = Number(position ?? 0);
  const items = await read(offset);
  const isFull = items.length === limit;
  const hasNext = isFull && offset + limit <= searchOffsetMax;
  return { items, next: hasNext ? String(offset + limit) : undefined, isCut: isFull && !hasNext };
}

interface ListQuery<Row> {
  readonly queryKey: QueryKey;
  readonly pageSize: number;
  readonly read: ReadPage<Row>;
}

/** The query of a list on a page, for `useInfiniteQuery`. */
export const listQuery = <Row>({ queryKey, pageSize, read }: ListQuery<Row>) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: position, signal }) => read({ position, limit: pageSize, signal }),
    getNextPageParam: ({ next }: ListPage<Row>) => next,
  });

/** All pages, one after the other. */
export async function* allPages<Row>(
  read: ReadPage<Row>,
  signal: AbortSignal,
): AsyncGenerator<ListPage<Row>> {
  let position: string | undefined;
  do {
    const page = await read({ position, limit: exportPageSize, signal });
    yield page;
    position = page.next;
  } while (position !== undefined);
}

/** All items of a short list. */
export async function allItems<Item>(
  read: (cursor: string | undefined) => Promise<CursorPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}
