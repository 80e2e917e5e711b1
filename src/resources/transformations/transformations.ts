// Transformations: saved SQL queries whose rows become records of another resource.
//
// A run has the current rights of the account that saved the transformation last.
import { isDeepStrictEqual } from "node:util";
import { hasCapability, permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { and, equals, type Filter, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { changeValues } from "../common/changes.ts";
import { refuseTakenExternalIds } from "../common/external-ids.ts";
import { actionsOf } from "./destinations/destinations.rest.ts";
import { refuseCycles, refuseUnknownBefore, scheduleColumns } from "./schedules/schedule.ts";
import {
  type LastRun,
  type Timing,
  type Transformation,
  type TransformationInput,
  transformationRunTable,
  transformationTable,
} from "./schema.ts";
import { type WebhookInput, webhookRecord } from "./webhooks/webhook.ts";

export type { Transformation, TransformationInput, TransformationRun } from "./schema.ts";

export interface TransformationWithRun extends Transformation {
  readonly lastRun?: LastRun;
}

/** Values to set; an absent member leaves its value. */
export type TransformationChange = { readonly id: number } & {
  readonly [Name in keyof Omit<TransformationInput, "schedule" | "webhook">]?:
    | TransformationInput[Name]
    | undefined;
} & {
  /** Null ends the schedule. */
  readonly schedule?: Timing | null | undefined;
  /** Null removes it. */
  readonly webhook?: WebhookInput | null | undefined;
};

const recordType = { table: transformationTable, noun: "transformation" };

export const permittedFor = (ctx: RequestContext, action: Action): Filter =>
  permittedRecords(ctx.caller, "transformationsAcl", action);

/** The account whose rights the runs have. Refuses (400) a caller without an account. */
function ownerOf({ caller: { user, userId } }: RequestContext) {
  if (userId === undefined) throw fail("transformation-account-needed", {});
  return { owner: user, ownerId: userId };
}

/**
 * Creates all transformations or none; the caller's account is their owner. Refuses (409) external ids that
 * repeat or belong to another transformation.
 */
export async function createTransformations(
  ctx: RequestContext,
  items: readonly TransformationInput[],
): Promise<Transformation[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const owner = ownerOf(ctx);
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const nowMs = ctx.system.nowMs();
    const times = { createdTime: nowMs, lastUpdatedTime: nowMs };
    const rows = await mapInSlices(items, ({ webhook, ...item }, at): Transformation => {
      const id = ctx.ids.next();
      return {
        ...item,
        ...scheduleColumns(item.schedule, nowMs),
        ...(webhook && { webhook: webhookRecord(ctx, webhook, { id, field: `items[${at}].webhook` }) }),
        ...{ id, ...owner, marks: {}, ...times },
      };
    });
    refuseOtherActions(rows);
    await refuseTakenExternalIds(tx, recordType, rows);
    await tx.insert(transformationTable, rows);
    await refuseUnknownBefore(tx, rows, []);
    await refuseCycles(tx, rows);
    await refuseNotPermitted(tx, transformationTable, permitted, { acl: "transformationsAcl", rows });
    return rows;
  });
}

/** Refuses (400) an action that the destination does not have. */
function refuseOtherActions(rows: readonly Transformation[]): void {
  for (const [index, { action, destination }] of rows.entries()) {
    const known = actionsOf(destination.type);
    if (known.includes(action)) continue;
    const field = `items[${index}].action`;
    const expected = `${known.join(", ")} for ${destination.type}`;
    throw fail("field-invalid", { field, expected, got: JSON.stringify(action) });
  }
}

/** Returns one page of the transformations, by id. */
export async function listTransformations(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<TransformationWithRun>> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const found = await readPage(tx, transformationTable, { filter: visible, order: byId, page });
    return { ...found, items: await withLastRuns(tx, ctx, found.items) };
  });
}

const lastRunFields: readonly (keyof LastRun)[] = [
  ...(["id", "status", "startedBy", "startedTime", "endedTime", "problem"] as const),
  ...(["read", "created", "changed", "unchanged", "deleted", "refused"] as const),
];

/**
 * Adds the last run of each, without its refused rows: these can be long. A caller that may write but not
 * read gets none, as the reason of a failed run quotes rows.
 */
export async function withLastRuns(
  tx: CatalogReader,
  { caller }: RequestContext,
  rows: readonly Transformation[],
): Promise<TransformationWithRun[]> {
  const ids = rows.flatMap(({ lastRunId }) => lastRunId ?? []);
  if (ids.length === 0 || !hasCapability(caller, "transformationsAcl", "READ")) return [...rows];
  const page = { limit: ids.length };
  const question = { filter: oneOf("id", ids), order: byId, page, fields: lastRunFields };
  const runs: readonly LastRun[] = await tx.find(transformationRunTable, question);
  const byRunId = new Map(runs.map((run) => [run.id, run]));
  return rows.map((row) => {
    const lastRun = row.lastRunId === undefined ? undefined : byRunId.get(row.lastRunId);
    return lastRun ? { ...row, lastRun } : row;
  });
}

/** Counts the matching transformations. */
export async function countTransformations(ctx: RequestContext, filter: Filter): Promise<number> {
  const visible = and(permittedFor(ctx, "READ"), filter);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(transformationTable, visible));
}

/** Refuses (404) an unknown transformation. */
export const getTransformation = (ctx: RequestContext, id: number): Promise<TransformationWithRun> =>
  ctx.catalog.read(ctx.projectId, async (tx) => {
    const [found] = await withLastRuns(tx, ctx, [await requireTransformation(tx, ctx, id, "READ")]);
    return found!;
  });

export async function requireTransformation(
  tx: CatalogReader,
  ctx: RequestContext,
  id: number,
  action: Action,
): Promise<Transformation> {
  const named = { ids: [id], field: "transformationId", status: 404 } as const;
  const [found] = await existingRecords(tx, transformationTable, permittedFor(ctx, action), named);
  return found!;
}

/**
 * Changes all transformations or none; the caller's account becomes their owner, so that no caller can
 * run a query with the rights of another account.
 */
export async function updateTransformations(
  ctx: RequestContext,
  changes: readonly TransformationChange[],
): Promise<TransformationWithRun[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const owner = ownerOf(ctx);
  const named = { ids: changes.map(({ id }) => id), field: "items" };
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const before = await existingRecords(tx, transformationTable, permitted, named);
    const nowMs = ctx.system.nowMs();
    const after = await mapInSlices(before, (row, index) => {
      const change = changes[index]!;
      const { schedule, webhook } = change;
      const none = { after: null, nextTime: null };
      // A schedule that stays keeps the time of its next run.
      const stays = schedule === undefined || isDeepStrictEqual(schedule, row.schedule ?? null);
      const timing = stays ? {} : { ...none, ...scheduleColumns(schedule ?? undefined, nowMs) };
      const place = { id: row.id, field: `items[${index}].webhook.set` };
      const webhookRow = webhook && webhookRecord(ctx, webhook, place);
      return changeValues(row, { ...change, ...timing, webhook: webhookRow, ...owner }, nowMs);
    });
    refuseOtherActions(after);
    await refuseTakenExternalIds(tx, recordType, after);
    await tx.replace(transformationTable, after);
    const names = new Set(after.map(({ externalId }) => externalId));
    const lost = before.map(({ externalId }) => externalId).filter((name) => !names.has(name));
    await refuseUnknownBefore(tx, after, lost);
    await refuseCycles(tx, after);
    return withLastRuns(tx, ctx, after);
  });
}

/**
 * Deletes all transformations with their runs, or none, and cancels runs that have not ended. Refuses (400)
 * unknown and repeated ids, and one after which another runs.
 */
export async function deleteTransformations(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  await cancelRuns(ctx, await removeTransformations(ctx, ids));
}

/** Cancels runs of deleted transformations, and waits for their end. */
export async function cancelRuns(ctx: RequestContext, runIds: readonly number[]): Promise<void> {
  await Promise.all(runIds.map((id) => ctx.transformations.jobs.cancel(id)));
}

/** As `deleteTransformations`; returns the runs that are left to cancel when the deletion is committed. */
export async function removeTransformations(ctx: RequestContext, ids: readonly number[]): Promise<number[]> {
  const permitted = permittedFor(ctx, "WRITE");
  const running = await ctx.catalog.write(ctx.projectId, async (tx) => {
    const named = { ids, field: "items" };
    const gone = await existingRecords(tx, transformationTable, permitted, named);
    const filter = and(oneOf("transformationId", ids), equals("status", "RUNNING"));
    const page = { limit: ids.length };
    const running = await tx.find(transformationRunTable, { filter, order: byId, page });
    await tx.remove(transformationTable, oneOf("id", ids));
    const lost = gone.map(({ externalId }) => externalId);
    await refuseUnknownBefore(tx, [], lost);
    await tx.remove(transformationRunTable, oneOf("transformationId", ids));
    return running;
  });
  return running.map(({ id }) => id);
}
