// Counts, by project, the changes after which cached series and cached access to them are out of date.
//
// A cache stores the generation it was filled in, and is out of date once that number has changed. A server
// counts its own changes at once. Those of other servers it reads from the catalog
// (`foreign-changes.ts`).
import { ChangeCounter } from "../lib/change-counter.ts";
import type { ProjectId } from "../storage/catalog.ts";

export interface ProjectGenerations {
  /** Changes when a series is renamed or deleted. */
  readonly series: ChangeCounter;
  /**
   * Changes when callers can gain or lose access to an existing record: an asset is moved or deleted, or a
   * record gets another asset or other security categories. New records and new assets change access to no
   * other record.
   */
  readonly access: ChangeCounter;
}

/** One for each server, whose memory is two counters for each project in use. */
export class Generations {
  readonly #byProject = new Map<ProjectId, ProjectGenerations>();

  of(projectId: ProjectId): ProjectGenerations {
    const existing = this.#byProject.get(projectId);
    if (existing !== undefined) return existing;
    const created = { series: new ChangeCounter(), access: new ChangeCounter() };
    this.#byProject.set(projectId, created);
    return created;
  }

  /** All projects in use. */
  all(): Iterable<ProjectGenerations> {
    return this.#byProject.values();
  }
}
