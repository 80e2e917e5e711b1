// Continues, or marks as failed, the work of servers that have ended: at the start and later.
import type { Logger } from "pino";
import type { Services } from "./context.ts";
import { unlessFull } from "./full-disk.ts";
import type { HostedModels } from "./model-hosting.ts";
import type { Filter } from "./query/filter.ts";
import { failAbandonedJobs } from "./resources/analytics/analytics.ts";
import { takeOverDemo } from "./resources/demo/demo.ts";
import { allProjects } from "./resources/projects/projects.ts";
import { finishDeletions } from "./resources/timeseries/pending-deletions.ts";
import { failAbandonedTransformations } from "./resources/transformations/runs/runs.ts";

interface TakingOver {
  readonly models: HostedModels;
  /** The records whose server has ended. */
  readonly abandoned: Filter;
  readonly log: Logger;
}

/** Continues or fails the work of ended servers. Work that a full disk refuses is left for the next start. */
export async function takeOver(services: Services, { models, abandoned, log }: TakingOver): Promise<void> {
  for (const project of await services.catalog.read("system", allProjects)) {
    await unlessFull(services, log, () => failAbandonedJobs(services, project.id, abandoned));
    await unlessFull(services, log, () => models.takeOver(project, abandoned));
    await unlessFull(services, log, () => failAbandonedTransformations(services, project, abandoned));
    await unlessFull(services, log, () => takeOverDemo(services, project, abandoned));
    await unlessFull(services, log, () => services.audit.recordAbandoned(project.id, abandoned));
    services.rowDeletions.start(project.id);
  }
  await unlessFull(services, log, () => finishDeletions(services));
}
