// Starts the runs that are due, on one of the servers: a run is claimed in the transaction that moves the
// time of the next one. Times that passed while no server was up, or while a run had not ended, are one run.
import type { KeyProject } from "../../../access/api-keys.ts";
import type { Services } from "../../../context.ts";
import { startTicks } from "../../../lib/ticks.ts";
import { limits } from "../../../limits.ts";
import { between } from "../../../query/filter.ts";
import type { OrderBy, Page, PageQuery } from "../../../query/page.ts";
import type { ProjectId } from "../../../storage/catalog.ts";
import { readPage } from "../../../storage/read-page.ts";
import { allProjects } from "../../projects/projects.ts";
import { failLostRuns, isRunning, startIn } from "../runs/runs.ts";
import { type Transformation, transformationTable } from "../schema.ts";
import { nextTimeOf } from "./schedule.ts";

/** Looks for due transformations and for lost runs at intervals; returns the function that stops it. */
export function startSchedules(services: Services): () => Promise<void> {
  const lost = new Map<ProjectId, ReadonlySet<number>>();
  const { jobs } = services.transformations;
  const ticking = {
    everyMs: limits.transformationTickMs,
    report: (problem: unknown) => jobs.report(problem),
  };
  return startTicks(ticking, async () => {
    for (const project of await services.catalog.read("system", allProjects))
      try {
        lost.set(project.id, await failLostRuns(services, project, lost.get(project.id) ?? new Set()));
        await startDue(services, project);
      } catch (problem) {
        // The other projects have their turn.
        jobs.report(problem);
      }
  });
}

async function startDue(services: Services, project: KeyProject): Promise<void> {
  const filter = between("nextTime", { to: { value: services.system.nowMs(), inclusive: true } });
  const limit = limits.transformationsStartedAtOnce;
  const due = await services.catalog.read(project.id, async (tx) => {
    const found: number[] = [];
    for (let page: PageQuery | undefined = { limit }; page && found.length < limit; ) {
      const read: Page<Transformation> = await readPage(tx, transformationTable, {
        ...{ filter, order: longestDue, page },
      });
      for (const { id } of read.items) if (!(await isRunning(tx, id))) found.push(id);
      page = read.next && { limit, after: read.next };
    }
    return found.slice(0, limit);
  });
  for (const id of due) await claim(services, project, id);
}

const longestDue: readonly OrderBy[] = [
  { field: "nextTime", direction: "ascending" },
  { field: "id", direction: "ascending" },
];

/** Starts the run unless another server did, or a run has not ended: that one is looked at again later. */
async function claim(services: Services, project: KeyProject, id: number): Promise<void> {
  const start = await services.catalog.write(project.id, async (tx) => {
    const nowMs = services.system.nowMs();
    const [transformation] = await tx.get(transformationTable, [id]);
    if (!transformation || (transformation.nextTime ?? nowMs + 1) > nowMs) return undefined;
    if (await isRunning(tx, id)) return undefined;
    const claimed = withNextTime(transformation, nowMs);
    await tx.replace(transformationTable, [claimed]);
    return startIn(tx, services, claimed, "schedule");
  });
  start?.(project);
}

function withNextTime({ nextTime: _, ...row }: Transformation, nowMs: number): Transformation {
  const nextTime = nextTimeOf(row.schedule, nowMs);
  return { ...row, ...(nextTime !== undefined && { nextTime }) };
}
