// Assets as other resources name them, in links and in questions about subtrees: only those one may know of.

import { underAsset } from "../../access/asset-subtree.ts";
import { knownAssets, scopeOf } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { everything, type Filter } from "../../query/filter.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { visibleRows } from "./rows.ts";
import type { AssetRow } from "./schema.ts";

/**
 * For new links from records that `acl` is about: of these ids the ones that name no asset the caller may
 * know of. Refuses (403) others below which the caller may not write such records.
 */
export async function unknownAssets(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  ids: readonly number[],
): Promise<number[]> {
  const found = await visibleRows(tx, knownAssets(ctx.caller, acl, "WRITE"), ids);
  const unknown = [...new Set(ids)].filter((id) => !found.has(id));
  const scope = scopeOf(ctx.caller, acl, "WRITE");
  if (unknown.length > 0 || scope.kind === "everything") return unknown;
  const inside = await visibleRows(tx, scope, ids);
  if (inside.size < found.size) throw fail("outside-scope", { acl, action: "WRITE" });
  return [];
}

/**
 * Of these assets the ones that the caller may know of when it comes to records that `acl` is about, by id.
 */
export const visibleAssetRows = (
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  ids: readonly number[],
): Promise<ReadonlyMap<number, AssetRow>> => visibleRows(tx, knownAssets(ctx.caller, acl, "READ"), ids);

/** Of these ids those of assets that exist, whoever may see them. */
export async function existingAssets(tx: CatalogReader, ids: readonly number[]): Promise<number[]> {
  const found = await visibleRows(tx, everything, ids);
  return ids.filter((id) => found.has(id));
}

/** New links of a record, and what the caller named them in: `assetIds`, or `assetId` for one. */
export interface NewLinks {
  readonly field: string;
  readonly assetIds: readonly number[];
}

/** The new links of records that hang on one asset each, or on none. */
export const singleLinks = (assetIds: readonly (number | undefined)[]): readonly NewLinks[] => [
  { field: "assetId", assetIds: assetIds.filter((id) => id !== undefined) },
];

/** Refuses new links to assets that do not exist or that the caller may not see. */
export async function refuseUnknownAssets(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  links: readonly NewLinks[],
): Promise<void> {
  const assetIds = [...new Set(links.flatMap((one) => one.assetIds))];
  if (assetIds.length === 0) return;
  const unknown = new Set(await unknownAssets(ctx, tx, acl, assetIds));
  for (const { field, assetIds } of links) {
    const got = assetIds.find((id) => unknown.has(id));
    if (got === undefined) continue;
    const expected = field.endsWith("assetId") ? "the id of an existing asset" : "ids of existing assets";
    // Not `notFound`: clients take what stands there for ids of the records.
    throw fail("field-invalid", { field, expected, got: `${got}` });
  }
}

/**
 * The filter of a question about records that `acl` is about, without the subtrees of assets that the caller
 * may not know of: they match as little as those of assets that do not exist.
 */
export async function limitToVisibleSubtrees(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  filter: Filter,
): Promise<Filter> {
  const known = knownAssets(ctx.caller, acl, "READ");
  const roots = known.kind === "everything" ? [] : rootsIn(filter);
  if (roots.length === 0) return filter;
  return withRoots(filter, await visibleRows(tx, known, roots));
}

function rootsIn(filter: Filter): readonly number[] {
  if (filter.kind === "inSubtree") return filter.ids;
  if ("parts" in filter) return filter.parts.flatMap(rootsIn);
  return "part" in filter ? rootsIn(filter.part) : [];
}

function withRoots(filter: Filter, known: ReadonlyMap<number, unknown>): Filter {
  const within = (part: Filter) => withRoots(part, known);
  if (filter.kind === "inSubtree") return underAsset(filter.ids.filter((id) => known.has(id)));
  if ("parts" in filter) return { ...filter, parts: filter.parts.map(within) };
  return "part" in filter ? { ...filter, part: within(filter.part) } : filter;
}
