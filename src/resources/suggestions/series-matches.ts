// Suggests assets for series without an asset, by the tags in their names.
import { permittedRecords, requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, not, oneOf, related } from "../../query/filter.ts";
import { byId, type PageQuery, type Position } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { assetTable } from "../assets/schema.ts";
import { matchTags } from "../tag-matching/tag-matching.ts";
import { type TimeSeries, timeSeriesTable } from "../timeseries/schema.ts";
import { permittedSeries } from "../timeseries/timeseries.ts";
import { type Suggestion, suggestionTable } from "./schema.ts";
import { visibleSuggestions } from "./suggestions.ts";

export interface MatchBounds {
  /** The greatest score of a suggestion, inclusive. */
  readonly scoreMax: number;
  /** The most suggestions for a series. */
  readonly candidatesMax: number;
}

export interface SeriesMatches {
  /** The series that were compared. */
  readonly examined: number;
  /** The new suggestions. */
  readonly proposed: number;
  readonly next?: Position;
}

export interface AssetMatch {
  readonly assetId: number;
  readonly tag: string;
  readonly score: number;
}

/**
 * Compares the next series without an asset with the names of assets, both as far as the caller may read
 * them, and stores the nearest assets as open suggestions. A series and an asset that have a suggestion, also
 * a rejected one, get no second one; the score of an open one is updated. The first page removes open
 * suggestions for series that have got an asset.
 */
export async function suggestForSeries(
  ctx: RequestContext,
  { page, ...bounds }: MatchBounds & { readonly page: PageQuery },
): Promise<SeriesMatches> {
  const visible = visibleSuggestions(ctx, "WRITE");
  requireCapability(ctx.caller, "assetsAcl", "READ");
  const withoutAsset = and(permittedSeries(ctx, "READ"), equals("assetId", null));
  const query = { filter: withoutAsset, order: byId, page, fields: ["id", "name"] };
  const found = await ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, timeSeriesTable, query));
  const candidates = await candidatesOf(ctx, found.items, bounds);
  const proposed = await ctx.catalog.write(ctx.projectId, async (tx) => {
    if (!page.after) await tx.remove(suggestionTable, and(visible, settled));
    const ids = found.items.map(({ id }) => id);
    const filter = and(withoutAsset, oneOf("id", ids));
    const still = await tx.find(timeSeriesTable, { ...query, filter, page: { limit: ids.length } });
    const held = await heldFor(tx, and(visible, oneOf("seriesId", ids)));
    const { added, changed } = merge(ctx, still, { candidates: await existing(tx, candidates), held });
    await tx.insert(suggestionTable, added);
    await tx.setColumns(suggestionTable, ["score", "tag", "lastUpdatedTime"], changed);
    return added.length;
  });
  return { examined: found.items.length, proposed, ...(found.next && { next: found.next }) };
}

/** Open suggestions for series that got an asset in another way. */
const settled = and(
  equals("state", "OPEN"),
  related("seriesId", timeSeriesTable.name, not(equals("assetId", null))),
);

async function heldFor(tx: CatalogReader, filter: Filter): Promise<Suggestion[]> {
  const limit = await tx.count(suggestionTable, filter);
  return tx.find(suggestionTable, { filter, order: byId, page: { limit } });
}

interface Merging {
  readonly candidates: ReadonlyMap<number, readonly AssetMatch[]>;
  readonly held: readonly Suggestion[];
}

function merge(
  ctx: RequestContext,
  series: readonly Pick<TimeSeries, "id">[],
  { candidates, held }: Merging,
): { readonly added: Suggestion[]; readonly changed: Suggestion[] } {
  const nowMs = ctx.system.nowMs();
  const byPair = new Map(held.map((row) => [`${row.seriesId} ${row.assetId}`, row]));
  const added: Suggestion[] = [];
  const changed: Suggestion[] = [];
  for (const { id: seriesId } of series)
    for (const { assetId, tag, score } of candidates.get(seriesId) ?? []) {
      const before = byPair.get(`${seriesId} ${assetId}`);
      const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
      if (!before) added.push({ id: ctx.ids.next(), seriesId, assetId, tag, score, state: "OPEN", ...times });
      else if (before.state === "OPEN" && (before.score !== score || before.tag !== tag))
        changed.push({ ...before, tag, score, lastUpdatedTime: nowMs });
    }
  return { added, changed };
}

async function candidatesOf(
  ctx: RequestContext,
  series: readonly Pick<TimeSeries, "id" | "name">[],
  bounds: MatchBounds,
): Promise<ReadonlyMap<number, readonly AssetMatch[]>> {
  const tags = series.map(({ name }) => tagsIn(name));
  const matches = await assetsByTag(ctx, [...new Set(tags.flat())], bounds);
  return new Map(
    series.map(({ id }, at) => [
      id,
      best(
        tags[at]!.flatMap((tag) => matches.get(tag) ?? []),
        bounds,
      ),
    ]),
  );
}

/** The matches whose assets were not deleted meanwhile. */
export async function existing<Key>(
  tx: CatalogReader,
  matches: ReadonlyMap<Key, readonly AssetMatch[]>,
): Promise<ReadonlyMap<Key, readonly AssetMatch[]>> {
  const ids = [...new Set([...matches.values()].flat().map(({ assetId }) => assetId))];
  const known = new Set((await tx.get(assetTable, ids)).map(({ id }) => id));
  return new Map([...matches].map(([key, of]) => [key, of.filter(({ assetId }) => known.has(assetId))]));
}

/** Each asset once, with its best score. */
function best(candidates: readonly AssetMatch[], { candidatesMax }: MatchBounds): AssetMatch[] {
  const sorted = candidates.toSorted((a, b) => a.score - b.score || a.assetId - b.assetId);
  const isFirst = ({ assetId }: AssetMatch, at: number) =>
    sorted.findIndex((one) => one.assetId === assetId) === at;
  return sorted.filter(isFirst).slice(0, candidatesMax);
}

/**
 * The name, and its part that looks like a tag: of `plant/21-PT-1019.PV` also `21-PT-1019`. A part is one
 * with letters and digits, as words alone would match too much.
 */
export function tagsIn(name: string): string[] {
  const parts = name.split(/[./:|\\;\s]+/).filter((part) => /\p{L}/u.test(part) && /\p{N}/u.test(part));
  return [...new Set([name, ...parts.slice(-limits.suggestionTagsPerNameMax)])];
}

/** By tag the nearest assets that the caller may read, best first. */
export async function assetsByTag(
  ctx: RequestContext,
  tags: readonly string[],
  { scoreMax, candidatesMax }: MatchBounds,
): Promise<ReadonlyMap<string, readonly AssetMatch[]>> {
  const found = await matchTags(ctx, { tags, scoreMax });
  const nearest = found.map((matches) => matches.slice(0, limits.suggestionNamesMax));
  const assets = await assetIdsByName(ctx, [...new Set(nearest.flat().map(({ name }) => name))]);
  return new Map(
    tags.map((tag, at) => {
      const candidates = nearest[at]!.flatMap(({ name, score }) =>
        (assets.get(name) ?? []).map((assetId) => ({ assetId, tag, score })),
      );
      return [tag, best(candidates, { scoreMax, candidatesMax })];
    }),
  );
}

async function assetIdsByName(
  ctx: RequestContext,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const permitted = permittedRecords(ctx.caller, "assetsAcl", "READ");
  const byName = new Map<string, number[]>();
  for (let at = 0; at < names.length; at += limits.idsPerQueryMax) {
    ctx.signal.throwIfAborted();
    const some = names.slice(at, at + limits.idsPerQueryMax);
    const query = { filter: and(permitted, oneOf("name", some)), order: byId, fields: ["id", "name"] };
    const page = { limit: limits.itemsPerWriteMax };
    const rows = await ctx.catalog.read(ctx.projectId, (tx) => tx.find(assetTable, { ...query, page }));
    for (const { id, name } of rows) {
      const held = byName.get(name);
      if (held) held.push(id);
      else byName.set(name, [id]);
    }
  }
  return byName;
}
