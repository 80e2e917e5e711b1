// Retention rules: how long the points of some series are kept. Without a rule, points are kept for ever.
//
// A rule acts for the project, not for its author: also on series that come under its target later. So a
// caller may write a rule only with the right to delete points of every series that it targets, which for a
// subtree includes series to come.
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
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
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import { type CatalogReader, type CatalogWriter, UniqueViolation } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { refuseUnknownAssets, singleLinks } from "../assets/assets.ts";
import { assetTable } from "../assets/schema.ts";
import { changeValues } from "../common/changes.ts";
import { existingRows } from "../timeseries/rows.ts";
import { timeSeriesTable } from "../timeseries/schema.ts";
import { permittedSeries } from "../timeseries/timeseries.ts";
import { type RetentionRule, type RetentionTarget, retentionTable } from "./schema.ts";
import { targetOf } from "./targets.ts";

export type { RetentionRule, RetentionTarget } from "./schema.ts";

export type NewRetentionRule = RetentionTarget & Pick<RetentionRule, "name" | "keepDays">;

export interface RetentionChange {
  readonly id: number;
  readonly name?: string | undefined;
  readonly keepDays?: number | undefined;
}

/** The rules for series, subtrees and projects that the caller may read. */
function visibleRules(ctx: RequestContext): Filter {
  const scope = permittedRecords(ctx.caller, "timeSeriesAcl", "READ");
  const series = permittedSeries(ctx, "READ");
  const isUnlimited = scope.kind === "everything";
  const isOfSeries = not(equals("seriesId", null));
  return or(
    series.kind === "everything"
      ? isOfSeries
      : and(isOfSeries, related("seriesId", timeSeriesTable.name, series)),
    isUnlimited ? not(equals("assetId", null)) : scope,
    isUnlimited ? equals("wholeProject", true) : nothing,
  );
}

/** The counts of runs. Those of a rule of many series include series that a caller may not read. */
type Counted = "lastSeries" | "lastWaiting" | "lastPoints" | "lastBlocks" | "removedPoints";

/** A rule as a caller sees it. */
export type ShownRule = Omit<RetentionRule, Counted> & { readonly [Name in Counted]?: number };

/** Without counts of a subtree or the project, unless the caller may read all series. */
const shownTo = (ctx: RequestContext) => {
  const isUnlimited = permittedSeries(ctx, "READ").kind === "everything";
  return (rule: RetentionRule): ShownRule => {
    if (isUnlimited || rule.seriesId !== undefined) return rule;
    const { lastSeries, lastWaiting, lastPoints, lastBlocks, removedPoints, ...shown } = rule;
    return shown;
  };
};

/** One page of the rules that the caller may see, by id. */
export async function listRules(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<ShownRule>> {
  const visible = and(visibleRules(ctx), filter);
  const found = await ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, retentionTable, { filter: visible, order: byId, page }),
  );
  return { ...found, items: found.items.map(shownTo(ctx)) };
}

/** Counts the matching rules that the caller may see. */
export const countRules = (ctx: RequestContext, filter: Filter): Promise<number> => {
  const visible = and(visibleRules(ctx), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(retentionTable, visible));
};

/** Refuses (404) an unknown rule. */
export async function getRule(ctx: RequestContext, id: number): Promise<ShownRule> {
  const visible = visibleRules(ctx);
  const named = { ids: [id], field: "retentionRuleId", status: 404 } as const;
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, retentionTable, visible, named),
  );
  return shownTo(ctx)(found!);
}

/**
 * Creates all rules or none, and returns them in the same order. Refuses (400) unknown series and assets,
 * (403) a target with series whose points the caller may not delete, and (409) a target that has a rule.
 */
export async function createRules(
  ctx: RequestContext,
  items: readonly NewRetentionRule[],
): Promise<RetentionRule[]> {
  const nowMs = ctx.system.nowMs();
  const rows = items.map(
    (item): RetentionRule => ({
      ...item,
      ...{ id: ctx.ids.next(), nextTime: nowMs, waitsUntil: nowMs + limits.retentionDelayMs },
      removedPoints: 0,
      ...{ createdTime: nowMs, lastUpdatedTime: nowMs },
    }),
  );
  try {
    return await ctx.catalog.write(ctx.projectId, async (tx) => {
      await refuseUndeletable(ctx, tx, items);
      if ((await tx.count(retentionTable, everything)) + rows.length > limits.retentionRulesMax)
        throw fail("retention-rules-many", { limit: limits.retentionRulesMax });
      await tx.insert(retentionTable, rows);
      await endRuns(tx, nowMs);
      return rows;
    });
  } catch (problem) {
    if (!(problem instanceof UniqueViolation)) throw problem;
    throw fail("retention-rule-exists", {});
  }
}

/**
 * Changes all rules or none, and returns them in the same order. Refuses (400) unknown and repeated ids, and
 * (403) a target with series whose points the caller may not delete.
 */
export async function updateRules(
  ctx: RequestContext,
  changes: readonly RetentionChange[],
): Promise<ShownRule[]> {
  const ids = changes.map(({ id }) => id);
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const before = await writableRules(ctx, tx, ids);
    const nowMs = ctx.system.nowMs();
    const waitsUntil = nowMs + limits.retentionDelayMs;
    const after = before.map((row, i) => {
      const isOther = changes[i]!.keepDays !== undefined && changes[i]!.keepDays !== row.keepDays;
      return changeValues(row, { ...changes[i]!, ...(isOther && { waitsUntil }) }, nowMs);
    });
    await tx.replace(
      retentionTable,
      after.filter((row, i) => row !== before[i]),
    );
    if (after.every((row, i) => row.keepDays === before[i]!.keepDays)) return after.map(shownTo(ctx));
    await endRuns(tx, nowMs);
    return after.map((row) => shownTo(ctx)({ ...row, nextTime: nowMs }));
  });
}

/**
 * Deletes all rules or none: their series come under a less specific rule, or keep their points for ever.
 * Refuses as a change.
 */
export async function deleteRules(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await writableRules(ctx, tx, ids);
    await tx.remove(retentionTable, oneOf("id", ids));
    await endRuns(tx, ctx.system.nowMs());
  });
}

async function writableRules(
  ctx: RequestContext,
  tx: CatalogReader,
  ids: readonly number[],
): Promise<RetentionRule[]> {
  const rules = await existingRecords(tx, retentionTable, visibleRules(ctx), { ids, field: "items" });
  await refuseUndeletable(ctx, tx, rules);
  return rules;
}

/**
 * A change of one rule can change which one counts for a series of another. So all runs end, and all rules
 * are due: the next runs notice the series that wait for a day now.
 */
async function endRuns(tx: CatalogWriter, nextTime: number): Promise<void> {
  const page = { limit: limits.retentionRulesMax };
  const rules = await tx.find(retentionTable, { filter: everything, order: byId, page, fields: ["id"] });
  await tx.setColumns(
    retentionTable,
    ["nextTime", "runToken"],
    rules.map(({ id }) => ({ id, nextTime, runToken: 0 })),
  );
}

/** Refuses targets unless the caller may delete the points of all their series, also of series to come. */
const refuseUndeletable = (ctx: RequestContext, tx: CatalogReader, targets: readonly RetentionTarget[]) =>
  refuseNotWhole(ctx, tx, { targets, action: "WRITE" });

/** As for a rule with this target; the caller must be allowed to read the series too. */
export async function refuseUnpreviewable(
  ctx: RequestContext,
  tx: CatalogReader,
  target: RetentionTarget,
): Promise<void> {
  for (const action of ["WRITE", "READ"] as const)
    await refuseNotWhole(ctx, tx, { targets: [target], action });
}

/**
 * Refuses (400) series and assets that the caller may not see, and (403) targets with series on which the
 * caller may not do `action`.
 */
async function refuseNotWhole(
  ctx: RequestContext,
  tx: CatalogReader,
  { targets, action }: { readonly targets: readonly RetentionTarget[]; readonly action: "READ" | "WRITE" },
): Promise<void> {
  const permitted = permittedSeries(ctx, action);
  const ids = [...new Set(targets.flatMap(({ seriesId }) => seriesId ?? []))];
  await existingRows(tx, permitted, { keys: { ids }, status: 400, fields: ["id", "name"] });
  await refuseUnknownAssets(
    ctx,
    tx,
    "timeSeriesAcl",
    singleLinks(
      targets.map(({ assetId }) => assetId),
      () => "",
    ),
  );
  if (permitted.kind === "everything") return;
  const refusal = fail("outside-scope", { acl: "timeSeriesAcl", action });
  const scope = permittedRecords(ctx.caller, "timeSeriesAcl", action);
  for (const target of targets) {
    const { assetId, wholeProject } = target;
    if (wholeProject && scope.kind !== "everything") throw refusal;
    // A subtree without series may get some.
    const isOutside = assetId !== undefined && (await tx.count(assetTable, within(assetId, scope))) === 0;
    // Security categories can hide series from a caller who may write to the subtree.
    if (isOutside || (await tx.count(timeSeriesTable, and(targetOf(target), not(permitted)))) > 0)
      throw refusal;
  }
}

const within = (assetId: number, scope: Filter): Filter => and(equals("id", assetId), scope);
