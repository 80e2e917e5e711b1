// Accepts and rejects suggestions. The link to the asset and the state are written in one transaction.
import type { RequestContext } from "../../context.ts";
import { type Failure, fail } from "../../errors.ts";
import { and, equals, not, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { changeFilesIn } from "../files/files.ts";
import { type TimeSeries, timeSeriesTable } from "../timeseries/schema.ts";
import { changeSeriesIn } from "../timeseries/timeseries.ts";
import { type Suggestion, suggestionTable } from "./schema.ts";
import { visibleSuggestions } from "./suggestions.ts";

/**
 * Links the series and files of the suggestions to their assets, with the caller's rights on these, and
 * removes the other open suggestions for the series: all or nothing. Refuses (400) unknown and repeated ids
 * and records that the caller may not write, and (409) a series with another asset.
 */
export const acceptSuggestions = (ctx: RequestContext, ids: readonly number[]): Promise<Suggestion[]> =>
  review(ctx, ids, async (tx, rows) => {
    await setAssets(ctx, tx, rows);
    await changeFileLinks(ctx, tx, rows, "add");
    const seriesIds = rows.flatMap(({ seriesId }) => seriesId ?? []);
    const others = and(oneOf("seriesId", seriesIds), not(oneOf("id", ids)), equals("state", "OPEN"));
    if (seriesIds.length > 0) await tx.remove(suggestionTable, others);
    return "ACCEPTED";
  });

/**
 * Rejects the suggestions, and takes away the links of accepted ones: all or nothing. Refuses as
 * `acceptSuggestions`.
 */
export const rejectSuggestions = (ctx: RequestContext, ids: readonly number[]): Promise<Suggestion[]> =>
  review(ctx, ids, async (tx, rows) => {
    const accepted = rows.filter(({ state }) => state === "ACCEPTED");
    await clearAssets(ctx, tx, accepted);
    await changeFileLinks(ctx, tx, await lastOfTheirKind(tx, accepted), "remove");
    return "REJECTED";
  });

async function review(
  ctx: RequestContext,
  ids: readonly number[],
  work: (tx: CatalogWriter, rows: readonly Suggestion[]) => Promise<Suggestion["state"]>,
): Promise<Suggestion[]> {
  const visible = visibleSuggestions(ctx, "WRITE");
  const write = () =>
    ctx.catalog.write(ctx.projectId, async (tx) => {
      const rows = await existingRecords(tx, suggestionTable, visible, { ids, field: "items" });
      const state = await work(tx, rows);
      const lastUpdatedTime = ctx.system.nowMs();
      const after = rows.map((row) => (row.state === state ? row : { ...row, state, lastUpdatedTime }));
      await tx.setColumns(suggestionTable, ["state", "lastUpdatedTime"], after);
      return after;
    });
  // A series that moves to another asset changes who may read it.
  return ctx.generations.of(ctx.projectId).access.during(write);
}

async function setAssets(ctx: RequestContext, tx: CatalogWriter, rows: readonly Suggestion[]): Promise<void> {
  const assets = new Map<number, number>();
  for (const { seriesId, assetId } of rows) {
    if (seriesId === undefined) continue;
    if (assets.has(seriesId)) throw await namedTwice(tx, seriesId);
    assets.set(seriesId, assetId);
  }
  const series = await seriesOf(tx, [...assets.keys()]);
  for (const { id, name, assetId } of series)
    if (assetId !== undefined && assetId !== assets.get(id))
      throw fail("suggestion-series-linked", { name, assetId });
  const free = series.filter(({ assetId }) => assetId === undefined).map(({ id }) => id);
  const changes = free.map((id) => ({ assetId: assets.get(id)! }));
  await changeSeriesIn(ctx, tx, { keys: { ids: free }, changes, status: 400, placeOf: () => "" });
}

async function namedTwice(tx: CatalogWriter, seriesId: number): Promise<Failure> {
  const [series] = await seriesOf(tx, [seriesId]);
  return fail("suggestion-series-twice", { name: series!.name });
}

async function clearAssets(
  ctx: RequestContext,
  tx: CatalogWriter,
  rows: readonly Suggestion[],
): Promise<void> {
  const assets = new Map(rows.map(({ seriesId, assetId }) => [seriesId, assetId]));
  const series = await seriesOf(
    tx,
    rows.flatMap(({ seriesId }) => seriesId ?? []),
  );
  const ids = series.filter(({ id, assetId }) => assetId === assets.get(id)).map(({ id }) => id);
  const changes = ids.map(() => ({ assetId: null }));
  await changeSeriesIn(ctx, tx, { keys: { ids }, changes, status: 400, placeOf: () => "" });
}

/** The caller may read these: a suggestion is visible with its series. */
async function seriesOf(tx: CatalogWriter, ids: readonly number[]): Promise<TimeSeries[]> {
  return ids.length === 0 ? [] : tx.get(timeSeriesTable, [...new Set(ids)]);
}

async function changeFileLinks(
  ctx: RequestContext,
  tx: CatalogWriter,
  rows: readonly Suggestion[],
  kind: "add" | "remove",
): Promise<void> {
  const assets = new Map<number, Set<number>>();
  for (const { fileId, assetId } of rows) {
    if (fileId === undefined) continue;
    const held = assets.get(fileId);
    if (held) held.add(assetId);
    else assets.set(fileId, new Set([assetId]));
  }
  const changes = [...assets].map(([id, of]) => ({ id, change: { assetIds: { [kind]: [...of] } } }));
  await changeFilesIn(ctx, tx, { changes, named: { field: "items" }, planned: [] });
}

/** Those of files that no other accepted suggestion links to the asset. */
async function lastOfTheirKind(tx: CatalogWriter, rows: readonly Suggestion[]): Promise<Suggestion[]> {
  const ofFiles = rows.filter(({ fileId }) => fileId !== undefined);
  if (ofFiles.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const filter = and(
    oneOf("fileId", [...new Set(ofFiles.map(({ fileId }) => fileId!))]),
    oneOf("assetId", [...new Set(ofFiles.map(({ assetId }) => assetId))]),
    equals("state", "ACCEPTED"),
    not(oneOf("id", ids)),
  );
  const limit = await tx.count(suggestionTable, filter);
  const others = await tx.find(suggestionTable, { filter, order: byId, page: { limit } });
  const kept = new Set(others.map(({ fileId, assetId }) => `${fileId} ${assetId}`));
  return ofFiles.filter(({ fileId, assetId }) => !kept.has(`${fileId} ${assetId}`));
}
