// Links from other resources to assets, and filters by their subtrees; both only see assets visible to the
// caller.
import { underAsset } from "../../access/asset-subtree.ts";
import { permittedRecords, visibleAssets } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { distinctIds } from "../../query/distinct-ids.ts";
import { and, everything, type Filter, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { visibleRows } from "./rows.ts";
import { type AssetRow, assetTable } from "./schema.ts";

/**
 * Checks new links of records that `acl` covers: returns the ids that name no asset visible to the caller.
 * Refuses (403) visible assets in whose subtree the caller may not write such records.
 */
export async function unknownAssets(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  ids: readonly number[],
): Promise<number[]> {
  const found = await visibleRows(tx, visibleAssets(ctx.caller, acl, "WRITE"), ids);
  const unknown = [...new Set(ids)].filter((id) => !found.has(id));
  const permitted = permittedRecords(ctx.caller, acl, "WRITE");
  if (unknown.length > 0 || permitted.kind === "everything") return unknown;
  const inside = await visibleRows(tx, permitted, ids);
  if (inside.size < found.size) throw fail("outside-scope", { acl, action: "WRITE" });
  return [];
}

/**
 * The ids of assets by their external ids: of those that the caller may see for records that `acl` covers.
 */
export async function assetsByExternalId(
  ctx: RequestContext,
  acl: Acl,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const visible = visibleAssets(ctx.caller, acl, "WRITE");
  const distinct = [...new Set(externalIds)];
  const found = new Map<string, number>();
  for (let at = 0; at < distinct.length; at += limits.idsPerQueryMax) {
    const some = distinct.slice(at, at + limits.idsPerQueryMax);
    const query = {
      filter: and(visible, oneOf("externalId", some)),
      order: byId,
      fields: ["id", "externalId"],
    };
    const page = { limit: some.length };
    const rows = await ctx.catalog.read(ctx.projectId, (tx) => tx.find(assetTable, { ...query, page }));
    for (const { id, externalId } of rows) found.set(externalId!, id);
  }
  return found;
}

/** The external ids of the assets with one that are visible to the caller for such records, by id. */
export async function externalIdsOfAssets(
  ctx: RequestContext,
  acl: Acl,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await ctx.catalog.read(ctx.projectId, (tx) => visibleAssetRows(ctx, tx, acl, ids));
  return new Map(
    [...rows.values()].flatMap(({ id, externalId }) => (externalId === undefined ? [] : [[id, externalId]])),
  );
}

/** The rows of the assets that are visible to the caller for records that `acl` covers, by id. */
export const visibleAssetRows = (
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  ids: readonly number[],
): Promise<ReadonlyMap<number, AssetRow>> => visibleRows(tx, visibleAssets(ctx.caller, acl, "READ"), ids);

/** The ids of assets that exist, visible to the caller or not. */
export async function existingAssets(tx: CatalogReader, ids: readonly number[]): Promise<number[]> {
  const found = await visibleRows(tx, everything, ids);
  return ids.filter((id) => found.has(id));
}

/**
 * The new links of a record and the field of the request with them: `assetIds`, or `assetId` for one. Links
 * of a record can be in several fields.
 */
export interface NewLinks {
  readonly field: string | ((assetId: number) => string);
  readonly assetIds: readonly number[];
}

/** The new links of records with at most one link each. `placeOf` is the prefix of the field of a record. */
export const singleLinks = (
  assetIds: readonly (number | undefined)[],
  placeOf = (index: number) => `items[${index}].`,
): readonly NewLinks[] =>
  assetIds.flatMap((id, index) =>
    id === undefined ? [] : [{ field: `${placeOf(index)}assetId`, assetIds: [id] }],
  );

/** Refuses new links to assets that do not exist or that the caller may not see. */
export async function refuseUnknownAssets(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  links: readonly NewLinks[],
): Promise<void> {
  for await (const ids of distinctIds(links.map(({ assetIds }) => assetIds))) {
    const [got] = await unknownAssets(ctx, tx, acl, ids);
    if (got === undefined) continue;
    const { field: of } = links.find(({ assetIds }) => assetIds.includes(got))!;
    const field = typeof of === "string" ? of : of(got);
    const expected = field.endsWith("assetId") ? "the id of an existing asset" : "ids of existing assets";
    // Not `notFound`: clients take the values of that member for ids of the records.
    throw fail("field-invalid", { field, expected, got: `${got}` });
  }
}

/**
 * Removes subtrees of assets that the caller may not see from a filter of records that `acl` covers, so
 * that they match as little as subtrees of assets that do not exist.
 */
export async function limitToVisibleSubtrees(
  ctx: RequestContext,
  tx: CatalogReader,
  acl: Acl,
  filter: Filter,
): Promise<Filter> {
  const visible = visibleAssets(ctx.caller, acl, "READ");
  const roots = visible.kind === "everything" ? [] : subtreeRootsIn(filter);
  if (roots.length === 0) return filter;
  return withRoots(filter, await visibleRows(tx, visible, roots));
}

/** The roots of all subtrees that the filter names. */
export function subtreeRootsIn(filter: Filter): readonly number[] {
  if (filter.kind === "inSubtree") return filter.ids;
  if ("parts" in filter) return filter.parts.flatMap(subtreeRootsIn);
  return "part" in filter ? subtreeRootsIn(filter.part) : [];
}

function withRoots(filter: Filter, known: ReadonlyMap<number, unknown>): Filter {
  const within = (part: Filter) => withRoots(part, known);
  if (filter.kind === "inSubtree") return underAsset(filter.ids.filter((id) => known.has(id)));
  if ("parts" in filter) return { ...filter, parts: filter.parts.map(within) };
  return "part" in filter ? { ...filter, part: within(filter.part) } : filter;
}
