// Time series: what a plant measures, by name and by id (platform-api Time series; client-endpoints 8).
import { type Action, scopeOf } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { and, oneOf } from "../../query/filter.ts";
import { timeSeries } from "./schema.ts";
import { type SeriesKey, type SeriesRef, seriesNamesOf } from "./series-names.ts";

export type { TimeSeries } from "./schema.ts";
export type { SeriesRef } from "./series-names.ts";

export type SeriesKeys = { readonly names: readonly string[] } | { readonly ids: readonly number[] };

/**
 * What datapoint operations need to know of many series: one element a key, in the order asked, `undefined`
 * where there is no such series or the caller may not do `action` to it. Memory answers a caller whose rights
 * have no bounds; for all others, and for what is not in memory, one question to the catalog does.
 */
export async function resolveSeries(
  ctx: RequestContext,
  keys: SeriesKeys,
  action: Action,
): Promise<(SeriesRef | undefined)[]> {
  const visible = scopeOf(ctx.caller, "timeSeriesAcl", action);
  const [field, wanted] = fieldAndKeys(keys);
  const names = seriesNamesOf(ctx.catalog, ctx.project);
  const answerable = visible.kind === "everything";
  const found = wanted.map((key) => (answerable ? names.get(key) : undefined));
  const missing = wanted.filter((_, i) => found[i] === undefined);
  if (missing.length === 0) return found;
  const state = names.state;
  const read = await ctx.catalog.read(ctx.project, (tx) =>
    tx.find(timeSeries, {
      filter: and(visible, oneOf(field, missing)),
      order: [{ field: "id", direction: "ascending" }],
      page: { limit: missing.length },
    }),
  );
  names.remember(read, state);
  const byKey = new Map<SeriesKey, SeriesRef>(read.map((series) => [series[field], series]));
  return wanted.map((key, i) => found[i] ?? byKey.get(key));
}

/** As `resolveSeries`; refuses (404, `notFound`) when any series is unknown. */
export async function requireSeries(
  ctx: RequestContext,
  keys: SeriesKeys,
  action: Action,
): Promise<SeriesRef[]> {
  const found = await resolveSeries(ctx, keys, action);
  const [, wanted] = fieldAndKeys(keys);
  const unknown = wanted.filter((_, i) => found[i] === undefined);
  if (unknown.length > 0) throw fail("series-unknown", { keys: [...new Set(unknown)] });
  return found as SeriesRef[];
}

const fieldAndKeys = (keys: SeriesKeys): readonly ["name" | "id", readonly SeriesKey[]] =>
  "names" in keys ? ["name", keys.names] : ["id", keys.ids];
