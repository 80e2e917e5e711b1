// Reads a page of a collection as a request asks for it, and tells where the next one starts.
import type { RequestContext } from "../context.ts";
import { Failure, fail } from "../errors.ts";
import { limits } from "../limits.ts";
import { and, everything, type Filter } from "../query/filter.ts";
import type { LengthBound } from "../query/length-bound.ts";
import type { Position } from "../query/page.ts";
import { readWithin } from "../query/read-within.ts";
import type { Run } from "./columns.ts";
import { type Entity, expandFitting } from "./expand.ts";
import type { EntitySet, Model } from "./model.ts";
import { parseExpression } from "./parse-expression.ts";
import type { Collection } from "./place.ts";
import { asksProperty } from "./restrictions.ts";
import { filterFor, needsOf, readFlag, readTop, refuseSkip, type Shape, shapeOf } from "./shape.ts";
import type { Target } from "./target.ts";

export interface CollectionQuestion {
  readonly filter: Filter;
  /** Rows still wanted, over this page and those after it. */
  readonly wanted: number;
  readonly pageMax: number;
  readonly after: Position | undefined;
  readonly isCounted: boolean;
  readonly shape: Shape;
  /** What a token for a further page is bound to. */
  readonly bound: unknown;
}

/** Entities, or what is written of very many by columns. */
export type Content = { readonly items: readonly Entity[] } | { readonly runs: readonly Run[] };

export interface Entries {
  readonly content: Content;
  readonly count?: number;
  /** The `$skiptoken` of the next page. */
  readonly next?: string;
}

export interface Env {
  readonly ctx: RequestContext;
  readonly model: Model;
  readonly target: Target;
  /** The page size that the client prefers. */
  readonly pageAsked: number | undefined;
}

const served: ReadonlySet<string> = new Set([
  "$filter",
  "$select",
  "$expand",
  "$top",
  "$skip",
  "$count",
  "$format",
  "$skiptoken",
]);

/** Refuses (501) system query options that no request here may have. */
export function refuseForeignOptions({ options }: Target): void {
  for (const option of options.keys())
    if (!served.has(option)) throw fail("query-option-not-supported", { option });
  refuseSkip(options.get("$skip"));
}

/** What is asked of a collection. Refuses options that cannot be read, and filters against the rules. */
export function collectionQuestion(
  { ctx, model, target, pageAsked }: Env,
  of: Collection,
): CollectionQuestion {
  const { options, aliases } = target;
  const asked = { ctx, model, aliases };
  const top = readTop(options.get("$top"));
  const isCounted = readFlag("$count", options.get("$count"));
  const shape = shapeOf(asked, of.set, options);
  const filter = filterOfOptions({ ctx, model, target }, of);
  const bound = [ctx.project, target.resource, options.get("$filter"), [...aliases], top];
  const token = options.get("$skiptoken");
  const place = token === undefined ? undefined : readToken(ctx, bound, token);
  if (!place) requireFilter(of, options.get("$filter"), { aliases, top });
  const pageMax = Math.min(of.set.pageMax ?? limits.odataPageMax, pageAsked ?? Number.POSITIVE_INFINITY);
  return {
    ...{ filter, pageMax, isCounted, shape, bound },
    wanted: place?.wanted ?? top ?? Number.POSITIVE_INFINITY,
    after: place?.after,
  };
}

/** What `$filter` and the path ask together. */
export function filterOfOptions({ ctx, model, target }: Omit<Env, "pageAsked">, of: Collection): Filter {
  const { options, aliases } = target;
  const text = options.get("$filter");
  return and(of.scope, text === undefined ? everything : filterFor({ ctx, model, aliases }, of.set, text));
}

/** One page, with the number of all if that is asked; by columns where that is possible and will do. */
export async function readCollection(
  ctx: RequestContext,
  of: Collection,
  question: CollectionQuestion & { readonly isPlain: boolean },
): Promise<Entries> {
  const { filter, wanted, isCounted } = question;
  const { content, taken, next } = await pageOf(ctx, of, question);
  const left = wanted - taken;
  return {
    content,
    ...(isCounted && { count: await of.count(ctx, filter, needsOf(question.shape)) }),
    ...(next && left > 0 && { next: tokenAt(ctx, question.bound, { after: next, wanted: left }) }),
  };
}

interface Taken {
  readonly content: Content;
  /** How many rows that is. */
  readonly taken: number;
  readonly next?: Position | undefined;
}

/** Of a point or a bucket as it is written, about. */
const rowBytes = 200;

async function pageOf(
  ctx: RequestContext,
  { read, readColumns }: Collection,
  question: CollectionQuestion & { readonly isPlain: boolean },
): Promise<Taken> {
  const { filter, wanted, pageMax, after, shape, isPlain } = question;
  const limit = Math.min(pageMax, wanted);
  if (limit === 0) return { content: { items: [] }, taken: 0 };
  const needs = needsOf(shape);
  const asked = (bound?: LengthBound) => ({
    ...{ filter, needs },
    page: { limit, ...(after && { after }), ...(bound && { bound }) },
  });
  if (readColumns && isPlain && shape.expansions.length === 0) {
    await ctx.memory.reserve(limit * rowBytes);
    const { runs, next } = await readColumns(ctx, asked());
    return { content: { runs }, taken: runs.reduce((sum, { count }) => sum + count, 0), next };
  }
  const { found, items } = await readWithin(ctx.memory, async (bound) => {
    const found = await read(ctx, asked(bound));
    return { found, items: await expandFitting(ctx, found.items, { shape, bound }) };
  });
  const last = found.items[items.length - 1];
  const isShorter = last && items.length < found.items.length;
  return {
    content: { items },
    taken: items.length,
    next: isShorter ? shape.set.position(last) : found.next,
  };
}

interface PlaceInPages {
  readonly after: Position;
  readonly wanted: number;
}

/** A cursor of the kernel for REST, with the rows still owed before the position. */
function tokenAt(ctx: RequestContext, bound: unknown, { after, wanted }: PlaceInPages): string {
  return ctx.cursors.sign(bound, { after: [Number.isFinite(wanted) ? wanted : -1, ...after] });
}

function readToken(ctx: RequestContext, bound: unknown, token: string): PlaceInPages {
  try {
    const [wanted, ...after] = ctx.cursors.read([bound], token).after as readonly number[];
    return { after, wanted: wanted === -1 ? Number.POSITIVE_INFINITY : wanted! };
  } catch (problem) {
    if (problem instanceof Failure && problem.failure === "cursor-invalid")
      throw fail("skip-token-invalid", {});
    throw problem;
  }
}

/** The `$skiptoken` of the rest of an expanded collection, read by its own path with the options given. */
export function tokenFor(ctx: RequestContext, bound: unknown, after: Position, wanted: number): string {
  return tokenAt(ctx, bound, { after, wanted });
}

/** Without a filter only a preview of a whole set is returned (docs/odata.md#required-filters). */
function requireFilter(
  { set, isWholeSet }: Pick<Collection, "isWholeSet"> & { readonly set: EntitySet },
  filter: string | undefined,
  { aliases, top }: { readonly aliases: Target["aliases"]; readonly top: number | undefined },
): void {
  if (!set.requiresFilter || !isWholeSet) return;
  if (filter !== undefined && asksProperty(parseExpression(filter, aliases))) return;
  if (top === undefined || top > limits.odataPreviewMax) throw fail("filter-required", { set: set.name });
}
