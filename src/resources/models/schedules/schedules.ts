// Schedules: models predict for consecutive windows and write time series.
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { equals, everything, oneOf } from "../../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../../query/page.ts";
import type { CatalogWriter } from "../../../storage/catalog.ts";
import { readPage } from "../../../storage/read-page.ts";
import { refuseStrings } from "../../datapoints/datapoints.ts";
import { getFiles } from "../../files/files.ts";
import type { StoredFile } from "../../files/schema.ts";
import { resolveSeries } from "../../timeseries/timeseries.ts";
import { changeDescription, changeRecord, listRecords, requireRecord } from "../records.ts";
import { modelTable } from "../schema.ts";
import { type Schedule, type ScheduleRun, scheduleRunTable, scheduleTable } from "./schema.ts";
import type { ScheduleSpec } from "./spec.ts";

export type { Schedule, ScheduleRun } from "./schema.ts";

export type NewSchedule = Pick<
  Schedule,
  "name" | "description" | "metadata" | "modelId" | "args" | "sent" | "spec"
>;

const named = (id: number) => ({ id, field: "scheduleId" });

/**
 * Creates a schedule, which runs with the current rights of the caller's account. Its first window ends at
 * `nextEnd`. Refuses (400) callers without an account, and models, series and files that they may not use.
 */
export async function createSchedule(
  ctx: RequestContext,
  item: NewSchedule,
  nextEnd = item.spec.startMs,
): Promise<Schedule> {
  requireCapability(ctx.caller, "modelHostingAcl", "WRITE");
  const { userId: accountId } = ctx.caller;
  if (accountId === undefined) throw fail("model-account-needed", {});
  await refuseUnknownData(ctx, item.spec);
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const [model] = await tx.get(modelTable, [item.modelId]);
    if (!model) throw fail("ids-unknown", { field: "modelId", ids: [item.modelId] });
    const own = { id: ctx.ids.next(), isDeprecated: false, createdTime: ctx.system.nowMs() };
    const schedule: Schedule = { ...item, ...own, accountId, nextEnd };
    await tx.insert(scheduleTable, [schedule]);
    return schedule;
  });
}

/**
 * Refuses (400) series and files that the caller may not use as the schedule does, and aggregates of series
 * of strings, which would fail in each window.
 */
export async function refuseUnknownData(ctx: RequestContext, spec: ScheduleSpec): Promise<void> {
  const framed = spec.frames.flatMap(({ series }) => series);
  const read = [...spec.series, ...framed].map(({ id }) => id);
  const written = spec.outputs.map(({ id }) => id);
  const found = [
    ...(read.length > 0 ? await resolveSeries(ctx, read, "READ") : []),
    ...(await resolveSeries(ctx, written, "WRITE")),
  ];
  const keys = [...read, ...written].filter((_, index) => found[index] === undefined);
  if (keys.length > 0) throw fail("series-unknown", { keys: [...new Set(keys)], status: 400 });
  const aggregated = [...spec.series.filter(({ aggregate }) => aggregate !== undefined), ...framed];
  const ids = new Set(aggregated.map(({ id }) => id));
  for (const one of found) if (ids.has(one!.id)) refuseStrings(one!);
  await filesOf(ctx, spec);
}

/** The files that a schedule reads, without duplicates. If there are none, no right to files is needed. */
export async function filesOf(ctx: RequestContext, { files }: ScheduleSpec): Promise<StoredFile[]> {
  const ids = [...new Set(files.map(({ id }) => id))];
  if (ids.length === 0) return [];
  return (await Array.fromAsync(getFiles(ctx, ids))).flat();
}

/** Returns one page, oldest first. */
export const listSchedules = (ctx: RequestContext, page: PageQuery): Promise<Page<Schedule>> =>
  listRecords(ctx, scheduleTable, everything, page);

/** Refuses (404) an unknown schedule. */
export const getSchedule = (ctx: RequestContext, id: number): Promise<Schedule> =>
  ctx.catalog.read(ctx.projectId, (tx) =>
    requireRecord(tx, ctx, { table: scheduleTable, action: "READ" }, named(id)),
  );

/** Stops further windows. Refuses (404) an unknown schedule. */
export const deprecateSchedule = (ctx: RequestContext, id: number): Promise<Schedule> =>
  changeRecord(ctx, scheduleTable, named(id), (row) => changeDescription(row, { isDeprecated: true }));

/** Deletes a schedule with its runs, and stops a running one. */
export async function deleteSchedule(ctx: RequestContext, id: number): Promise<void> {
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await requireRecord(tx, ctx, { table: scheduleTable, action: "WRITE" }, named(id));
    await deleteRows(tx, [id]);
  });
  await ctx.models.jobs.cancel(id);
}

/** Deletes the schedules of a model with their runs; returns the ids. */
export async function deleteSchedulesOf(tx: CatalogWriter, modelId: number): Promise<number[]> {
  const filter = equals("modelId", modelId);
  const limit = await tx.count(scheduleTable, filter);
  const ids = (await tx.find(scheduleTable, { filter, order: byId, page: { limit } })).map(({ id }) => id);
  await deleteRows(tx, ids);
  return ids;
}

async function deleteRows(tx: CatalogWriter, ids: readonly number[]): Promise<void> {
  await tx.remove(scheduleTable, oneOf("id", ids));
  await tx.remove(scheduleRunTable, oneOf("scheduleId", ids));
}

/** Returns one page of the runs of a schedule, latest first. Refuses (404) an unknown schedule. */
export function listRuns(ctx: RequestContext, id: number, page: PageQuery): Promise<Page<ScheduleRun>> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    await requireRecord(tx, ctx, { table: scheduleTable, action: "READ" }, named(id));
    const order = [{ field: "id", direction: "descending" }] as const;
    return readPage(tx, scheduleRunTable, { filter: equals("scheduleId", id), order, page });
  });
}
