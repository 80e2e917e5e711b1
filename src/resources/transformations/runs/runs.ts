// Runs of transformations: started, listed and cancelled. At most one run of a transformation at a time,
// whatever the number of servers.

import type { KeyProject } from "../../../access/api-keys.ts";
import type { Action } from "../../../access/capabilities.ts";
import type { RequestContext, Services } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { and, equals, type Filter, not, oneOf } from "../../../query/filter.ts";
import { byId, type OrderBy, type Page, type PageQuery } from "../../../query/page.ts";
import { unboundedMemory } from "../../../query/read-within.ts";
import type { CatalogReader, CatalogWriter } from "../../../storage/catalog.ts";
import { existingRecords } from "../../../storage/existing-records.ts";
import { readPage } from "../../../storage/read-page.ts";
import {
  type Transformation,
  type TransformationRun,
  transformationRunTable,
  transformationTable,
} from "../schema.ts";
import {
  permittedFor,
  requireTransformation,
  type TransformationWithRun,
  withLastRuns,
} from "../transformations.ts";
import { withDelivery } from "../webhooks/delivery.ts";
import { execute } from "./execution.ts";

/**
 * Starts a run with the rights of the transformation's owner, and returns its record. Refuses (409) a
 * transformation that is running.
 */
export async function startRun(ctx: RequestContext, id: number): Promise<TransformationRun> {
  const permitted = permittedFor(ctx, "WRITE");
  const { run, start } = await ctx.catalog.write(ctx.projectId, async (tx) => {
    const named = { ids: [id], field: "transformationId", status: 404 } as const;
    const [found] = await existingRecords(tx, transformationTable, permitted, named);
    const transformation = found!;
    await refuseRunning(tx, transformation);
    const start = await startIn(tx, ctx, transformation, ctx.caller.user);
    return { run: start.run, start };
  });
  const { caller, projectId } = ctx;
  start({ id: projectId, urlName: caller.projectUrlName });
  return run;
}

/** Inserts the record of a run; the returned function starts it, once the transaction is committed. */
export async function startIn(
  tx: CatalogWriter,
  services: Services,
  transformation: Transformation,
  startedBy: string,
) {
  const run = newRun(services, transformation, startedBy);
  await tx.insert(transformationRunTable, [run]);
  await tx.setColumns(transformationTable, ["lastRunId"], [{ id: transformation.id, lastRunId: run.id }]);
  await dropOldest(tx, transformation.id);
  return Object.assign((project: KeyProject) => work(services, project, { run, transformation }), { run });
}

interface Started {
  readonly run: TransformationRun;
  readonly transformation: Transformation;
}

function work(services: Services, project: KeyProject, { run, transformation }: Started): void {
  const isOwned = async () => {
    const [found] = await services.catalog.read(project.id, (tx) => tx.get(transformationRunTable, [run.id]));
    return found?.status === "RUNNING";
  };
  services.transformations.jobs.start(run.id, (signal) =>
    services.lease.own({
      ...{ signal, isOwned },
      run: (signal) =>
        execute(services, {
          ...{ projectId: project.id, run, transformation, signal },
          contextOf: () => ownerContext(services, { project, transformation, signal }),
        }),
    }),
  );
}

/** The context of the owner with its current rights. Refuses a deleted account. */
async function ownerContext(
  services: Services,
  of: { readonly project: KeyProject; readonly transformation: Transformation; readonly signal: AbortSignal },
): Promise<RequestContext> {
  const { id: projectId, urlName } = of.project;
  const caller = await services.keys.callerAs(of.transformation.ownerId, {
    projectId,
    projectUrlName: urlName,
  });
  if (!caller) throw fail("transformation-account-gone", {});
  return { ...services, caller, projectId, signal: of.signal, memory: unboundedMemory };
}

function newRun(ctx: Services, { id }: Transformation, startedBy: string): TransformationRun {
  return {
    ...{ id: ctx.ids.next(), transformationId: id, status: "RUNNING", startedBy },
    ...{ read: 0, created: 0, changed: 0, unchanged: 0, deleted: 0, refused: 0, errors: [] },
    ...{ startedTime: ctx.system.nowMs(), owner: ctx.lease.owner },
  };
}

export const isRunning = async (tx: CatalogReader, id: number): Promise<boolean> =>
  (await tx.count(transformationRunTable, and(equals("transformationId", id), equals("status", "RUNNING")))) >
  0;

async function refuseRunning(tx: CatalogReader, { id, externalId }: Transformation): Promise<void> {
  const filter = and(equals("transformationId", id), equals("status", "RUNNING"));
  const [running] = await tx.find(transformationRunTable, { filter, order: byId, page: { limit: 1 } });
  if (running) throw fail("transformation-running", { externalId, runId: running.id });
}

/** A run with a message to send stays until that is sent or given up. */
async function dropOldest(tx: CatalogWriter, transformationId: number): Promise<void> {
  const all = equals("transformationId", transformationId);
  const limit = (await tx.count(transformationRunTable, all)) - limits.transformationRunsKept;
  if (limit <= 0) return;
  const filter = and(all, equals("deliveryTime", null), not(equals("status", "RUNNING")));
  const oldest = await tx.find(transformationRunTable, { filter, order: byId, page: { limit } });
  await tx.remove(
    transformationRunTable,
    oneOf(
      "id",
      oldest.map(({ id }) => id),
    ),
  );
}

const newestFirst: readonly OrderBy[] = [{ field: "id", direction: "descending" }];

/** Returns one page of the runs of a transformation, the newest first. */
export const listRuns = (
  ctx: RequestContext,
  id: number,
  page: PageQuery,
): Promise<Page<TransformationRun>> =>
  ctx.catalog.read(ctx.projectId, async (tx) => {
    await requireTransformation(tx, ctx, id, "READ");
    const filter = equals("transformationId", id);
    return readPage(tx, transformationRunTable, { filter, order: newestFirst, page });
  });

/** A run of a transformation. */
export interface RunName {
  readonly transformationId: number;
  readonly runId: number;
}

/** Refuses (404) an unknown run. */
export const getRun = (ctx: RequestContext, name: RunName): Promise<TransformationRun> =>
  ctx.catalog.read(ctx.projectId, (tx) => requireRun(tx, ctx, name, "READ"));

async function requireRun(
  tx: CatalogReader,
  ctx: RequestContext,
  { transformationId, runId }: RunName,
  action: Action,
): Promise<TransformationRun> {
  await requireTransformation(tx, ctx, transformationId, action);
  const named = { ids: [runId], field: "runId", status: 404 } as const;
  const filter = equals("transformationId", transformationId);
  const [found] = await existingRecords(tx, transformationRunTable, filter, named);
  return found!;
}

/** Resolves when the run has ended here. A run that had ended before stays as it is. */
export async function cancelRun(ctx: RequestContext, name: RunName): Promise<TransformationRun> {
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const run = await requireRun(tx, ctx, name, "WRITE");
    if (run.status !== "RUNNING") return;
    const ended = { status: "CANCELLED", endedTime: ctx.system.nowMs() } as const;
    await tx.replace(transformationRunTable, [{ ...run, ...ended }]);
  });
  await ctx.transformations.jobs.cancel(name.runId);
  return getRun(ctx, name);
}

/**
 * Forgets a mark of `is_new`, or all, so that the next run has all rows again. Refuses (409) while it runs.
 */
export const resetMarks = (ctx: RequestContext, id: number, mark?: string): Promise<TransformationWithRun> =>
  ctx.catalog.write(ctx.projectId, async (tx) => {
    const transformation = await requireTransformation(tx, ctx, id, "WRITE");
    await refuseRunning(tx, transformation);
    const kept = Object.entries(transformation.marks).filter(([name]) => mark !== undefined && name !== mark);
    const changed = { ...transformation, marks: Object.fromEntries(kept) };
    await tx.replace(transformationTable, [changed]);
    return (await withLastRuns(tx, ctx, [changed]))[0]!;
  });

/** Marks the runs of servers that have ended as failed. */
export const failAbandonedTransformations = (
  services: Services,
  project: KeyProject,
  abandoned: Filter,
): Promise<void> =>
  failRuns(services, project, {
    which: abandoned,
    problem: "The server stopped while this ran; the counts are of the rows that are written",
  });

/**
 * Marks runs as failed whose records name no work: the catalog has refused the write that ends a run, or it
 * was away when runs of ended servers were taken over. Returns the runs that now have no work. A run fails if
 * it had none at the call before either, as a run that starts has its record first.
 */
export async function failLostRuns(
  services: Services,
  project: KeyProject,
  before: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const { catalog, lease, transformations } = services;
  const isRecorded = equals("status", "RUNNING");
  const find = (filter: Filter) =>
    catalog.read(project.id, async (tx) => {
      const page = { limit: await tx.count(transformationRunTable, filter) };
      return tx.find(transformationRunTable, { filter, order: byId, page, fields: ["id", "owner"] });
    });
  const recorded = (await find(isRecorded)).filter(
    ({ id }) => transformations.jobs.progressOf(id) === undefined,
  );
  const own = recorded.filter(({ owner }) => owner === lease.owner);
  const others = recorded.length > own.length ? await find(and(isRecorded, await lease.abandoned())) : [];
  const lost = new Set([...own, ...others].map(({ id }) => id));
  const ids = [...lost.intersection(before)];
  if (ids.length > 0)
    await failRuns(services, project, {
      which: oneOf("id", ids),
      problem: "The server could not save the end of this run; the counts are of the rows that are written",
    });
  return lost;
}

interface FailedRuns {
  readonly which: Filter;
  readonly problem: string;
}

async function failRuns(
  { catalog, system }: Services,
  project: KeyProject,
  { which, problem }: FailedRuns,
): Promise<void> {
  const filter = and(which, equals("status", "RUNNING"));
  await catalog.write(project.id, async (tx) => {
    const limit = await tx.count(transformationRunTable, filter);
    const rows = await tx.find(transformationRunTable, { filter, order: byId, page: { limit } });
    const endedTime = system.nowMs();
    const outcome = { status: "FAILED", problem, endedTime } as const;
    const ids = [...new Set(rows.map(({ transformationId }) => transformationId))];
    const found = new Map((await tx.get(transformationTable, ids)).map((one) => [one.id, one]));
    const failed = rows.map((row) => ({ ...row, ...outcome }));
    await tx.replace(
      transformationRunTable,
      failed.map((row) => withDelivery(row, found.get(row.transformationId), endedTime)),
    );
  });
}
