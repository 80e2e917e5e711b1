// Reads a page of a collection, and signs the token of the next page.
import type { RequestContext } from "../context.ts";
import { Failure, fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { and, everything, type Filter } from "../query/filter.ts";
import type { LengthBound } from "../query/length-bound.ts";
import type { Position } from "../query/page.ts";
import { readWithin } from "../query/read-within.ts";
import type { ColumnBatch } from "./column-page.ts";
import { type Entity, expandFitting } from "./expand.ts";
import { parseFilter } from "./filter.ts";
import type { EntityModel, EntitySet } from "./model.ts";
import { parseExpression } from "./parse-expression.ts";
import { neededNames, type Projection, readFlag, readProjection, readTop, refuseSkip } from "./projection.ts";
import type { RequestUrl } from "./request-url.ts";
import type { EntityCollection } from "./resolve-path.ts";
import { usesProperty } from "./restrictions.ts";

export interface CollectionQuery {
  readonly filter: Filter;
  /** How many rows the client still wants, over this page and the next ones. */
  readonly rowsLeft: number;
  readonly pageMax: number;
  readonly after: Position | undefined;
  readonly isCounted: boolean;
  readonly projection: Projection;
  /** The request that a token for the next page is valid for. */
  readonly tokenBinding: unknown;
}

/** Entities, or columns of very many rows. */
export type PageContent = { readonly items: readonly Entity[] } | { readonly runs: readonly ColumnBatch[] };

export interface CollectionPage {
  readonly content: PageContent;
  readonly count?: number;
  /** The `$skiptoken` of the next page. */
  readonly next?: string;
}

export interface CollectionRequest {
  readonly ctx: RequestContext;
  readonly model: EntityModel;
  readonly url: RequestUrl;
  /** The page size in the request's `Prefer` header. */
  readonly preferredPageSize: number | undefined;
}

const supportedOptions: ReadonlySet<string> = new Set([
  "$filter",
  "$select",
  "$expand",
  "$top",
  "$skip",
  "$count",
  "$format",
  "$skiptoken",
]);

/** Refuses (501) system query options that are not supported. */
export function refuseUnsupportedOptions({ options }: RequestUrl): void {
  for (const option of options.keys())
    if (!supportedOptions.has(option)) throw fail("query-option-not-supported", { option });
  refuseSkip(options.get("$skip"));
}

/** Reads the options of a collection. Refuses invalid options and filters that the set does not allow. */
export function readCollectionQuery(
  { ctx, model, url, preferredPageSize }: CollectionRequest,
  of: EntityCollection,
): CollectionQuery {
  const { options, aliases } = url;
  const context = { ctx, model, aliases };
  const top = readTop(options.get("$top"));
  const isCounted = readFlag("$count", options.get("$count"));
  const projection = readProjection(context, of.set, options);
  const filter = collectionFilter({ ctx, model, url }, of);
  const tokenBinding = [ctx.projectId, url.decodedPath, options.get("$filter"), [...aliases], top];
  const token = options.get("$skiptoken");
  const position = token === undefined ? undefined : readToken(ctx, tokenBinding, token);
  if (!position) requireFilter(of, options.get("$filter"), { aliases, top });
  const pageMax = Math.min(
    of.set.pageMax ?? limits.odataPageMax,
    preferredPageSize ?? Number.POSITIVE_INFINITY,
  );
  return {
    ...{ filter, pageMax, isCounted, projection, tokenBinding },
    rowsLeft: position?.rowsLeft ?? top ?? Number.POSITIVE_INFINITY,
    after: position?.after,
  };
}

/** Combines `$filter` with the filter of the path. */
export function collectionFilter(
  { ctx, model, url }: Omit<CollectionRequest, "preferredPageSize">,
  of: EntityCollection,
): Filter {
  const { options, aliases } = url;
  const text = options.get("$filter");
  return and(of.filter, text === undefined ? everything : parseFilter({ ctx, model, aliases }, of.set, text));
}

/** Reads one page, with the total count if requested; as columns if the set and the request allow it. */
export async function readCollection(
  ctx: RequestContext,
  of: EntityCollection,
  query: CollectionQuery & { readonly isPlain: boolean },
): Promise<CollectionPage> {
  const { filter, isCounted } = query;
  const { content, rowCount, next } = await fetchPage(ctx, of, query);
  const rowsLeft = query.rowsLeft - rowCount;
  return {
    content,
    ...(isCounted && { count: await of.count(ctx, filter, neededNames(query.projection)) }),
    ...(next && rowsLeft > 0 && { next: signToken(ctx, query.tokenBinding, { after: next, rowsLeft }) }),
  };
}

interface FetchedPage {
  readonly content: PageContent;
  readonly rowCount: number;
  readonly next?: Position | undefined;
}

/** The approximate length of a datapoint or aggregate in a response. */
const rowBytes = 200;

async function fetchPage(
  ctx: RequestContext,
  { read, readColumns }: EntityCollection,
  query: CollectionQuery & { readonly isPlain: boolean },
): Promise<FetchedPage> {
  const { filter, rowsLeft, pageMax, after, projection, isPlain } = query;
  const limit = Math.min(pageMax, rowsLeft);
  if (limit === 0) return { content: { items: [] }, rowCount: 0 };
  const needs = neededNames(projection);
  const setQuery = (bound?: LengthBound) => ({
    ...{ filter, needs },
    page: { limit, ...(after && { after }), ...(bound && { bound }) },
  });
  if (readColumns && isPlain && projection.expansions.length === 0) {
    await ctx.memory.reserve(limit * rowBytes);
    const { batches: runs, next } = await readColumns(ctx, setQuery());
    return { content: { runs }, rowCount: runs.reduce((sum, { count }) => sum + count, 0), next };
  }
  const { found, items } = await readWithin(ctx.memory, async (bound) => {
    const found = await read(ctx, setQuery(bound));
    return { found, items: await expandFitting(ctx, found.items, { projection, bound }) };
  });
  const last = found.items[items.length - 1];
  const isShorter = last && items.length < found.items.length;
  return {
    content: { items },
    rowCount: items.length,
    next: isShorter ? projection.set.position(last) : found.next,
  };
}

interface PagePosition {
  readonly after: Position;
  readonly rowsLeft: number;
}

/** The token of the next page: a signed position with the number of rows that the client still wants. */
function signToken(ctx: RequestContext, binding: unknown, { after, rowsLeft }: PagePosition): string {
  return ctx.cursors.sign(binding, { after: [Number.isFinite(rowsLeft) ? rowsLeft : -1, ...after] });
}

function readToken(ctx: RequestContext, binding: unknown, token: string): PagePosition {
  try {
    const [rowsLeft, ...after] = ctx.cursors.read([binding], token).after as readonly number[];
    return { after, rowsLeft: rowsLeft === -1 ? Number.POSITIVE_INFINITY : rowsLeft! };
  } catch (problem) {
    if (problem instanceof Failure && problem.failure === "cursor-invalid")
      throw fail("skip-token-invalid", {});
    throw problem;
  }
}

/** The `$skiptoken` for the rest of an expanded collection at its own path. */
export function skipTokenFor(ctx: RequestContext, bound: unknown, after: Position, wanted: number): string {
  return signToken(ctx, bound, { after, rowsLeft: wanted });
}

/** Refuses to return a whole set without a filter, except a preview (docs/odata.md#required-filters). */
function requireFilter(
  { set, isWholeSet }: Pick<EntityCollection, "isWholeSet"> & { readonly set: EntitySet },
  filter: string | undefined,
  { aliases, top }: { readonly aliases: RequestUrl["aliases"]; readonly top: number | undefined },
): void {
  if (!set.requiresFilter || !isWholeSet) return;
  if (filter !== undefined && usesProperty(parseExpression(filter, aliases))) return;
  if (top === undefined || top > limits.odataPreviewMax) throw fail("filter-required", { set: set.name });
}
