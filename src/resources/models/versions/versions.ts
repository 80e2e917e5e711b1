// Versions of models: the code of a source package with artifacts.
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { equals, oneOf } from "../../../query/filter.ts";
import type { Page, PageQuery } from "../../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../../storage/catalog.ts";
import { cancelUploadsTo } from "../../files/attachments/attachments.ts";
import { removeBlobs } from "../../files/removals.ts";
import {
  changeDescription,
  changeRecord,
  type DescriptionChange,
  listRecords,
  requireRecord,
} from "../records.ts";
import {
  logTable,
  modelTable,
  type PredictionModel,
  type SourcePackage,
  sourcePackageTable,
  type TrainingDetails,
  type Version,
  versionTable,
} from "../schema.ts";
import { codeOf } from "../source-packages/source-packages.ts";
import { startJob } from "./jobs.ts";
import {
  artifactsOf,
  deleteArtifactsOf,
  requireState,
  requireVersion,
  type VersionKey,
  versionNamed,
} from "./rows.ts";

export type { Version } from "../schema.ts";

export type NewVersion = Pick<Version, "name" | "description" | "metadata" | "sourcePackageId">;

/** Creates a version that waits for deployment; its artifacts, if any, are uploaded. */
export const createVersion = (ctx: RequestContext, modelId: number, item: NewVersion): Promise<Version> =>
  create(ctx, modelId, { ...item, status: "AWAITING_MANUAL_DEPLOYMENT" });

/**
 * Creates a version that is trained and then deployed in the background. Refuses (400) a package without an
 * archive, or without the operation to train.
 */
export async function trainVersion(
  ctx: RequestContext,
  modelId: number,
  { training, ...item }: NewVersion & { readonly training: TrainingDetails },
): Promise<Version> {
  const version = await create(ctx, modelId, { ...item, training, status: "TRAINING", ...jobOf(ctx) });
  startJob(ctx, { id: ctx.projectId, urlName: ctx.caller.projectUrlName }, version.id);
  return version;
}

const jobOf = ({ lease, caller: { userId } }: RequestContext): Pick<Version, "jobAccountId" | "owner"> => ({
  owner: lease.owner,
  ...(userId !== undefined && { jobAccountId: userId }),
});

async function create(
  ctx: RequestContext,
  modelId: number,
  item: Pick<Version, "status" | "training" | "jobAccountId" | "owner"> & NewVersion,
): Promise<Version> {
  requireCapability(ctx.caller, "modelHostingAcl", "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const model = { table: modelTable, action: "WRITE" } as const;
    await requireRecord(tx, ctx, model, { id: modelId, field: "modelId" });
    const source = await sourceFor(tx, item);
    const version: Version = {
      ...item,
      ...{ id: ctx.ids.next(), modelId, isDeprecated: false, createdTime: ctx.system.nowMs() },
      authors: [...new Set([source.accountId ?? 0, ctx.caller.userId ?? 0])],
    };
    await tx.insert(versionTable, [version]);
    return version;
  });
}

async function sourceFor(
  tx: CatalogReader,
  { sourcePackageId, training }: Pick<Version, "sourcePackageId" | "training">,
): Promise<SourcePackage> {
  const [source] = await tx.get(sourcePackageTable, [sourcePackageId]);
  if (!source) throw fail("ids-unknown", { field: "sourcePackageId", ids: [sourcePackageId] });
  if (!training) return source;
  if (!source.availableOperations.includes("TRAIN"))
    throw fail("source-without-operation", { name: source.name, operation: "TRAIN" });
  await codeOf(tx, source);
  return source;
}

/** Checks in the background that the code loads its artifacts. Refuses (409) other states. */
export async function deployVersion(ctx: RequestContext, key: VersionKey): Promise<Version> {
  let blobs: number[] = [];
  const version = await changeRecord<Version>(ctx, versionTable, versionNamed(key), async (row, tx) => {
    requireState(row, ["AWAITING_MANUAL_DEPLOYMENT", "FAILED"]);
    await codeOf(tx, await sourceFor(tx, { sourcePackageId: row.sourcePackageId }));
    blobs = await cancelUploadsTo(
      tx,
      (await artifactsOf(tx, [key.id])).map(({ id }) => id),
    );
    const { problem: _, jobStartedTime: __, jobAccountId: ___, ...rest } = row;
    return { ...rest, status: "DEPLOYING", ...jobOf(ctx) };
  });
  await removeBlobs(ctx, ctx.projectId, blobs);
  startJob(ctx, { id: ctx.projectId, urlName: ctx.caller.projectUrlName }, version.id);
  return version;
}

/** Returns one page of the versions of a model, oldest first. Refuses (404) an unknown model. */
export async function listVersions(
  ctx: RequestContext,
  modelId: number,
  page: PageQuery,
): Promise<Page<Version>> {
  await ctx.catalog.read(ctx.projectId, (tx) =>
    requireRecord(tx, ctx, { table: modelTable, action: "READ" }, { id: modelId, field: "modelId" }),
  );
  return listRecords(ctx, versionTable, equals("modelId", modelId), page);
}

/** Refuses (404) a version that the model does not have. */
export const getVersion = (ctx: RequestContext, key: VersionKey): Promise<Version> =>
  ctx.catalog.read(ctx.projectId, (tx) => requireVersion(tx, ctx, key, "READ"));

/** Refuses (404) a version that the model does not have. */
export const updateVersion = (
  ctx: RequestContext,
  key: VersionKey,
  change: DescriptionChange,
): Promise<Version> =>
  changeRecord(ctx, versionTable, versionNamed(key), (row) => changeDescription(row, change));

/**
 * Deletes a version with its artifacts and logs, and stops its running work. If it was active, the model has
 * no active version.
 */
export async function deleteVersion(ctx: RequestContext, key: VersionKey): Promise<void> {
  const blobs = await ctx.catalog.write(ctx.projectId, async (tx) => {
    await requireVersion(tx, ctx, key, "WRITE");
    const [model] = await tx.get(modelTable, [key.modelId]);
    const { activeVersionId, ...without } = model!;
    if (activeVersionId === key.id) await tx.replace<PredictionModel>(modelTable, [without]);
    return deleteVersionsOf(tx, [key.id]);
  });
  await ctx.models.jobs.cancel(key.id);
  await removeBlobs(ctx, ctx.projectId, blobs);
}

/** Deletes versions with their artifacts and logs. Returns the blobs to remove after the transaction. */
export async function deleteVersionsOf(tx: CatalogWriter, ids: readonly number[]): Promise<number[]> {
  const blobs = await deleteArtifactsOf(tx, ids);
  await tx.remove(logTable, oneOf("versionId", ids));
  await tx.remove(versionTable, oneOf("id", ids));
  return blobs;
}
