// The wrappers of REST responses (docs/reference/common.md#responses), and pages with cursors.
import { type TSchema, Type } from "typebox";
import type { RequestContext } from "../context.ts";
import type { LengthBound } from "../query/length-bound.ts";
import type { Page, PageQuery } from "../query/page.ts";
import { readWithin } from "../query/read-within.ts";
import { itemsTextResponse, itemTexts } from "./items-json.ts";
import { text } from "./parameters.ts";

/** `{"data":{"items":[...]}}` */
export const itemsResponse = (items: readonly unknown[]) => ({ data: { items } });

/** `{"data":...}` */
export const dataResponse = <Data>(data: Data) => ({ data });

/** The answer of operations that return nothing. */
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
  "Where to continue: `nextCursor` or `previousCursor` of an earlier answer",
);

interface PageParameters {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly whole?: unknown;
}

/**
 * The page a list request asks for. `query` is everything that decides the collection (see CursorSigner).
 * `whole` is the collection without filters, when it has the same order: its cursors are good here as well,
 * because Spark divides a list once and then reads it with filters.
 */
export function pageQueryOf(ctx: RequestContext, query: unknown, asked: PageParameters): PageQuery {
  const { cursor, whole = query } = asked;
  const place = cursor === undefined ? {} : ctx.cursors.read([query, whole], cursor);
  return { ...place, limit: asked.limit };
}

/** The answer of a list: the page that is asked for, as `read` finds it. See `pageAsked` for the place. */
export async function listResponse<Item>(
  ctx: RequestContext,
  { collection, ...place }: { readonly collection: unknown } & PageParameters,
  read: (page: PageQuery) => Promise<Page<Item>>,
  shape: (item: Item) => unknown,
) {
  const asked = pageQueryOf(ctx, collection, place);
  const found = await readWithin(ctx.memory, (bound) => read({ ...asked, bound }));
  return pageResponse(ctx, collection, { asked, found }, shape);
}

/** The best results of a search; fewer than asked for when they are longer than a page. */
export async function searchResponse<Wanted extends object, Item>(
  ctx: RequestContext,
  wanted: Wanted,
  search: (ctx: RequestContext, wanted: Wanted & { readonly bound: LengthBound }) => Promise<readonly Item[]>,
  shape: (item: Item) => unknown,
) {
  const found = await readWithin(ctx.memory, (bound) => search(ctx, { ...wanted, bound }));
  return itemsResponse(found.map(shape));
}

/**
 * Records in batches that are read while the first ones are sent, in a response without cursor. Fails as the
 * batches do; after the response has begun, its transfer is broken off.
 */
export function batchesResponse<Item>(
  batches: AsyncIterable<readonly Item[]>,
  shape: (item: Item) => unknown,
) {
  return itemsTextResponse(itemsResponse([]), textsOf(batches, shape));
}

async function* textsOf<Item>(batches: AsyncIterable<readonly Item[]>, shape: (item: Item) => unknown) {
  for await (const batch of batches) yield itemTexts(batch.map(shape));
}

/** Wraps the page `found` with the cursors to its neighbours; `asked` is what `pageAsked` gave. */
export function pageResponse<Item>(
  ctx: RequestContext,
  query: unknown,
  { asked, found: page }: { readonly asked: PageQuery; readonly found: Page<Item> },
  shape: (item: Item) => unknown,
) {
  const { until } = asked;
  return dataResponse({
    items: page.items.map(shape),
    ...(page.next && { nextCursor: ctx.cursors.sign(query, { after: page.next, ...(until && { until }) }) }),
    ...(page.previous && {
      previousCursor: ctx.cursors.sign(query, { before: page.previous, ...(until && { until }) }),
    }),
  });
}
