// Trainings and deployments: background jobs, whose state is the status of their version.
//
// When the server of a job has ended, another one, or the next start, runs the job if it was still waiting. A
// job that was running has failed, as it is unknown how far it got; it can be deployed again.

import type { ApiKeys, KeyProject } from "../../../access/api-keys.ts";
import { type Caller, requireCapability } from "../../../access/caller.ts";
import type { Services } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import type { ModelTask, RunFile } from "../../../model-runner/model-runner.ts";
import { and, type Filter, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../../storage/catalog.ts";
import { storeAttachment } from "../../files/attachments/attachments.ts";
import { removeBlobs } from "../../files/removals.ts";
import { artifactTable, type Version, versionTable } from "../schema.ts";
import { fileNameOf } from "./artifacts.ts";
import { keyFor, loadable, recordLog } from "./execution.ts";
import { deleteArtifactsOf } from "./rows.ts";

/** Starts the job for the status of a version; returns at once. */
export function startJob(services: Services, project: KeyProject, versionId: number): void {
  const { jobs, report } = services.models;
  const job = { services, project, versionId, owner: services.lease.owner };
  const isOwned = async () => (await read(job)) !== undefined;
  const run = (signal: AbortSignal) =>
    runJob({ ...job, signal }).catch((problem) => unlessAborted(signal, problem));
  jobs.run(versionId, (signal) => services.lease.own({ signal, isOwned, run })).catch(report);
}

/** An abort by a stop or a deletion is not an error. */
function unlessAborted(signal: AbortSignal, problem: unknown): void {
  if (!signal.aborted) throw problem;
}

interface Job {
  readonly services: Services;
  readonly project: KeyProject;
  readonly versionId: number;
  /** The lease that its version names. */
  readonly owner: number;
  readonly signal: AbortSignal;
}

/** Deploys a trained version at once. */
async function runJob(job: Job): Promise<void> {
  for (let version = await read(job); version; version = await read(job)) {
    const problem = await problemOf(job, () => run(job, version));
    await finish(job, problem);
  }
}

/** A failed training leaves no artifacts, as they may be incomplete. */
async function finish(job: Job, problem: string | undefined): Promise<void> {
  const { services, project } = job;
  const blobs = await services.catalog.write(project.id, async (tx) => {
    const row = await ownVersion(tx, job);
    return row ? finishVersion(tx, [row], { problem, nowMs: services.system.nowMs() }) : [];
  });
  await removeBlobs(services, project.id, blobs);
}

interface Outcome {
  readonly problem: string | undefined;
  readonly nowMs: number;
}

async function finishVersion(
  tx: CatalogWriter,
  rows: readonly Version[],
  { problem, nowMs }: Outcome,
): Promise<number[]> {
  await tx.replace(
    versionTable,
    rows.map((row) => after(row, problem, nowMs)),
  );
  const failed = rows.filter(({ status }) => status === "TRAINING" && problem !== undefined);
  return deleteArtifactsOf(
    tx,
    failed.map(({ id }) => id),
  );
}

type OwnJob = Omit<Job, "signal">;

const read = (job: OwnJob): Promise<Version | undefined> =>
  job.services.catalog.read(job.project.id, (tx) => ownVersion(tx, job));

/** The version while the job runs; undefined if it was deleted, has ended, or is another server's. */
async function ownVersion(
  tx: CatalogReader,
  { versionId, owner }: Pick<Job, "versionId" | "owner">,
): Promise<Version | undefined> {
  const [row] = await tx.get(versionTable, [versionId]);
  const isRunning = row?.status === "TRAINING" || row?.status === "DEPLOYING";
  return isRunning && row.owner === owner ? row : undefined;
}

/** Writes nothing if the version is no longer of this job. */
async function write(job: Job, change: (row: Version) => Version): Promise<void> {
  const { services, project } = job;
  await services.catalog.write(project.id, async (tx) => {
    const row = await ownVersion(tx, job);
    if (row) await tx.replace(versionTable, [change(row)]);
  });
}

/** A run that cannot start reports the reason like a failure of the code. */
async function problemOf(
  { signal, services }: Job,
  run: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await run();
  } catch (problem) {
    if (signal.aborted) throw problem;
    if (problem instanceof Failure) return problem.message;
    services.models.report(problem);
    return "A fault of the server; its log has the details";
  }
}

function after(row: Version, problem: string | undefined, nowMs: number): Version {
  const { problem: _, jobStartedTime: __, ...rest } = row;
  if (problem !== undefined) return { ...rest, problem, status: "FAILED" };
  if (row.status !== "TRAINING") return { ...rest, status: "READY" };
  return { ...rest, status: "DEPLOYING", training: { ...row.training!, completedTime: nowMs } };
}

/** Returns why the run failed, or undefined. */
async function run(job: Job, version: Version): Promise<string | undefined> {
  const { services, project, signal } = job;
  const { keys, models } = services;
  const { artifacts, ...given } = await loadable(services, project.id, version);
  const lendKey = async () => keyFor(services, await jobCaller(keys, project, version), version);
  const code: RunFile["open"] = async () => {
    await write(job, (row) => ({ ...row, jobStartedTime: services.system.nowMs() }));
    return given.code();
  };
  const onStart: ModelTask["onStart"] = (linesSoFar) => models.liveLogs.set(version.id, linesSoFar);
  const common = { ...given, code, args: {}, project: project.urlName, lendKey, onStart };
  const isTraining = version.status === "TRAINING";
  const task: ModelTask = isTraining
    ? { ...common, operation: "train", args: version.training!.args, keep: (one) => keepArtifact(job, one) }
    : { ...common, operation: "load", artifacts };
  const { log: lines, problem } = await models.runner
    .run(task, signal)
    .finally(() => models.liveLogs.delete(version.id));
  const operation = isTraining ? "train" : "predict";
  await recordLog(services, project.id, version.id, { operation, lines });
  return problem;
}

/** The current rights of the job's account; a job without an account has none. */
async function jobCaller(
  keys: ApiKeys,
  { id: projectId, urlName }: KeyProject,
  { jobAccountId }: Version,
): Promise<Caller | undefined> {
  if (jobAccountId === undefined) return undefined;
  const caller = await keys.callerAs(jobAccountId, { projectId, projectUrlName: urlName });
  if (!caller) throw fail("model-account-gone", {});
  requireCapability(caller, "modelHostingAcl", "WRITE");
  return caller;
}

type StoredArtifact = { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> };

async function keepArtifact(job: Job, { name, bytes }: StoredArtifact): Promise<void> {
  const { services, project, versionId } = job;
  const given = { name: fileNameOf(name), bytes };
  await storeAttachment(services, project.id, given, async (tx, { id }) => {
    if (!(await ownVersion(tx, job))) throw fail("ids-unknown", { field: "versionId", ids: [versionId] });
    await tx.insert(artifactTable, [{ id, versionId, name }]);
  });
}

const unfinished = oneOf("status", ["TRAINING", "DEPLOYING"]);

/**
 * Takes over the jobs of servers that have ended: marks those that were running as failed, and starts those
 * that were waiting.
 */
export async function takeOverJobs(
  services: Services,
  project: KeyProject,
  abandoned: Filter,
): Promise<void> {
  const { lease } = services;
  const filter = and(unfinished, abandoned);
  const { waiting, blobs } = await services.catalog.write(project.id, async (tx) => {
    const limit = await tx.count(versionTable, filter);
    const rows = await tx.find(versionTable, { filter, order: byId, page: { limit } });
    const problem = "The server stopped while this ran; deploy it again, or train another version";
    const ran = rows.filter(({ jobStartedTime }) => jobStartedTime !== undefined);
    const blobs = await finishVersion(tx, ran, { problem, nowMs: services.system.nowMs() });
    const waiting = rows.filter((row) => !ran.includes(row));
    await tx.replace(
      versionTable,
      waiting.map((row) => ({ ...row, owner: lease.owner })),
    );
    return { waiting, blobs };
  });
  await removeBlobs(services, project.id, blobs);
  for (const { id } of waiting) startJob(services, project, id);
}
