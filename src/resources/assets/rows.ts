// Asset rows in a transaction: reads of visible rows and subtrees, and writes with their conflicts.
import { underAsset } from "../../access/asset-subtree.ts";
import { permittedRecords } from "../../access/caller.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, oneOf, startsWith } from "../../query/filter.ts";
import { byId, type OrderBy, type Page, type PageQuery, type Position } from "../../query/page.ts";
import { type Catalog, type CatalogReader, type ProjectId, UniqueViolation } from "../../storage/catalog.ts";
import { existingRecords, type IdsNamed } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { refuseTakenExternalIds } from "../common/external-ids.ts";
import { type AssetRow, assetTable } from "./schema.ts";

/** The asset table, with the noun for its records in refusals. */
export const assetType = { table: assetTable, noun: "asset" };

/** The rows of `ids` in `permitted`, by id. Ids may repeat. */
export async function visibleRows(
  tx: CatalogReader,
  permitted: Filter,
  ids: readonly number[],
): Promise<Map<number, AssetRow>> {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return new Map();
  const filter = and(permitted, oneOf("id", distinct));
  const rows = await tx.find(assetTable, { filter, order: byId, page: { limit: distinct.length } });
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * The rows of `ids`, in the same order. Refuses repeated ids, unknown ids, and ids outside `permitted`;
 * `field` is the member of the request with the ids.
 */
export const existingRows = (tx: CatalogReader, permitted: Filter, query: IdsNamed): Promise<AssetRow[]> =>
  existingRecords(tx, assetTable, permitted, query);

/** The existing assets of `ids`, each with its ancestors. */
export async function ancestorsOf(
  catalog: Catalog,
  projectId: ProjectId,
  ids: readonly number[],
): Promise<Map<number, readonly number[]>> {
  if (ids.length === 0) return new Map();
  const rows = await catalog.read(projectId, (tx) => tx.get(assetTable, ids));
  return new Map(rows.map(({ id, path }) => [id, path.split("/").slice(1, -2).map(Number)]));
}

/** Yields the rows of `ids` and of their subtrees, by id, a page at a time. */
export async function* rowsUnder(tx: CatalogReader, ids: readonly number[]): AsyncGenerator<AssetRow> {
  const limit = limits.listItemsMax;
  for (let after: readonly number[] | undefined; ; ) {
    const page = { limit, ...(after && { after }) };
    const rows = await tx.find(assetTable, { filter: underAsset(ids), order: byId, page });
    yield* rows;
    if (rows.length < limit) return;
    after = [rows.at(-1)!.id];
  }
}

/**
 * A subtree is one range of paths, so the cost of a page does not depend on the size of the subtree. An order
 * by depth would have to find the whole subtree first.
 */
const byPath: readonly OrderBy[] = [{ field: "path", direction: "ascending" }];

/**
 * Returns one page of the matching assets of the subtree. Positions are paths below the root, so that a
 * cursor stays valid when the root moves.
 */
export async function readSubtree(
  tx: CatalogReader,
  root: AssetRow,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<AssetRow>> {
  const { after, before, ...rest } = page;
  const whole = ([below]: Position): Position => [`${root.path}${below}`];
  const { items, next, previous } = await readPage(tx, assetTable, {
    filter: and(filter, startsWith("path", root.path)),
    order: byPath,
    page: { ...rest, ...(after && { after: whole(after) }), ...(before && { before: whole(before) }) },
  });
  const below = ([path]: Position): Position => [String(path).slice(root.path.length)];
  return {
    items,
    ...(next && { next: below(next) }),
    ...(previous && { previous: below(previous) }),
  };
}

export interface AssetWrite {
  readonly rows: readonly AssetRow[];
  /** Assets whose position changes because an ancestor moved. */
  readonly descendants?: readonly AssetRow[];
}

/**
 * Plans rows and stores them in one transaction. Refuses, with nothing changed, a repeated source and
 * source id, a repeated external id, siblings with the same name, and rows outside `permitted`.
 */
export async function writeRows(
  ctx: RequestContext,
  permitted: Filter,
  how: "insert" | "replace",
  plan: (tx: CatalogReader) => Promise<AssetWrite>,
): Promise<void> {
  let rows: readonly AssetRow[] = [];
  try {
    await ctx.catalog.write(ctx.projectId, async (tx) => {
      const { descendants = [], ...planned } = await plan(tx);
      rows = planned.rows;
      await refuseTakenExternalIds(tx, assetType, rows);
      await tx[how](assetTable, rows);
      await tx.setColumns(assetTable, ["path", "depth"], descendants);
      await refuseNotPermitted(tx, assetTable, permitted, {
        acl: "assetsAcl",
        rows: [...rows, ...descendants],
      });
    });
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    throw await conflictError(ctx, rows);
  }
}

async function conflictError(ctx: RequestContext, rows: readonly AssetRow[]): Promise<Error> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const sameSource = await conflicting(tx, rows, ["source", "sourceId"]);
    if (sameSource.length > 0)
      return fail("asset-duplicates", {
        duplicates: sameSource.map(({ source, sourceId }) => ({ source: source!, sourceId: sourceId! })),
      });
    const sameName = await conflicting(tx, rows, ["parentId", "name"]);
    return fail("asset-name-taken", { names: sameName.map(({ name }) => name) });
  });
}

/** The rows whose combination of values repeats in an earlier row or exists in the table. */
async function conflicting(
  tx: CatalogReader,
  rows: readonly AssetRow[],
  [first, second]: readonly ["source", "sourceId"] | readonly ["parentId", "name"],
): Promise<AssetRow[]> {
  const planned = new Set(rows.map((row) => row.id));
  const groups = Map.groupBy(
    rows.filter((row) => row[first] !== undefined && row[second] !== undefined),
    (row) => row[first]!,
  );
  const found: AssetRow[] = [];
  for (const [value, group] of groups) {
    const filter = and(equals(first, value), oneOf(second, [...new Set(group.map((row) => row[second]!))]));
    const stored = await tx.find(assetTable, { filter, order: byId, page: { limit: group.length } });
    const taken = new Set(stored.filter((row) => !planned.has(row.id)).map((row) => row[second]));
    found.push(...group.filter((row) => taken.has(row[second]) || !taken.add(row[second])));
  }
  return found;
}

interface ColumnsQuery {
  readonly filter: Filter;
  readonly fields: readonly string[];
  readonly page: PageQuery;
}

/**
 * Returns one page of these stored columns of the matching assets that the caller may see, by id. Takes a
 * fifth of the time of `listAssets`.
 */
export async function listAssetColumns(
  ctx: RequestContext,
  { filter, fields, page }: ColumnsQuery,
): Promise<Page<Partial<AssetRow>>> {
  const visible = and(permittedRecords(ctx.caller, "assetsAcl", "READ"), filter);
  const query = {
    filter: visible,
    order: byId,
    page,
    fields: ["id", ...fields.filter((name) => name !== "id")],
  };
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, assetTable, query));
}
