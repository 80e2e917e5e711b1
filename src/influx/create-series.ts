// Creates the series that lines name for the first time.
import type { RequestContext } from "../context.ts";
import { Failure } from "../errors.ts";
import { limits } from "../limits.ts";
import { assetsByExternalId } from "../resources/assets/assets.ts";
import {
  createTimeSeries,
  type NewTimeSeries,
  resolveSeries,
  type SeriesRef,
} from "../resources/timeseries/timeseries.ts";
import type { MissingSeries } from "./line-batch.ts";
import type { NameTemplate } from "./name-template.ts";
import { metadataOf } from "./series-names.ts";

/** How the assets of new series are found. */
export interface AssetLinks {
  /** Gives the external id of the asset that a series is linked to. */
  readonly assetTemplate: NameTemplate | undefined;
  /** The database of the request. */
  readonly db: string;
}

type Created = Map<number, SeriesRef | string>;

/** By number: each series, or the reason why the caller may not create it. */
export async function createMissing(
  ctx: RequestContext,
  missing: readonly MissingSeries[],
  options: AssetLinks,
): Promise<Created> {
  const created: Created = new Map();
  for (const group of (await byAsset(ctx, missing, options)).values())
    for (let at = 0; at < group.length; at += limits.itemsPerWriteMax)
      await createGroup(ctx, group.slice(at, at + limits.itemsPerWriteMax), created);
  return created;
}

interface Draft extends MissingSeries {
  readonly item: NewTimeSeries;
}

/** The right to create a series depends on its asset, so the series of one asset are created together. */
async function byAsset(
  ctx: RequestContext,
  missing: readonly MissingSeries[],
  { assetTemplate, db }: AssetLinks,
): Promise<Map<number | undefined, Draft[]>> {
  const externalIds = missing.map(({ name }) => assetTemplate?.nameOf(name, db));
  const assets = await assetsByExternalId(
    ctx,
    "timeSeriesAcl",
    externalIds.filter((id) => id !== undefined),
  );
  return Map.groupBy(
    missing.map((one, at) => {
      const assetId = assets.get(externalIds[at] ?? "");
      return { ...one, item: newSeriesOf(one, assetId) };
    }),
    ({ item }) => item.assetId,
  );
}

function newSeriesOf({ name, isString }: MissingSeries, assetId: number | undefined): NewTimeSeries {
  const unit = name.tags.find(([key]) => key === "unit")?.[1];
  return {
    name: name.name,
    isString,
    isStep: false,
    metadata: metadataOf(name),
    ...(unit !== undefined && { unit }),
    ...(assetId !== undefined && { assetId }),
  };
}

/**
 * Creates the series of a group. If a name is taken, either another request has just created that series, or
 * the caller may not write to it: those are resolved, and the others created without them.
 */
async function createGroup(ctx: RequestContext, group: readonly Draft[], created: Created): Promise<void> {
  // Two series of a slice have one name if the template leaves out what they differ in.
  const byName = Map.groupBy(group, ({ item }) => item.name);
  const items = [...byName.values()].map(([first]) => first!.item);
  const add = (name: string, result: SeriesRef | string) => {
    for (const { number } of byName.get(name)!) created.set(number, result);
  };
  const problem = await createAll(ctx, items);
  if (problem !== undefined && problem.failure !== "series-exist") {
    for (const { name } of items) add(name, problem.message);
    return;
  }
  const names = items.map(({ name }) => name);
  const found = await resolveSeries(ctx, names, "WRITE");
  const missing: Draft[] = [];
  const { names: taken = [] } = (problem?.details ?? {}) as { readonly names?: readonly string[] };
  const isTaken = new Set(taken);
  for (const [at, name] of names.entries()) {
    const series = found[at];
    if (series) add(name, series);
    else if (isTaken.has(name)) add(name, `the series ${name} exists, and you may not write to it`);
    else missing.push(...byName.get(name)!);
  }
  if (missing.length === group.length)
    for (const { number, item } of missing) created.set(number, `the series ${item.name} was deleted again`);
  else if (missing.length > 0) await createGroup(ctx, missing, created);
}

/** Creates the series; returns the refusal. */
async function createAll(ctx: RequestContext, items: readonly NewTimeSeries[]): Promise<Failure | undefined> {
  try {
    await createTimeSeries(ctx, items);
    return undefined;
  } catch (problem) {
    if (problem instanceof Failure && problem.status < 500) return problem;
    throw problem;
  }
}
