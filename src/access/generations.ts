// Counts, by project, the changes after which cached series and cached access to them are out of date.
//
// A cache stores the generation it was filled in, and is out of date once that number has changed. A server
// counts its own changes at once, in memory that its front threads share (`src/front/`). Those of other
// servers it reads from the catalog (`foreign-changes.ts`).
import { ChangeCounter, cellsOfCounter } from "../lib/change-counter.ts";
import type { ProjectId } from "../storage/catalog.ts";
import { shardOf } from "../storage/shard-of.ts";

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

/** In a project: those of `series`, then those of `access`. */
const cellsOfProject = 2 * cellsOfCounter;
/** Projects beyond this number share counters with others, whose changes count for them, too. */
const sharedProjects = 256;

/** Memory for counters that several threads share. */
export const sharedGenerations = (): Int32Array =>
  new Int32Array(new SharedArrayBuffer(sharedProjects * cellsOfProject * Int32Array.BYTES_PER_ELEMENT));

/** One for each thread that serves requests; its memory is two counters for each project in use. */
export class Generations {
  readonly #byProject = new Map<ProjectId, ProjectGenerations>();
  readonly #shared: Int32Array | undefined;

  /** `shared` is the result of `sharedGenerations`; without it, this thread serves all requests. */
  constructor(shared?: Int32Array) {
    this.#shared = shared;
  }

  of(projectId: ProjectId): ProjectGenerations {
    const existing = this.#byProject.get(projectId);
    if (existing !== undefined) return existing;
    const first = shardOf(projectId, sharedProjects) * cellsOfProject;
    const counterAt = (cell: number) =>
      new ChangeCounter(this.#shared?.subarray(first + cell, first + cell + cellsOfCounter));
    const created = { series: counterAt(0), access: counterAt(cellsOfCounter) };
    this.#byProject.set(projectId, created);
    return created;
  }

  /** All projects in use. */
  all(): Iterable<ProjectGenerations> {
    return this.#byProject.values();
  }
}
