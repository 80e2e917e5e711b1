// The wrappers of REST responses (docs/reference/common.md#responses), and pages with cursors.
import { type TSchema, Type } from "typebox";
import type { RequestContext } from "../context.ts";
import type { LengthBound } from "../query/length-bound.ts";
import type { Page, PageQuery } from "../query/page.ts";
import { readWithin } from "../query/read-within.ts";
import { itemsTextResponse, itemTexts } from "./long-lists.ts";
import { text } from "./parameters.ts";

/** `{"data":{"items":[...]}}` */
export const itemsResponse = (items: readonly unknown[]) => ({ data: { items } });

/** `{"data":...}` */
export const dataResponse = <Data>(data: Data) => ({ data });

/** The response of operations without a result. */
export const emptyResponse = {};

export const itemsSchema = (item: TSchema) => Type.Object({ data: Type.Object({ items: Type.Array(item) }) });

export const dataSchema = (data: TSchema) => Type.Object({ data });

export const pageSchema = (item: TSchema) =>
  Type.Object({
    data: Type.Object({
      items: Type.Array(item),
      nextCursor: Type.Optional(Type.String()),
      previousCursor: Type.Optional(Type.String()),
    }),
  });

export const emptySchema = Type.Object({}, { maxProperties: 0 });

export const cursorParameter = text(
  "Where to continue: `nextCursor` or `previousCursor` of an earlier response",
);

interface PageParameters {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly whole?: unknown;
}

/**
 * The page that a list request names. `query` identifies the collection (see CursorSigner). `whole` is the
 * collection without filters, if it has the same order. Its cursors are accepted too, because Spark splits a
 * list once and then reads the parts with filters.
 */
export function pageQueryOf(ctx: RequestContext, query: unknown, parameters: PageParameters): PageQuery {
  const { cursor, limit, whole = query } = parameters;
  const position = cursor === undefined ? {} : ctx.cursors.read([query, whole], cursor);
  return { ...position, limit };
}

/** The response of a list: the page of `read`. The parameters are those of `pageQueryOf`. */
export async function listResponse<Item>(
  ctx: RequestContext,
  { collection, ...parameters }: { readonly collection: unknown } & PageParameters,
  read: (page: PageQuery) => Promise<Page<Item>>,
  toJson: (item: Item) => unknown,
) {
  const pageQuery = pageQueryOf(ctx, collection, parameters);
  const page = await readWithin(ctx.memory, (bound) => read({ ...pageQuery, bound }));
  return pageResponse(ctx, collection, { pageQuery, page }, toJson);
}

/** The best results of a search, as many as fit into a page. */
export async function searchResponse<Query extends object, Item>(
  ctx: RequestContext,
  query: Query,
  search: (ctx: RequestContext, query: Query & { readonly bound: LengthBound }) => Promise<readonly Item[]>,
  toJson: (item: Item) => unknown,
) {
  const items = await readWithin(ctx.memory, (bound) => search(ctx, { ...query, bound }));
  return itemsResponse(items.map(toJson));
}

/**
 * Sends the first batches of records while later ones are read; the response has no cursor. If a batch fails
 * after the response has started, the connection is closed.
 */
export function batchesResponse<Item>(
  batches: AsyncIterable<readonly Item[]>,
  toJson: (item: Item) => unknown,
) {
  return itemsTextResponse(itemsResponse([]), itemTextsOf(batches, toJson));
}

async function* itemTextsOf<Item>(batches: AsyncIterable<readonly Item[]>, toJson: (item: Item) => unknown) {
  for await (const batch of batches) yield itemTexts(batch.map(toJson));
}

/** Wraps a page with the cursors to its neighbours; `pageQuery` is from `pageQueryOf`. */
export function pageResponse<Item>(
  ctx: RequestContext,
  query: unknown,
  { pageQuery, page }: { readonly pageQuery: PageQuery; readonly page: Page<Item> },
  toJson: (item: Item) => unknown,
) {
  const { until } = pageQuery;
  return dataResponse({
    items: page.items.map(toJson),
    ...(page.next && { nextCursor: ctx.cursors.sign(query, { after: page.next, ...(until && { until }) }) }),
    ...(page.previous && {
      previousCursor: ctx.cursors.sign(query, { before: page.previous, ...(until && { until }) }),
    }),
  });
}
