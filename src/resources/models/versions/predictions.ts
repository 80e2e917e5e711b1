// Predictions on request, by a version or by the active version of a model, and the logs of runs.
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import type { ModelOutcome, Prediction } from "../../../model-runner/model-runner.ts";
import { equals } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import { requireRecord } from "../records.ts";
import { type Log, type LogOperation, logTable, modelTable, type Version } from "../schema.ts";
import { keyFor, loadable, recordLog } from "./execution.ts";
import { requireState, requireVersion, type VersionKey } from "./rows.ts";

export type PredictionInput = Pick<Prediction, "instances" | "args" | "data" | "files">;

/**
 * The active version of a model. Refuses (404) an unknown model, and (400) one without an active version.
 */
export function activeVersion(ctx: RequestContext, modelId: number): Promise<Version> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const wanted = { table: modelTable, action: "READ" } as const;
    const { activeVersionId, name } = await requireRecord(tx, ctx, wanted, { id: modelId, field: "modelId" });
    if (activeVersionId === undefined) throw fail("model-without-version", { name });
    return requireVersion(tx, ctx, { modelId, id: activeVersionId }, "READ");
  });
}

/**
 * Runs the code of a version on each instance; returns the predictions, or why it failed. Refuses (409) a
 * version that is not ready.
 */
export async function predict(
  ctx: RequestContext,
  version: Version,
  wanted: PredictionInput,
): Promise<ModelOutcome> {
  requireState(version, ["READY"]);
  const given = await loadable(ctx, ctx.projectId, version);
  const lendKey = () => keyFor(ctx, ctx.caller, version);
  const common = { ...given, ...wanted, project: ctx.caller.projectUrlName, lendKey };
  const outcome = await ctx.models.runner.run({ ...common, operation: "predict" }, ctx.signal);
  await recordLog(ctx, ctx.projectId, version.id, { operation: "predict", lines: outcome.log });
  return outcome;
}

/** The lines of all stored runs, oldest first, and of the job that this server runs. */
export function readLogs(ctx: RequestContext, key: VersionKey): Promise<Record<LogOperation, string[]>> {
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { status } = await requireVersion(tx, ctx, key, "READ");
    const running = status === "TRAINING" ? "train" : "predict";
    const live = ctx.models.liveLogs.get(key.id)?.() ?? [];
    const filter = equals("versionId", key.id);
    const limit = await tx.count(logTable, filter);
    const logs: Log[] = await tx.find(logTable, { filter, order: byId, page: { limit } });
    const linesOf = (wanted: LogOperation) => [
      ...logs.filter(({ operation }) => operation === wanted).flatMap(({ lines }) => lines),
      ...(wanted === running ? live : []),
    ];
    return { train: linesOf("train"), predict: linesOf("predict") };
  });
}
