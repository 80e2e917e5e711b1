// Keeps in memory what datapoint operations need to know of a series, found by its name or by its id.
//
// A series never changes its id, kind or step; it can only be renamed or deleted, and both pass through
// `whileChanging` here. What is kept says nothing about assets or rights, so that neither can make it stale.
import { RecentMap } from "../../lib/recent-map.ts";
import { limits } from "../../limits.ts";
import type { Catalog, ProjectId } from "../../storage/catalog.ts";

export interface SeriesRef {
  readonly id: number;
  readonly name: string;
  readonly isString: boolean;
  readonly isStep: boolean;
}

/** How a request names a series: a text is a name, a number is an id. */
export type SeriesKey = string | number;

class SeriesNames {
  /** Each series under its name and under its id; texts and numbers cannot be mistaken for each other. */
  readonly #kept = new RecentMap<SeriesKey, SeriesRef>(limits.seriesKeysKeptMax);
  #changing = 0;
  #state = 0;

  get(key: SeriesKey): SeriesRef | undefined {
    return this.#kept.get(key);
  }

  /** Changes whenever a rename or a delete begins or ends; to be read before the catalog is asked. */
  get state(): number {
    return this.#state;
  }

  /** Keeps what the catalog answered, unless a rename or a delete may have overtaken that answer. */
  remember(series: readonly SeriesRef[], stateBefore: number): void {
    if (this.#changing > 0 || this.#state !== stateBefore) return;
    for (const { id, name, isString, isStep } of series) {
      const ref = { id, name, isString, isStep };
      this.#kept.set(name, ref);
      this.#kept.set(id, ref);
    }
  }

  /**
   * Runs a transaction that renames or deletes series. It must `forget` them before it commits; until it has
   * settled, and for reads begun before that, nothing is remembered, so the catalog alone decides.
   */
  async whileChanging<Answer>(change: () => Promise<Answer>): Promise<Answer> {
    this.#changing++;
    this.#state++;
    try {
      return await change();
    } finally {
      this.#changing--;
      this.#state++;
    }
  }

  forget(series: readonly Pick<SeriesRef, "id" | "name">[]): void {
    for (const { id, name } of series) {
      this.#kept.delete(id);
      this.#kept.delete(name);
    }
  }
}

const namesByCatalog = new WeakMap<Catalog, Map<ProjectId, SeriesNames>>();

/** The one memory of a project's series in this process, which alone writes to the catalog. */
export function seriesNamesOf(catalog: Catalog, project: ProjectId): SeriesNames {
  const byProject = namesByCatalog.get(catalog) ?? new Map<ProjectId, SeriesNames>();
  const names = byProject.get(project) ?? new SeriesNames();
  namesByCatalog.set(catalog, byProject.set(project, names));
  return names;
}
