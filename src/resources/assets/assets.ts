// Assets: the tree of a plant's parts, to which records of all other resources are linked.

import { underAsset } from "../../access/asset-subtree.ts";
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, type Filter, not, oneOf, related } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type OrderBy, type Page, type PageQuery, type Position } from "../../query/page.ts";
import type { TextSearch } from "../../query/text-search.ts";
import type { CatalogReader, CatalogWriter } from "../../storage/catalog.ts";
import { refuseUnknownIds } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { searchByText } from "../../storage/search-by-text.ts";
import { type RecordName, recordsByName } from "../common/external-ids.ts";
import { type CommonFields, commonFieldsOf } from "../common/schema.ts";
import type { TypedRow } from "./asset-types/schema.ts";
import {
  type AssetTypeValues,
  changeTypes,
  type TypeInput,
  typeDefinitions,
  typeValuesOf,
} from "./asset-types/values.ts";
import { type AssetChange, changeRows, moveSubtrees } from "./changes.ts";
import { limitToVisibleSubtrees, subtreeRootsIn } from "./links.ts";
import { type AssetWrite, assetType, existingRows, readSubtree, visibleRows, writeRows } from "./rows.ts";
import { type AssetRow, assetTable } from "./schema.ts";
import {
  ambiguousParent,
  type ParentReferences,
  type ResolvedParent,
  resolveParents,
  treePositions,
} from "./tree.ts";

export {
  assetsByExternalId,
  existingAssets,
  limitToVisibleSubtrees,
  refuseUnknownAssets,
  singleLinks,
  visibleAssetRows,
} from "./links.ts";

export interface Asset extends Omit<AssetRow, "path" | keyof TypedRow> {
  /** The ids from the root down to the asset itself. */
  readonly path: readonly number[];
  readonly types: readonly AssetTypeValues[];
}

export interface NewAsset extends ParentReferences, CommonFields {
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly source?: string;
  readonly sourceId?: string;
  readonly types?: readonly TypeInput[];
}

export interface AssetsQuery {
  readonly filter: Filter;
  /** Only this asset and its subtree; no records if the asset does not exist. */
  readonly under?: number | undefined;
  /** At most this many levels below `under`, or below the roots. */
  readonly depth?: number | undefined;
  readonly page: PageQuery;
}

/** Roots first, then by id. */
const byDepth: readonly OrderBy[] = [{ field: "depth", direction: "ascending" }, ...byId];

/**
 * Creates all assets or none, and returns them in the same order. Refuses unknown, ambiguous and circular
 * parents, a source and source id in use, siblings with the same name, and the refusals of `changeTypes`.
 */
export async function createAssets(ctx: RequestContext, items: readonly NewAsset[]): Promise<Asset[]> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "WRITE");
  const parents = resolveParents(items);
  return writeAssets(ctx, permitted, "insert", async (tx) => {
    const ids = items.map(() => ctx.ids.next());
    const parentIds = await parentIdsOf(tx, permitted, parents, ids);
    return { rows: await newRows(tx, permitted, { items, ids, parentIds, nowMs: ctx.system.nowMs() }) };
  });
}

async function parentIdsOf(
  tx: CatalogReader,
  permitted: Filter,
  parents: readonly ResolvedParent[],
  ids: readonly number[],
): Promise<(number | undefined)[]> {
  const named = new Map<string, number>();
  for (const [index, parent] of parents.entries()) {
    if (!parent || !("name" in parent) || named.has(parent.name)) continue;
    const filter = and(permitted, equals("name", parent.name));
    const found = await tx.find(assetTable, { filter, order: byId, page: { limit: 2 } });
    if (found.length !== 1) throw ambiguousParent(index, parent.name);
    named.set(parent.name, found[0]!.id);
  }
  return parents.map((parent) => {
    if (!parent) return undefined;
    if ("item" in parent) return ids[parent.item];
    return "id" in parent ? parent.id : named.get(parent.name);
  });
}

async function newRows(
  tx: CatalogReader,
  permitted: Filter,
  batch: {
    readonly items: readonly NewAsset[];
    readonly ids: readonly number[];
    readonly parentIds: readonly (number | undefined)[];
    readonly nowMs: number;
  },
): Promise<AssetRow[]> {
  const { items, ids, parentIds, nowMs } = batch;
  const own = new Set<number | undefined>([...ids, undefined]);
  const outsideIds = [...new Set(parentIds.filter((id) => !own.has(id)) as number[])];
  const outside = await existingRows(tx, permitted, { ids: outsideIds, field: "parentId" });
  const nodes = await mapInSlices(items, ({ name }, index) => {
    const parentId = parentIds[index];
    return { id: ids[index]!, name, ...(parentId !== undefined && { parentId }) };
  });
  const positions = treePositions(nodes, new Map(outside.map((row) => [row.id, row])));
  const typed = items.flatMap(({ types = [] }) => types.map((type) => type.id));
  const definitions = await typeDefinitions(tx, typed);
  return mapInSlices(items, (item, index) => {
    const { description, metadata, source, sourceId, types } = item;
    const node = nodes[index]!;
    return {
      ...node,
      ...positions.get(node.id)!,
      ...commonFieldsOf(item),
      ...(description !== undefined && { description }),
      metadata: metadata ?? {},
      ...(source !== undefined && { source }),
      ...(sourceId !== undefined && { sourceId }),
      ...(types && changeTypes({}, types, { definitions, place: `items[${index}].types` })),
      createdTime: nowMs,
      lastUpdatedTime: nowMs,
    };
  });
}

/** Returns one page of the assets that the caller may see. */
export async function listAssets(ctx: RequestContext, query: AssetsQuery): Promise<Page<Asset>> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  const { under } = query;
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    if (under === undefined) return pageBelow(tx, permitted, undefined, query);
    const root = (await visibleRows(tx, permitted, [under])).get(under);
    return root ? pageBelow(tx, permitted, root, query) : { items: [] };
  });
}

/** Like `listAssets`, for the subtree of the asset `under`. Refuses (404) an unknown asset. */
export async function listSubtree(
  ctx: RequestContext,
  query: AssetsQuery & { readonly under: number },
): Promise<Page<Asset>> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const [root] = await existingRows(tx, permitted, { ids: [query.under], field: "assetId", status: 404 });
    return pageBelow(tx, permitted, root, query);
  });
}

async function pageBelow(
  tx: CatalogReader,
  permitted: Filter,
  root: AssetRow | undefined,
  { filter, depth, page }: AssetsQuery,
): Promise<Page<Asset>> {
  const deepest = { value: (root?.depth ?? 0) + (depth ?? 0), inclusive: true };
  const matching = and(
    permitted,
    filter,
    depth === undefined ? undefined : between("depth", { to: deepest }),
  );
  const found = root
    ? await readSubtree(tx, root, { filter: matching, page })
    : await readPage(tx, assetTable, { filter: matching, order: byDepth, page });
  return { ...found, items: await assetsOf(tx, found.items) };
}

/** Siblings by name. Roots may share a name, so the id is part of the order. */
const byName: readonly OrderBy[] = [{ field: "name", direction: "ascending" }, ...byId];

export interface ChildrenQuery {
  /** Absent: the topmost assets that the caller may see. */
  readonly parentId?: number | undefined;
  /** The first name of the list. */
  readonly from?: string | undefined;
  readonly page: PageQuery;
}

export interface AssetInTree extends Asset {
  /** Whether the caller may see an asset directly below it. */
  readonly hasChildren: boolean;
}

/**
 * Returns one page of a level of the tree that the caller may see, by name. Refuses (404) an unknown parent.
 */
export async function listChildren(ctx: RequestContext, query: ChildrenQuery): Promise<Page<AssetInTree>> {
  const { parentId, from, page } = query;
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    if (parentId !== undefined)
      await existingRows(tx, permitted, { ids: [parentId], field: "parentId", status: 404 });
    const level = parentId === undefined ? topmost(permitted) : and(permitted, equals("parentId", parentId));
    const start =
      from === undefined ? undefined : between("name", { from: { value: from, inclusive: true } });
    const found = await readPage(tx, assetTable, { filter: and(level, start), order: byName, page });
    const assets = await assetsOf(tx, found.items);
    const parents = await Promise.all(assets.map(({ id }) => hasChildren(tx, permitted, id)));
    return { ...found, items: assets.map((asset, at) => ({ ...asset, hasChildren: parents[at]! })) };
  });
}

/** The visible assets whose parent is not visible; a scope of subtrees names them. */
function topmost(permitted: Filter): Filter {
  // The index of unique names has no rows without a parent; the one of depths finds the roots.
  if (permitted.kind === "everything") return equals("depth", 0);
  const named = oneOf("id", subtreeRootsIn(permitted));
  return and(permitted, named, not(related("parentId", assetTable.name, permitted)));
}

async function hasChildren(tx: CatalogReader, permitted: Filter, id: number): Promise<boolean> {
  const filter = and(permitted, equals("parentId", id));
  const found = await tx.find(assetTable, {
    filter,
    order: byName,
    page: { limit: 1 },
    fields: ["id", "name"],
  });
  return found.length > 0;
}

/** Matches the assets that the caller may see, for filters of other records. */
export const visibleAssets = (ctx: RequestContext): Filter =>
  permittedRecords(ctx.caller, "assetsAcl", "READ");

/** Counts the matching assets that the caller may see. */
export async function countAssets(ctx: RequestContext, filter: Filter): Promise<number> {
  const visible = and(visibleAssets(ctx), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(assetTable, visible));
}

/**
 * Returns at most `parts - 1` positions that split the list of all assets into parts of about equal size.
 */
export async function divideAssets(ctx: RequestContext, parts: number): Promise<Position[]> {
  const filter = permittedRecords(ctx.caller, "assetsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, (tx) => tx.divide(assetTable, { filter, order: byDepth, parts }));
}

/** Refuses (404) an unknown asset. */
export async function getAsset(ctx: RequestContext, id: number): Promise<Asset> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  const [asset] = await ctx.catalog.read(ctx.projectId, async (tx) =>
    assetsOf(tx, await existingRows(tx, permitted, { ids: [id], field: "assetId", status: 404 })),
  );
  return asset!;
}

/** Reads assets in the order of the names, in batches. Refuses (400) unknown and repeated names. */
export const getAssets = (ctx: RequestContext, names: readonly RecordName[]) =>
  recordsByName(
    ctx,
    { ...assetType, permitted: permittedRecords(ctx.caller, "assetsAcl", "READ") },
    names,
    assetsOf,
  );

/**
 * Yields the names and sources of all matching assets that the caller may see. Each page has its own
 * transaction, so that a slow consumer holds none open.
 */
export async function* assetNames(
  ctx: RequestContext,
  filter: Filter,
): AsyncGenerator<readonly Pick<AssetRow, "name" | "source">[]> {
  const visible = and(permittedRecords(ctx.caller, "assetsAcl", "READ"), filter);
  const limit = limits.assetNamesAtOnce;
  for (let after: Position | undefined; ; ) {
    ctx.signal.throwIfAborted();
    const page = { limit, ...(after && { after }) };
    const query = { filter: visible, order: byId, page, fields: ["id", "name", "source"] };
    const rows = await ctx.catalog.read(ctx.projectId, (tx) => tx.find(assetTable, query));
    yield rows;
    if (rows.length < limit) return;
    after = [rows.at(-1)!.id];
  }
}

/** Best matches first. */
export async function searchAssets(ctx: RequestContext, query: TextSearch): Promise<Asset[]> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const filter = and(permitted, await limitToVisibleSubtrees(ctx, tx, "assetsAcl", query.filter));
    return assetsOf(tx, await searchByText(tx, assetTable, { ...query, filter }));
  });
}

/**
 * Changes all assets or none, and returns them in the same order. Refuses (400) unknown and repeated ids,
 * an unknown parent, a parent in the asset's own subtree, and the refusals of `createAssets`.
 */
export async function updateAssets(ctx: RequestContext, changes: readonly AssetChange[]): Promise<Asset[]> {
  return update(ctx, changes, { field: "items" });
}

/** Like `updateAssets` for a single asset. Refuses (404) an unknown asset. */
export async function updateAsset(ctx: RequestContext, change: AssetChange): Promise<Asset> {
  const [changed] = await update(ctx, [change], { field: "assetId", status: 404 });
  return changed!;
}

async function update(
  ctx: RequestContext,
  changes: readonly AssetChange[],
  named: { readonly field: string; readonly status?: 404 },
): Promise<Asset[]> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "WRITE");
  const placeOf = (index: number) => (named.field === "items" ? `items[${index}].` : "");
  const write = () =>
    writeAssets(ctx, permitted, "replace", async (tx) => {
      const before = await existingRows(tx, permitted, { ids: changes.map(({ id }) => id), ...named });
      const after = await changeRows(tx, before, {
        changes,
        fieldPrefix: placeOf,
        nowMs: ctx.system.nowMs(),
      });
      return moveSubtrees(tx, permitted, { before, after });
    });
  const mayMove = changes.some(({ parentId }) => parentId !== undefined);
  return mayMove ? ctx.generations.of(ctx.projectId).access.during(write) : write();
}

/**
 * Deletes these assets with their subtrees, all or nothing, and clears the links of other resources to
 * them. Refuses (400) unknown and repeated ids.
 */
export async function deleteAssets(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "WRITE");
  const remove = async (tx: CatalogWriter) => {
    await refuseUnknownIds(tx, assetTable, permitted, { ids, field: "items" });
    await tx.remove(assetTable, underAsset(ids));
  };
  await ctx.generations.of(ctx.projectId).access.during(() => ctx.catalog.write(ctx.projectId, remove));
}

/** Plans and writes rows like `writeRows`, and returns them as assets. */
async function writeAssets(
  ctx: RequestContext,
  permitted: Filter,
  how: "insert" | "replace",
  plan: (tx: CatalogReader) => Promise<AssetWrite>,
): Promise<Asset[]> {
  let assets: Asset[] = [];
  await writeRows(ctx, permitted, how, async (tx) => {
    const planned = await plan(tx);
    assets = await assetsOf(tx, planned.rows);
    return planned;
  });
  return assets;
}

async function assetsOf(tx: CatalogReader, rows: readonly AssetRow[]): Promise<Asset[]> {
  const definitions = await typeDefinitions(
    tx,
    rows.flatMap(({ typeIds = [] }) => typeIds),
  );
  return mapInSlices(rows, (row) => {
    const { path, typeIds, fieldValues, ...others } = row;
    return { ...others, path: idsIn(path), types: typeValuesOf(row, definitions) };
  });
}

/**
 * Parses the ids of a path such as `/1/7/9/`, digit by digit: a page of 1,000 assets has thousands of them.
 */
function idsIn(path: string): number[] {
  const ids: number[] = [];
  let id = 0;
  for (let at = 1; at < path.length; at++) {
    const digit = path.charCodeAt(at) - 48;
    if (digit < 0) ids.push(id);
    id = digit < 0 ? 0 : id * 10 + digit;
  }
  return ids;
}
