// One run: reads the result of the query and writes it in commits. The last commit also ends the run and
// saves the marks of `is_new`.
import type { RequestContext, Services } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { equals } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { SqlMarks } from "../../../sql-runner/sql-runner.ts";
import type { CatalogReader, CatalogWriter, ProjectId } from "../../../storage/catalog.ts";
import { putRows } from "../../raw/rows.ts";
import { type Candidate, noRows, type RowComparison } from "../destinations/destination.ts";
import { openDestination } from "../destinations/destinations.rest.ts";
import {
  type RowError,
  type Transformation,
  type TransformationRun,
  transformationRunTable,
  transformationTable,
} from "../schema.ts";
import { withDelivery } from "../webhooks/delivery.ts";
import { type CommitWork, commitRows, inside, RowsRefused } from "./commits.ts";
import { readResult, reasonOf, requireRights } from "./result.ts";

/** The raw database with a table of refused rows for each transformation, named by its external id. */
const refusalsDatabase = "transformation_refusals";

export interface Execution {
  readonly projectId: ProjectId;
  readonly run: TransformationRun;
  readonly transformation: Transformation;
  readonly signal: AbortSignal;
  /** The context of the owner. */
  readonly contextOf: () => Promise<RequestContext>;
}

/**
 * Runs until the result is written, a row is refused, or the run is cancelled. A stop of the server leaves
 * the record as it is; the next start marks it as failed.
 */
export async function execute(services: Services, execution: Execution): Promise<void> {
  const progress: Progress = { lastRow: 0, isUnsure: false };
  try {
    await writeResult(await execution.contextOf(), execution, progress);
  } catch (problem) {
    if (execution.signal.aborted) return;
    const errors = problem instanceof RowsRefused ? problem.errors : [];
    const reason = errors[0] ? `Row ${errors[0].row} was refused: ${errors[0].reason}` : reasonOf(problem);
    if (reason === undefined) services.transformations.jobs.report(problem);
    const message = reason ?? "A fault of the server; its log has the details";
    await failRun(services, execution, { errors, problem: `${message}. ${keptRows(progress)}` });
  }
}

interface Progress {
  /** Rows up to this one are written. */
  lastRow: number;
  /** Whether datapoints of later rows may be written although the run does not count them. */
  isUnsure: boolean;
}

function keptRows({ lastRow, isUnsure }: Progress): string {
  const rest = `datapoints of the next ${limits.transformationCommitRows} rows may be`;
  if (lastRow === 0) return isUnsure ? `No row is counted as written; ${rest}` : "Nothing was written";
  return `Rows 1 to ${lastRow} are written; ${isUnsure ? rest : "nothing of later rows is"}`;
}

async function writeResult(ctx: RequestContext, execution: Execution, progress: Progress): Promise<void> {
  const { transformation } = execution;
  const { action, onError } = transformation;
  const destination = await openDestination(ctx, transformation);
  requireRights(ctx, destination, onError);
  const requireRunning = () =>
    ctx.catalog.read(ctx.projectId, async (tx) => void (await runningRecord(tx, execution)));
  const work = { destination, action, onError, isPlan: false, requireRunning };
  const commit = async (rows: readonly Candidate[], alongside: CommitWork["alongside"]) => {
    progress.isUnsure = destination.isWrittenBeforeCommit ?? false;
    await commitRows(ctx, { ...work, alongside }, rows).catch((problem: unknown) => {
      if (problem instanceof RowsRefused) progress.isUnsure = false;
      throw problem;
    });
    progress.isUnsure = false;
  };
  const saveAlone = (done: RowComparison, marks?: SqlMarks) =>
    ctx.catalog.write(ctx.projectId, (tx) => save(inside(ctx, tx), tx, execution, { done, marks }));
  let refused: RowError[] = [];
  let repeated = 0;
  const saveOthers = async () => {
    const done = { ...noRows, refused, repeated };
    [refused, repeated] = [[], 0];
    if (done.refused.length + done.repeated > 0) await saveAlone(done);
  };
  const { last, marks } = await readResult(ctx, transformation, destination, {
    onRows: async (rows) => {
      await saveOthers();
      await commit(rows, (inside, tx, done) => save(inside, tx, execution, { done }));
      progress.lastRow = rows.at(-1)!.row;
    },
    onRefused: (errors) => {
      if (onError === "stop") throw new RowsRefused(errors);
      refused.push(...errors);
      if (refused.length > limits.transformationRefusedMax) throw tooManyRefused();
    },
    onRepeated: (count) => {
      repeated += count;
    },
  });
  await saveOthers();
  let isEnded = false;
  await commit(last, async (inside, tx, done, isWhole) => {
    await save(inside, tx, execution, { done, marks: isWhole ? marks : undefined });
    isEnded = isWhole;
  });
  if (!isEnded) await saveAlone(noRows, marks);
}

const tooManyRefused = () => fail("transformation-rows-refused", { limit: limits.transformationRefusedMax });

interface Step {
  readonly done: RowComparison;
  /** Ends the run and saves these marks. */
  readonly marks?: SqlMarks | undefined;
}

/** Adds a commit to the record of the run, in its transaction. Refuses a run that has ended. */
async function save(
  inside: RequestContext,
  tx: CatalogWriter,
  execution: Execution,
  { done, marks }: Step,
): Promise<void> {
  const { run, transformation } = execution;
  const now = await runningRecord(tx, execution);
  const counted = withCounts(now, done);
  if (counted.refused > limits.transformationRefusedMax) throw tooManyRefused();
  await keepRefused(inside, transformation, run, done.refused);
  const status = counted.refused > 0 ? "COMPLETED_WITH_REFUSALS" : "COMPLETED";
  const ended = marks && ({ status, marks, endedTime: inside.system.nowMs() } as const);
  const [current] = marks ? await tx.get(transformationTable, [transformation.id]) : [];
  const nowMs = inside.system.nowMs();
  await tx.replace(transformationRunTable, [withDelivery({ ...counted, ...ended }, current, nowMs)]);
  if (!marks) return;
  if (!current) return;
  await tx.replace(transformationTable, [{ ...current, marks: { ...current.marks, ...marks } }]);
  await startFollowers(tx, current, nowMs);
}

async function runningRecord(tx: CatalogReader, { run }: Execution): Promise<TransformationRun> {
  const [now] = await tx.get(transformationRunTable, [run.id]);
  if (now?.status !== "RUNNING" || now.owner !== run.owner) throw fail("transformation-run-ended", {});
  return now;
}

/** The transformations that run after this one are due now. */
async function startFollowers(
  tx: CatalogWriter,
  { externalId }: Transformation,
  nextTime: number,
): Promise<void> {
  const filter = equals("after", externalId);
  const limit = await tx.count(transformationTable, filter);
  const followers = await tx.find(transformationTable, { filter, order: byId, page: { limit } });
  await tx.replace(
    transformationTable,
    followers.map((row) => ({ ...row, nextTime })),
  );
}

function withCounts(run: TransformationRun, done: RowComparison): TransformationRun {
  const unchanged = done.unchanged.length + done.repeated;
  const written = done.creations.length + done.changes.length + done.deletions.length;
  return {
    ...run,
    read: run.read + written + unchanged + done.refused.length,
    created: run.created + done.creations.length,
    changed: run.changed + done.changes.length,
    unchanged: run.unchanged + unchanged,
    deleted: run.deleted + done.deletions.length,
    refused: run.refused + done.refused.length,
    errors: [...run.errors, ...done.refused].slice(0, limits.transformationErrorsKept),
  };
}

/** Writes skipped rows to the raw table of the transformation, so that no row replaces another one. */
async function keepRefused(
  ctx: RequestContext,
  { externalId }: Transformation,
  { id }: TransformationRun,
  errors: readonly RowError[],
): Promise<void> {
  if (errors.length === 0) return;
  const rows = errors.map((error) => ({
    key: `${id}/${error.row}`,
    columns: JSON.stringify({ run: id, ...error }),
  }));
  await putRows(ctx, { database: refusalsDatabase, table: externalId }, { rows, ensureParent: true });
}

/** Changes nothing if the run has ended meanwhile. */
async function failRun(
  { catalog, system }: Services,
  { projectId, run }: Execution,
  { errors, problem }: { readonly errors: readonly RowError[]; readonly problem: string },
): Promise<void> {
  await catalog.write(projectId, async (tx) => {
    const [now] = await tx.get(transformationRunTable, [run.id]);
    if (now?.status !== "RUNNING" || now.owner !== run.owner) return;
    const counted = withCounts(now, { ...noRows, refused: errors });
    const ended = { status: "FAILED", problem, endedTime: system.nowMs() } as const;
    const [current] = await tx.get(transformationTable, [run.transformationId]);
    const endedRun = withDelivery({ ...counted, ...ended }, current, ended.endedTime);
    await tx.replace(transformationRunTable, [endedRun]);
  });
}
