// The demo plant of a project: loaded once in the background, with live values until they are ended.
//
// The thread that loads it is a client of the API with the rights of the project's administrator, so that
// only callers who administer groups may start it.
import { ensureAdministrator } from "../../access/administrators.ts";
import type { KeyProject } from "../../access/api-keys.ts";
import { requireCapability } from "../../access/caller.ts";
import { administersGroups } from "../../access/compare-capabilities.ts";
import type { RequestContext, Services } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { everything, type Filter } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogReader, ProjectId } from "../../storage/catalog.ts";
import { countAssets } from "../assets/assets.ts";
import type { DemoOutcome, DemoProgress, RunKey } from "./running-demos.ts";
import { type Demo, demoTable } from "./schema.ts";

export type DemoState = Demo & Partial<DemoProgress>;

/** Undefined if the project has no demo plant. */
export async function readDemo(ctx: RequestContext): Promise<DemoState | undefined> {
  requireCapability(ctx.caller, "projectsAcl", "READ");
  const demo = await ctx.catalog.read(ctx.projectId, demoOf);
  return demo && { ...demo, ...ctx.demos.progressOf(ctx.projectId) };
}

/**
 * Loads the demo plant into a project without assets, and writes its live values. Continues a load that has
 * failed, and live values that were ended. Refuses (409) a project with assets of its own, and (403) a caller
 * that does not administer groups.
 */
export async function startDemo(ctx: RequestContext, days: number): Promise<DemoState> {
  requireAdministrator(ctx);
  const hasAssets = (await countAssets(ctx, everything)) > 0;
  const abandoned = await ctx.lease.abandoned();
  const demo = await ctx.catalog.write(ctx.projectId, async (tx) => {
    const known = await demoOf(tx);
    if (!known && hasAssets) throw fail("demo-not-empty", {});
    const isOthers = known?.owner !== ctx.lease.owner && (await tx.count(demoTable, abandoned)) === 0;
    if (known && isUnderWay(known) && isOthers) return known;
    const started = { ...(known ? restarted(known) : newDemo(ctx, days)), owner: ctx.lease.owner };
    await (known ? tx.replace(demoTable, [started]) : tx.insert(demoTable, [started]));
    return started;
  });
  await run(ctx, { id: ctx.projectId, urlName: ctx.caller.projectUrlName }, demo);
  return { ...demo, ...ctx.demos.progressOf(ctx.projectId) };
}

function newDemo({ ids, system }: RequestContext, days: number): Demo {
  const createdTime = system.nowMs();
  const endTime = createdTime - (createdTime % 60_000);
  return { id: ids.next(), status: "RUNNING", endTime, days, isLive: true, createdTime };
}

function restarted({ problem: _, ...demo }: Demo): Demo {
  return { ...demo, isLive: true, status: demo.status === "FAILED" ? "RUNNING" : demo.status };
}

/** Ends the live values, or a load that is running; that one is FAILED then. */
export async function endDemo(ctx: RequestContext): Promise<void> {
  requireAdministrator(ctx);
  await ctx.demos.stop(ctx.projectId);
  await change(ctx, ctx.projectId, (demo) => ({
    ...demo,
    isLive: false,
    ...(demo.status === "RUNNING" && {
      status: "FAILED",
      problem: "The load was ended before it was complete",
    }),
  }));
}

const isUnderWay = ({ isLive, status }: Demo): boolean => isLive || status === "RUNNING";

/** Continues the load, or the live values, of a server that has ended. */
export async function takeOverDemo(
  services: Services,
  project: KeyProject,
  abandoned: Filter,
): Promise<void> {
  const taken = await services.catalog.write(project.id, async (tx) => {
    const [demo] = await tx.find(demoTable, { filter: abandoned, order: byId, page: { limit: 1 } });
    if (!demo || !isUnderWay(demo)) return undefined;
    const own = { ...demo, owner: services.lease.owner };
    await tx.replace(demoTable, [own]);
    return own;
  });
  if (taken) await run(services, project, taken);
}

/** A key of the project's administrator for the time that the work of the server takes. */
export async function administratorKey(
  services: Services,
  { id: projectId, urlName: project }: KeyProject,
): Promise<RunKey> {
  const { rights, keys } = services;
  const { id: accountId } = await rights.change((tx) => ensureAdministrator(tx, projectId, services));
  const expiresTime = limits.timeMsMax;
  return keys.createTemporary({ projectId, project, accountId, expiresTime, startedWith: undefined });
}

/** Does nothing if the plant runs here, or belongs to another server. */
async function run(services: Services, project: KeyProject, demo: Demo): Promise<void> {
  const { lease, demos } = services;
  if (demos.progressOf(project.id) || demo.owner !== lease.owner) return;
  const { endTime: endMs, days, status } = demo;
  const administrator = await administratorKey(services, project);
  const isOwned = async () => {
    const now = await services.catalog.read(project.id, demoOf);
    return now !== undefined && isUnderWay(now) && now.owner === demo.owner;
  };
  const watch = lease.watch(isOwned, () => void demos.stop(project.id));
  const key: RunKey = {
    key: administrator.key,
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      administrator[Symbol.dispose]();
    },
  };
  demos.start(project.id, { key, endMs, days, isLoaded: status === "DONE" }, (outcome) =>
    change(services, project.id, (now) =>
      now.owner === demo.owner ? afterOutcome(now, outcome, services.system.nowMs()) : now,
    ),
  );
}

function afterOutcome(demo: Demo, outcome: DemoOutcome, nowMs: number): Demo {
  const isLoading = demo.status === "RUNNING";
  if (outcome.kind === "loaded") return isLoading ? { ...demo, status: "DONE", completedTime: nowMs } : demo;
  return { ...demo, isLive: false, problem: outcome.problem, ...(isLoading && { status: "FAILED" }) };
}

function requireAdministrator({ caller }: RequestContext): void {
  requireCapability(caller, "projectsAcl", "UPDATE");
  if (!administersGroups(caller.capabilities)) throw fail("demo-administration", {});
}

async function change(
  { catalog }: Pick<Services, "catalog">,
  projectId: ProjectId,
  changed: (demo: Demo) => Demo,
): Promise<void> {
  await catalog.write(projectId, async (tx) => {
    const demo = await demoOf(tx);
    if (demo) await tx.replace(demoTable, [changed(demo)]);
  });
}

async function demoOf(tx: CatalogReader): Promise<Demo | undefined> {
  return (await tx.find(demoTable, { filter: everything, order: byId, page: { limit: 1 } }))[0];
}
