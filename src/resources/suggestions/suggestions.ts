// Suggestions: possible links of series, and of tags in drawings, to assets. People accept or reject them.
import { hasCapability, permittedRecords, requireCapability } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import {
  and,
  equals,
  everything,
  type Filter,
  not,
  nothing,
  oneOf,
  or,
  related,
} from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import { type CatalogReader, type Stored, type Table, UniqueViolation } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { assetTable } from "../assets/schema.ts";
import { fileTable } from "../files/schema.ts";
import { timeSeriesTable } from "../timeseries/schema.ts";
import { permittedSeries } from "../timeseries/timeseries.ts";
import { type Suggestion, suggestionTable } from "./schema.ts";

export type { Suggestion } from "./schema.ts";

export type NewSuggestion = Omit<Suggestion, "id" | "createdTime" | "lastUpdatedTime">;

/**
 * The suggestions whose series or file, and whose asset, the caller may read. Refuses (403) a caller without
 * `suggestionsAcl`.
 */
export function visibleSuggestions(ctx: RequestContext, action: Action): Filter {
  requireCapability(ctx.caller, "suggestionsAcl", action);
  const { series, files, assets } = readable(ctx);
  const sides = or(linked("seriesId", timeSeriesTable.name, series), linked("fileId", fileTable.name, files));
  return and(sides, linked("assetId", assetTable.name, assets));
}

/** The records that the caller may read on both sides. */
export const readable = (ctx: RequestContext) => ({
  series: hasCapability(ctx.caller, "timeSeriesAcl", "READ") ? permittedSeries(ctx, "READ") : nothing,
  files: hasCapability(ctx.caller, "filesAcl", "READ")
    ? permittedRecords(ctx.caller, "filesAcl", "READ")
    : nothing,
  assets: hasCapability(ctx.caller, "assetsAcl", "READ")
    ? permittedRecords(ctx.caller, "assetsAcl", "READ")
    : nothing,
});

/** The catalog removes a suggestion with the record it names, so a present id is that of a record. */
function linked(field: string, table: string, permitted: Filter): Filter {
  if (permitted.kind === "nothing") return nothing;
  if (permitted.kind === "everything") return field === "assetId" ? everything : not(equals(field, null));
  return related(field, table, permitted);
}

/** One page of the suggestions that the caller may see, by id. */
export async function listSuggestions(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<Suggestion>> {
  const visible = and(visibleSuggestions(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, suggestionTable, { filter: visible, order: byId, page }),
  );
}

/** Counts the matching suggestions that the caller may see. */
export const countSuggestions = (ctx: RequestContext, filter: Filter): Promise<number> => {
  const visible = and(visibleSuggestions(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(suggestionTable, visible));
};

/** Refuses (404) an unknown suggestion. */
export async function getSuggestion(ctx: RequestContext, id: number): Promise<Suggestion> {
  const visible = visibleSuggestions(ctx, "READ");
  const named = { ids: [id], field: "suggestionId", status: 404 } as const;
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, suggestionTable, visible, named),
  );
  return found!;
}

/**
 * Creates all suggestions or none, and returns them in the same order; links nothing. Refuses (400) records
 * that the caller may not read, and (409) a series and an asset that have a suggestion.
 */
export async function createSuggestions(
  ctx: RequestContext,
  items: readonly NewSuggestion[],
): Promise<Suggestion[]> {
  requireCapability(ctx.caller, "suggestionsAcl", "WRITE");
  const { series, files, assets } = readable(ctx);
  const nowMs = ctx.system.nowMs();
  const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
  const rows = await mapInSlices(items, (item) => ({ ...item, id: ctx.ids.next(), ...times }));
  try {
    return await ctx.catalog.write(ctx.projectId, async (tx) => {
      await refuseUnknown(tx, rows, { table: timeSeriesTable, field: "seriesId", permitted: series });
      await refuseUnknown(tx, rows, { table: fileTable, field: "fileId", permitted: files });
      await refuseUnknown(tx, rows, { table: assetTable, field: "assetId", permitted: assets });
      await tx.insert(suggestionTable, rows);
      return rows;
    });
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    throw fail("suggestion-exists", {});
  }
}

interface Side {
  readonly table: Table<Stored>;
  readonly field: "seriesId" | "fileId" | "assetId";
  readonly permitted: Filter;
}

async function refuseUnknown(
  tx: CatalogReader,
  rows: readonly Suggestion[],
  { table, field, permitted }: { readonly table: object } & Omit<Side, "table">,
): Promise<void> {
  const ids = [...new Set(rows.flatMap((row) => row[field] ?? []))];
  if (ids.length === 0) return;
  const query = { filter: and(permitted, oneOf("id", ids)), order: byId, page: { limit: ids.length } };
  const found = await tx.find(table as Table<Stored>, { ...query, fields: ["id"] });
  const known = new Set(found.map(({ id }) => id));
  const at = rows.findIndex((row) => row[field] !== undefined && !known.has(row[field]));
  if (at < 0) return;
  const expected = "the id of a record that you may read";
  throw fail("field-invalid", { field: `items[${at}].${field}`, expected, got: `${rows[at]![field]}` });
}

/** Deletes all suggestions or none. Refuses (400) unknown and repeated ids. */
export async function deleteSuggestions(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const visible = visibleSuggestions(ctx, "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingRecords(tx, suggestionTable, visible, { ids, field: "items" });
    await tx.remove(suggestionTable, oneOf("id", ids));
  });
}
