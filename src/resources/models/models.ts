// Models: named calculations, implemented by versions.
import { requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { equals, everything, oneOf } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import { removeBlobs } from "../files/removals.ts";
import {
  changeDescription,
  changeRecord,
  type DescriptionChange,
  listRecords,
  requireRecord,
} from "./records.ts";
import { deleteSchedulesOf } from "./schedules/schedules.ts";
import { modelTable, type PredictionModel, versionTable } from "./schema.ts";
import { deleteVersionsOf } from "./versions/versions.ts";

export type { PredictionModel } from "./schema.ts";

export type NewModel = Omit<PredictionModel, "id" | "createdTime" | "isDeprecated" | "activeVersionId">;

export interface ModelChange extends DescriptionChange {
  readonly activeVersionId?: number | null | undefined;
}

const named = (id: number) => ({ id, field: "modelId" });

export async function createModel(ctx: RequestContext, item: NewModel): Promise<PredictionModel> {
  requireCapability(ctx.caller, "modelHostingAcl", "WRITE");
  const model: PredictionModel = {
    ...item,
    id: ctx.ids.next(),
    isDeprecated: false,
    createdTime: ctx.system.nowMs(),
  };
  await ctx.catalog.write(ctx.projectId, (tx) => tx.insert(modelTable, [model]));
  return model;
}

/** Returns one page, oldest first. */
export const listModels = (ctx: RequestContext, page: PageQuery): Promise<Page<PredictionModel>> =>
  listRecords(ctx, modelTable, everything, page);

/** Refuses (404) an unknown model. */
export const getModel = (ctx: RequestContext, id: number): Promise<PredictionModel> =>
  ctx.catalog.read(ctx.projectId, (tx) =>
    requireRecord(tx, ctx, { table: modelTable, action: "READ" }, named(id)),
  );

/** Refuses (404) an unknown model, and (400) an active version of another model. */
export const updateModel = (ctx: RequestContext, id: number, change: ModelChange): Promise<PredictionModel> =>
  changeRecord<PredictionModel>(ctx, modelTable, named(id), async (row, tx) => {
    const { activeVersionId } = change;
    const changed = changeDescription(row, change);
    if (activeVersionId === undefined) return changed;
    const { activeVersionId: _, ...rest } = changed;
    if (activeVersionId === null) return rest;
    const [version] = await tx.get(versionTable, [activeVersionId]);
    if (version?.modelId !== id)
      throw fail("ids-unknown", { field: "activeVersionId", ids: [activeVersionId] });
    return { ...rest, activeVersionId };
  });

/**
 * Deletes a model with its versions, their artifacts and logs, and its schedules; stops running work.
 */
export async function deleteModel(ctx: RequestContext, id: number): Promise<void> {
  const { blobs, running } = await ctx.catalog.write(ctx.projectId, async (tx) => {
    await requireRecord(tx, ctx, { table: modelTable, action: "WRITE" }, named(id));
    const filter = equals("modelId", id);
    const limit = await tx.count(versionTable, filter);
    const versions = await tx.find(versionTable, { filter, order: byId, page: { limit } });
    const versionIds = versions.map((version) => version.id);
    await tx.remove(modelTable, oneOf("id", [id]));
    const scheduleIds = await deleteSchedulesOf(tx, id);
    return { blobs: await deleteVersionsOf(tx, versionIds), running: [...versionIds, ...scheduleIds] };
  });
  await Promise.all(running.map((one) => ctx.models.jobs.cancel(one)));
  await removeBlobs(ctx, ctx.projectId, blobs);
}
