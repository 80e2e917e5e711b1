// Saved trends: named pictures of time series, which every caller with `trendsAcl` READ may open.
//
// A trend grants nothing: a reader of a trend reads its series with the rights of its own.
import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { changeValues } from "../common/changes.ts";
import { type Trend, trendTable } from "./schema.ts";

export type { Trend } from "./schema.ts";

export type NewTrend = Pick<Trend, "name" | "description" | "definition">;
/** A trend in a list that leaves out definitions. */
export type ListedTrend = Omit<Trend, "definition"> & Partial<Pick<Trend, "definition">>;

/** Values to set; `null` clears the description, an absent member leaves it. */
export interface TrendChange {
  readonly id: number;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly definition?: string | undefined;
}

const permittedFor = (ctx: RequestContext, action: Action): Filter =>
  permittedRecords(ctx.caller, "trendsAcl", action);

/**
 * Creates all trends or none, and returns them in the same order; the caller is their owner. Refuses (409)
 * names that repeat or belong to another trend.
 */
export async function createTrends(ctx: RequestContext, items: readonly NewTrend[]): Promise<Trend[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const { user, userId } = ctx.caller;
  const owner = { owner: user, ...(userId !== undefined && { ownerId: userId }) };
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const nowMs = ctx.system.nowMs();
    const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
    const rows = await mapInSlices(items, (item) => ({ ...item, id: ctx.ids.next(), ...owner, ...times }));
    await refuseTakenNames(tx, rows);
    await tx.insert(trendTable, rows);
    await refuseNotPermitted(tx, trendTable, permitted, { acl: "trendsAcl", rows });
    return rows;
  });
}

export interface TrendsQuery {
  readonly filter: Filter;
  readonly includeDefinition: boolean;
  readonly page: PageQuery;
}

const fields = Object.keys(trendTable.columns);
const fieldsOfList = fields.filter((name) => name !== "definition");

/** Returns one page of the trends, by id. */
export async function listTrends(
  ctx: RequestContext,
  { filter, includeDefinition, page }: TrendsQuery,
): Promise<Page<ListedTrend>> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  const query = { filter: visible, order: byId, page, fields: includeDefinition ? fields : fieldsOfList };
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, trendTable, query));
}

/** Refuses (404) an unknown trend. */
export async function getTrend(ctx: RequestContext, id: number): Promise<Trend> {
  const permitted = permittedFor(ctx, "READ");
  const named = { ids: [id], field: "trendId", status: 404 } as const;
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, trendTable, permitted, named),
  );
  return found!;
}

/**
 * Changes all trends or none, and returns them in the same order. Refuses (400) unknown and repeated ids, and
 * (409) names in use, even by a trend that changes in the same request.
 */
export async function updateTrends(ctx: RequestContext, changes: readonly TrendChange[]): Promise<Trend[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const named = { ids: changes.map(({ id }) => id), field: "items" };
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const before = await existingRecords(tx, trendTable, permitted, named);
    const nowMs = ctx.system.nowMs();
    const after = await mapInSlices(before, (row, index) => changeValues(row, { ...changes[index]! }, nowMs));
    const changed = after.filter((row, index) => row !== before[index]);
    await refuseTakenNames(tx, changed);
    await tx.replace(trendTable, changed);
    return after;
  });
}

/** Deletes all trends or none. Refuses (400) unknown and repeated ids. */
export async function deleteTrends(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const permitted = permittedFor(ctx, "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingRecords(tx, trendTable, permitted, { ids, field: "items" });
    await tx.remove(trendTable, oneOf("id", ids));
  });
}

/** Refuses (409) rows whose name belongs to another trend, or appears twice. */
async function refuseTakenNames(tx: CatalogReader, rows: readonly Trend[]): Promise<void> {
  const named = rows.map(({ name }) => name);
  const existing = await tx.find(trendTable, {
    filter: oneOf("name", [...new Set(named)]),
    order: byId,
    page: { limit: rows.length },
    fields: ["id", "name"],
  });
  const holders = new Map(existing.map(({ id, name }) => [name, id]));
  const taken = rows.filter(({ id, name }) => holders.has(name) && holders.get(name) !== id);
  const names = [...new Set([...taken.map(({ name }) => name), ...duplicatesIn(named)])];
  if (names.length > 0) throw fail("names-taken", { what: "trend", field: "name", names });
}
