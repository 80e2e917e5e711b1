// Keeps in memory what datapoint operations need to know of a series, found by its name or by its id.
//
// A series never changes its id, kind or step; it can only be renamed or deleted, and both pass through
// `whileChanging` here. Callers without bounds may have all that is kept; for others it is noted by which
// scopes a series is reached, under numbers that are given anew when anything moves (`access/reach.ts`).
import { ChangeCounter } from "../../lib/change-counter.ts";
import { LruCache } from "../../lib/lru-cache.ts";
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

interface Kept {
  readonly ref: SeriesRef;
  /** Numbers of the scopes that are known to hold it, the latest last. */
  reachedBy: readonly number[];
}

/** Callers with different scopes that commonly share a series. */
const scopesPerSeriesMax = 8;

/** What must not have changed since the catalog was asked, so that its answer may be kept. */
interface Asked {
  readonly state: number;
  /** The number of the scope that was asked for, and the state of what it reaches; absent without bounds. */
  readonly reach?: { readonly number: number; readonly isUnchanged: () => boolean };
}

/** What a list of keys was found to be. */
interface FoundList {
  readonly state: number;
  readonly scope: number | undefined;
  readonly series: readonly SeriesRef[];
}

/** Shorter lists are found sooner than remembered. */
const listLengthMin = 8;

class SeriesNames {
  /** For renames and deletes. */
  readonly gate = new ChangeCounter();
  /** Each series under its name and under its id; texts and numbers cannot be mistaken for each other. */
  readonly #kept = new LruCache<SeriesKey, Kept>(limits.seriesKeysKeptMax);
  /** Lists that do not change once they are made. */
  readonly #lists = new WeakMap<readonly SeriesKey[], FoundList>();

  /** The series, if it is kept and, with `scope`, known to be reached by the scope of that number. */
  get(key: SeriesKey, scope?: number): SeriesRef | undefined {
    const kept = this.#kept.get(key);
    if (scope !== undefined && !kept?.reachedBy.includes(scope)) return undefined;
    return kept?.ref;
  }

  /** As `get` for each key; for a list asked before, when all were found, at the cost of one. */
  getAll(keys: readonly SeriesKey[], scope?: number): readonly (SeriesRef | undefined)[] {
    if (keys.length < listLengthMin) return keys.map((key) => this.get(key, scope));
    const before = this.#lists.get(keys);
    if (before?.scope === scope && before !== undefined && this.gate.isUnchangedSince(before.state))
      return before.series;
    const found = keys.map((key) => this.get(key, scope));
    if (!found.includes(undefined))
      this.#lists.set(keys, { state: this.gate.state, scope, series: found as SeriesRef[] });
    return found;
  }

  /** Keeps what the catalog answered, unless a rename, a delete or a move may have overtaken that answer. */
  remember(series: readonly SeriesRef[], { state, reach }: Asked): void {
    if (!this.gate.isUnchangedSince(state)) return;
    const isReachKnown = reach?.isUnchanged() ?? false;
    for (const { id, name, isString, isStep } of series) {
      const kept = this.#kept.get(id) ?? { ref: { id, name, isString, isStep }, reachedBy: [] };
      if (isReachKnown && !kept.reachedBy.includes(reach!.number))
        kept.reachedBy = [...kept.reachedBy.slice(1 - scopesPerSeriesMax), reach!.number];
      this.#kept.set(name, kept);
      this.#kept.set(id, kept);
    }
  }

  /**
   * Runs a transaction that renames or deletes series. It must `forget` them before it commits; until it has
   * settled, and for reads begun before that, nothing is remembered, so the catalog alone decides.
   */
  whileChanging<Answer>(change: () => Promise<Answer>): Promise<Answer> {
    return this.gate.during(change);
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
