// Runs searches for windows, in the background as jobs of their callers or while the caller waits.
//
// A job has the rights of the caller who starts it. Its record is in the catalog. A stop of the server ends
// its running jobs; another server, or the next start, marks them as FAILED.
import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { administersGroups } from "../../access/compare-capabilities.ts";
import type { RequestContext, Services } from "../../context.ts";
import { Failure, fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, everything, type Filter, oneOf } from "../../query/filter.ts";
import { byId, type OrderBy, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { requireSeries } from "../timeseries/timeseries.ts";
import { type Job, jobTable } from "./schema.ts";
import { type Match, prepareSearch, type SearchQuery } from "./search.ts";

export type { Job } from "./schema.ts";
export type { Match, SearchQuery as SearchWanted } from "./search.ts";

export interface JobState extends Job {
  /** From 0 to 1. */
  readonly progress: number;
}

/** Runs a search while the caller waits, and returns its matches, best first. */
export async function searchNow(ctx: RequestContext, query: SearchQuery): Promise<Match[]> {
  const { search } = await prepareSearch(ctx, query);
  return search(ctx);
}

/**
 * Starts a search in the background and returns its job. Refuses unknown series (404), windows that cannot be
 * compared (400), and (429) a caller with too many unfinished jobs.
 */
export async function startSearch(
  ctx: RequestContext,
  query: SearchQuery,
  description: string | undefined,
): Promise<Job> {
  const { search, seriesIds } = await prepareSearch(ctx, query);
  const { userId, user } = ctx.caller;
  const job: Job = {
    id: ctx.ids.next(),
    ...(description !== undefined && { description }),
    status: "RUNNING",
    ...(userId !== undefined && { accountId: userId }),
    user,
    seriesIds,
    createdTime: ctx.system.nowMs(),
    owner: ctx.lease.owner,
  };
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await deleteOldJobs(tx, ctx);
    await tx.insert(jobTable, [job]);
  });
  ctx.jobs.start(job.id, (signal, tell) =>
    ctx.lease.own({
      ...{ signal, isOwned: () => isRunning(ctx, job.id) },
      run: (signal) => run(ctx, job, { signal, search: (own) => search(own, tell) }),
    }),
  );
  return job;
}

async function isRunning({ catalog, projectId }: RequestContext, id: number): Promise<boolean> {
  const [job] = await catalog.read(projectId, (tx) => tx.get(jobTable, [id]));
  return job?.status === "RUNNING";
}

/** Deletes expired jobs, and the caller's oldest ones beyond `limits.jobsKeptMax`. */
async function deleteOldJobs(tx: CatalogWriter, ctx: RequestContext): Promise<void> {
  const isOld = between("createdTime", { to: { value: oldestMs(ctx), inclusive: false } });
  const isRunning = equals("status", "RUNNING");
  await tx.remove(jobTable, and(isOld, oneOf("status", ["DONE", "FAILED", "CANCELLED"])));
  const running = await tx.count(jobTable, and(ownJobs(ctx), isRunning));
  if (running >= limits.jobsRunningMax) throw fail("jobs-running", { limit: limits.jobsRunningMax });
  const ended = and(ownJobs(ctx), oneOf("status", ["DONE", "FAILED", "CANCELLED"]));
  const limit = (await tx.count(jobTable, ended)) - limits.jobsKeptMax + 1;
  if (limit <= 0) return;
  const oldest = await tx.find(jobTable, { filter: ended, order: byId, page: { limit } });
  const ids = oldest.map(({ id }) => id);
  await tx.remove(jobTable, oneOf("id", ids));
}

interface Work {
  readonly signal: AbortSignal;
  readonly search: (ctx: RequestContext) => Promise<Match[]>;
}

/**
 * Runs a job and stores its outcome. A job that is cancelled, or ended by a stop of the server, stores
 * nothing.
 */
async function run(ctx: RequestContext, { id }: Job, { signal, search }: Work): Promise<void> {
  const deadline = AbortSignal.timeout(limits.jobMsMax);
  try {
    const matches = await search({ ...ctx, signal: AbortSignal.any([signal, deadline]) });
    await endJobs(ctx, ctx.projectId, equals("id", id), { status: "DONE", matches });
  } catch (problem) {
    if (signal.aborted) return;
    if (!(problem instanceof Failure) && !deadline.aborted) ctx.jobs.report(problem);
    const reason = deadline.aborted ? fail("job-deadline", { limitMs: limits.jobMsMax }) : problem;
    const message =
      reason instanceof Failure ? reason.message : "A fault of the server; its log has the details";
    await endJobs(ctx, ctx.projectId, equals("id", id), { status: "FAILED", problem: message });
  }
}

/** Ends the jobs that are still running. */
async function endJobs(
  { catalog, system }: Pick<Services, "catalog" | "system">,
  projectId: ProjectId,
  which: Filter,
  outcome: Pick<Job, "status" | "problem" | "matches">,
): Promise<void> {
  const filter = and(which, equals("status", "RUNNING"));
  await catalog.write(projectId, async (tx) => {
    const limit = await tx.count(jobTable, filter);
    const rows = await tx.find(jobTable, { filter, order: byId, page: { limit } });
    const completedTime = system.nowMs();
    await tx.replace(
      jobTable,
      rows.map((row) => ({ ...row, ...outcome, completedTime })),
    );
  });
}

/** Marks the jobs of servers that have ended. */
export const failAbandonedJobs = (
  services: Services,
  projectId: ProjectId,
  abandoned: Filter,
): Promise<void> =>
  endJobs(services, projectId, abandoned, {
    status: "FAILED",
    problem: "The server stopped while the job was running; start it again",
  });

/** Refuses (404) an unknown job, and a job of another account. */
export async function getJob(ctx: RequestContext, id: number): Promise<JobState> {
  return stateOf(ctx, await ctx.catalog.read(ctx.projectId, (tx) => requireJob(tx, ctx, id, "READ")));
}

const newestFirst: readonly OrderBy[] = [{ field: "id", direction: "descending" }];

/** The caller's jobs, the newest first. */
export async function listJobs(ctx: RequestContext, page: PageQuery): Promise<Page<JobState>> {
  const filter = visibleJobs(ctx, "LIST");
  const found = await ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, jobTable, { filter, order: newestFirst, page }),
  );
  return { ...found, items: found.items.map((job) => stateOf(ctx, job)) };
}

/** Resolves when the job has ended. A job that had ended before stays as it is. */
export async function cancelJob(ctx: RequestContext, id: number): Promise<JobState> {
  await ctx.catalog.read(ctx.projectId, (tx) => requireJob(tx, ctx, id, "EXECUTE"));
  await endJobs(ctx, ctx.projectId, equals("id", id), { status: "CANCELLED" });
  await ctx.jobs.cancel(id);
  return stateOf(ctx, await ctx.catalog.read(ctx.projectId, (tx) => requireJob(tx, ctx, id, "EXECUTE")));
}

/**
 * The matches of a job, best first. Refuses (409) a job that is not DONE, and (404) a caller who may no
 * longer read all of its series.
 */
export async function matchesOf(ctx: RequestContext, id: number): Promise<readonly Match[]> {
  const job = await ctx.catalog.read(ctx.projectId, (tx) => requireJob(tx, ctx, id, "READ"));
  await requireSeries(ctx, job.seriesIds, "READ");
  const { status: state, problem, matches } = job;
  if (matches) return matches;
  throw fail("job-unfinished", { id, state, ...(problem !== undefined && { problem }) });
}

async function requireJob(tx: CatalogReader, ctx: RequestContext, id: number, action: Action): Promise<Job> {
  const permitted = visibleJobs(ctx, action);
  const [job] = await existingRecords(tx, jobTable, permitted, { ids: [id], field: "jobId", status: 404 });
  return job!;
}

/** The filter of visible jobs. Administrators see all jobs. */
function visibleJobs(ctx: RequestContext, action: Action): Filter {
  const own = administersGroups(ctx.caller.capabilities) ? everything : ownJobs(ctx);
  const isKept = between("createdTime", { from: { value: oldestMs(ctx), inclusive: true } });
  return and(permittedRecords(ctx.caller, "analyticsAcl", action), own, isKept);
}

const ownJobs = ({ caller: { userId, user } }: RequestContext): Filter =>
  userId === undefined ? and(equals("accountId", null), equals("user", user)) : equals("accountId", userId);

const oldestMs = ({ system }: Services): number => system.nowMs() - limits.jobKeptMs;

function stateOf({ jobs }: Services, job: Job): JobState {
  return { ...job, progress: job.status === "DONE" ? 1 : (jobs.progressOf(job.id) ?? 0) };
}
