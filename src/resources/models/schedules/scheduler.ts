// Runs schedules: each window once, in order, one at a time, on one of the servers, including windows missed
// while none was up.
//
// A window is claimed in the catalog before it runs: one transaction advances the schedule and records the
// run as started, so no window runs twice. When the server stops, it releases a window whose output is not
// being written yet; a window that a crash interrupted counts as failed, as soon as the lease of its server
// has ended.

import type { KeyProject } from "../../../access/api-keys.ts";
import { requireCapability } from "../../../access/caller.ts";
import type { RequestContext, Services } from "../../../context.ts";
import { Failure, fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { and, between, equals, type Filter, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import { unboundedMemory } from "../../../query/read-within.ts";
import type { CatalogWriter } from "../../../storage/catalog.ts";
import { fencedPoints } from "../../../storage/fenced-points.ts";
import { requireSeries } from "../../timeseries/timeseries.ts";
import { activeVersion, predict } from "../versions/predictions.ts";
import { instanceOf, readInput } from "./input.ts";
import { writeOutput } from "./output.ts";
import { refuseUnknownData } from "./schedules.ts";
import { type Schedule, type ScheduleRun, scheduleRunTable, scheduleTable } from "./schema.ts";
import { dueAt, windowEndingAt, windowsToSkip } from "./spec.ts";

/** Starts the due windows of all schedules that are not running, and resolves when these have run. */
export async function runDueSchedules(services: Services, project: KeyProject): Promise<void> {
  const { jobs } = services.models;
  const due = and(
    equals("isDeprecated", false),
    between("nextEnd", { to: { value: services.system.nowMs(), inclusive: true } }),
  );
  const found = await services.catalog.read(project.id, async (tx) => {
    const limit = await tx.count(scheduleTable, due);
    return tx.find(scheduleTable, { filter: due, order: byId, page: { limit } });
  });
  const idle = found.filter(({ id }) => !jobs.has(id));
  await Promise.all(
    idle.map(({ id }) => jobs.run(id, (signal) => runWindows({ services, project, signal }, id))),
  );
}

interface ScheduleContext {
  readonly services: Services;
  readonly project: KeyProject;
  readonly signal: AbortSignal;
}

async function runWindows(work: ScheduleContext, id: number): Promise<void> {
  while (!work.signal.aborted) {
    const claimed = (await isWaiting(work, id)) ? undefined : await claim(work, id);
    if (!claimed) return;
    const isOwned = async () => {
      const [run] = await work.services.catalog.read(work.project.id, (tx) =>
        tx.get(scheduleRunTable, [claimed.run.id]),
      );
      return run?.status === "RUNNING";
    };
    const run = (signal: AbortSignal) => runWindow({ ...work, signal }, claimed);
    await work.services.lease.own({ signal: work.signal, isOwned, run });
  }
}

interface ClaimedRun {
  readonly schedule: Schedule;
  readonly run: ScheduleRun;
}

/**
 * Claims the next window of a schedule if it is due and no other window is running; skips windows that are
 * too old.
 */
function claim({ services, project }: ScheduleContext, id: number): Promise<ClaimedRun | undefined> {
  const nowMs = services.system.nowMs();
  return services.catalog.write(project.id, async (tx) => {
    const [schedule] = await tx.get(scheduleTable, [id]);
    if (!schedule || schedule.isDeprecated || dueAt(schedule.spec, schedule.nextEnd) > nowMs)
      return undefined;
    const underWay = and(equals("scheduleId", id), equals("status", "RUNNING"));
    if ((await tx.count(scheduleRunTable, underWay)) > 0) return undefined;
    const { spec, nextEnd } = schedule;
    const skipped = windowsToSkip(spec, nextEnd, nowMs);
    const end = nextEnd + skipped * spec.strideMs;
    if (skipped > 0) await tx.insert(scheduleRunTable, [skippedRun(services, schedule, skipped)]);
    const window = windowEndingAt(spec, end);
    const run: ScheduleRun = {
      ...{ id: services.ids.next(), scheduleId: id, windowStart: window.startMs, windowEnd: end },
      ...{ status: "RUNNING", startedTime: nowMs, owner: services.lease.owner },
    };
    await tx.insert(scheduleRunTable, [run]);
    await tx.replace(scheduleTable, [{ ...schedule, nextEnd: end + spec.strideMs }]);
    await dropOldest(tx, id);
    return { schedule, run };
  });
}

function skippedRun({ ids, system }: Services, { id, spec, nextEnd }: Schedule, count: number): ScheduleRun {
  const nowMs = system.nowMs();
  return {
    ...{ id: ids.next(), scheduleId: id, status: "SKIPPED", startedTime: nowMs, endedTime: nowMs },
    windowStart: windowEndingAt(spec, nextEnd).startMs,
    windowEnd: nextEnd + (count - 1) * spec.strideMs,
    problem: `${count} windows were missed longer ago than ${limits.modelWindowsMissedMax} windows`,
  };
}

async function dropOldest(tx: CatalogWriter, scheduleId: number): Promise<void> {
  const filter = equals("scheduleId", scheduleId);
  const limit = (await tx.count(scheduleRunTable, filter)) - limits.modelRunsKeptMax;
  if (limit <= 0) return;
  const oldest = await tx.find(scheduleRunTable, { filter, order: byId, page: { limit } });
  const ids = oldest.map(({ id }) => id);
  await tx.remove(scheduleRunTable, oneOf("id", ids));
}

/** With an unlimited slack, a window waits until each of its series has a point at or after its end. */
async function isWaiting(work: ScheduleContext, id: number): Promise<boolean> {
  const [schedule] = await work.services.catalog.read(work.project.id, (tx) => tx.get(scheduleTable, [id]));
  if (schedule?.spec.slackMs !== -1) return false;
  const { spec, nextEnd } = schedule;
  const ctx = await contextOf(work, schedule).catch(ignoreMissing);
  if (!ctx) return false; // The run will tell why.
  const ids = [...spec.series, ...spec.frames.flatMap(({ series }) => series)].map((one) => one.id);
  const series = await requireSeries(ctx, ids, "READ").catch(ignoreMissing);
  if (!series) return false;
  const questions = series.map((one) => ({ series: one.id, isString: one.isString }));
  const latest = await ctx.points.latest(questions, limits.timeMsMax);
  return latest.some((one) => one === undefined || one.timeMs < nextEnd);
}

function ignoreMissing(problem: unknown): undefined {
  if (!(problem instanceof Failure)) throw problem;
}

/**
 * The context of the schedule's account with its current rights. Refuses a deleted account and one without
 * the rights.
 */
async function contextOf(
  { services, project, signal }: ScheduleContext,
  { accountId }: Schedule,
): Promise<RequestContext> {
  const { id: projectId, urlName } = project;
  const caller = await services.keys.callerAs(accountId, { projectId, projectUrlName: urlName });
  if (!caller) throw fail("model-account-gone", {});
  requireCapability(caller, "modelHostingAcl", "WRITE");
  return { ...services, caller, projectId: projectId, signal, memory: unboundedMemory };
}

async function runWindow(work: ScheduleContext, claimed: ClaimedRun): Promise<void> {
  try {
    const prediction = await predictWindow(work, claimed);
    const points = await write(work, claimed, prediction);
    await finish(work, claimed, { status: "SUCCEEDED", points });
  } catch (problem) {
    if (work.signal.aborted && !(problem instanceof Written)) return releaseRun(work, claimed);
    const reason = problem instanceof Written ? problem.cause : problem;
    if (!(reason instanceof Failure)) work.services.models.report(reason);
    const problemText =
      reason instanceof Failure ? reason.message : "A fault of the server; its log has the details";
    await finish(work, claimed, { status: "FAILED", problem: problemText });
  }
}

async function predictWindow(work: ScheduleContext, { schedule, run }: ClaimedRun): Promise<unknown> {
  const { spec, modelId, args } = schedule;
  const ctx = await contextOf(work, schedule);
  const version = await activeVersion(ctx, modelId);
  for (const author of version.authors) await refuseForeignAuthor(ctx, schedule, author);
  const window = windowEndingAt(spec, run.windowEnd);
  const input = await readInput(ctx, spec, window);
  const instances = [instanceOf(spec, window)];
  const { problem, predictions } = await predict(ctx, version, { args, instances, ...input });
  if (problem !== undefined) throw fail("model-failed", { problem });
  return predictions[0];
}

/**
 * Refuses code whose author may not read the data of the schedule: the code could reveal the data in its
 * log or in a series. Deleted accounts may read nothing.
 */
async function refuseForeignAuthor(ctx: RequestContext, schedule: Schedule, author: number): Promise<void> {
  if (author === schedule.accountId) return;
  const caller = author === 0 ? undefined : await ctx.keys.callerAs(author, ctx.caller);
  if (!caller && author !== 0) return;
  const isAllowed =
    caller && (await refuseUnknownData({ ...ctx, caller }, schedule.spec).then(() => true, ignoreMissing));
  if (!isAllowed) throw fail("model-author-refused", {});
}

/** A stop waits for a write that has started, as a partial output must not count as none. */
async function write(
  work: ScheduleContext,
  { schedule, run }: ClaimedRun,
  prediction: unknown,
): Promise<number> {
  work.signal.throwIfAborted();
  try {
    const ctx = await contextOf({ ...work, signal: new AbortController().signal }, schedule);
    const points = fencedPoints(ctx.points, () => ctx.lease.requireHeld(run.owner!));
    return await writeOutput(
      { ...ctx, points },
      schedule.spec,
      windowEndingAt(schedule.spec, run.windowEnd),
      prediction,
    );
  } catch (problem) {
    throw new Written("The output of a window was begun to be written", { cause: problem });
  }
}

class Written extends Error {}

type Outcome = Pick<ScheduleRun, "status" | "problem" | "points">;

/** Writes nothing if the schedule was deleted, or the run was marked as failed, meanwhile. */
async function finish(
  { services, project }: ScheduleContext,
  { run }: ClaimedRun,
  outcome: Outcome,
): Promise<void> {
  await services.catalog.write(project.id, async (tx) => {
    const [row] = await tx.get(scheduleRunTable, [run.id]);
    if (row?.status !== "RUNNING") return;
    await tx.replace(scheduleRunTable, [{ ...row, ...outcome, endedTime: services.system.nowMs() }]);
  });
}

/** Changes nothing if the run was marked as failed meanwhile. */
async function releaseRun(
  { services, project }: ScheduleContext,
  { schedule, run }: ClaimedRun,
): Promise<void> {
  await services.catalog.write(project.id, async (tx) => {
    const released = and(equals("id", run.id), equals("status", "RUNNING"));
    if ((await tx.remove(scheduleRunTable, released)) === 0) return;
    const [row] = await tx.get(scheduleTable, [schedule.id]);
    if (row) await tx.replace(scheduleTable, [{ ...row, nextEnd: run.windowEnd }]);
  });
}

/** Marks the runs of servers that have ended as failed. */
export async function failAbandonedRuns(
  { catalog, system }: Services,
  project: KeyProject,
  abandoned: Filter,
): Promise<void> {
  const filter = and(abandoned, equals("status", "RUNNING"));
  await catalog.write(project.id, async (tx) => {
    const limit = await tx.count(scheduleRunTable, filter);
    const rows = await tx.find(scheduleRunTable, { filter, order: byId, page: { limit } });
    const outcome = { problem: "The server stopped while this ran", endedTime: system.nowMs() };
    await tx.replace(
      scheduleRunTable,
      rows.map((row) => ({ ...row, ...outcome, status: "FAILED" })),
    );
  });
}
