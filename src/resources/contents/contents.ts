// Counts the records of each resource in the subtree of an asset.
import { underAsset } from "../../access/asset-subtree.ts";
import { hasCapability } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import type { Filter } from "../../query/filter.ts";
import { countAssets, getAsset } from "../assets/assets.ts";
import { countEvents } from "../events/events.ts";
import { countFiles } from "../files/files.ts";
import { countSequences } from "../sequences/sequences.ts";
import { countTimeSeries } from "../timeseries/timeseries.ts";

export interface Contents {
  /** Assets below the asset. */
  readonly assets: number;
  readonly timeseries?: number;
  readonly events?: number;
  readonly files?: number;
  readonly sequences?: number;
}

type Count = (ctx: RequestContext, filter: Filter) => Promise<number>;

const counts: readonly (readonly [Exclude<keyof Contents, "assets">, Acl, Count])[] = [
  ["timeseries", "timeSeriesAcl", countTimeSeries],
  ["events", "eventsAcl", countEvents],
  ["files", "filesAcl", countFiles],
  ["sequences", "sequencesAcl", countSequences],
];

/** Leaves out resources that the caller may not read. Refuses (404) an unknown asset. */
export async function countContents(ctx: RequestContext, assetId: number): Promise<Contents> {
  const asset = await getAsset(ctx, assetId);
  const subtree = underAsset([asset.id]);
  const readable = counts.filter(([, acl]) => hasCapability(ctx.caller, acl, "READ"));
  const found = await Promise.all(
    readable.map(async ([name, , count]) => [name, await count(ctx, subtree)] as const),
  );
  return { assets: (await countAssets(ctx, subtree)) - 1, ...Object.fromEntries(found) };
}
