// Owns the series that the server has in memory, and the write plans made from them.
//
// Rules of invalidation:
// - A rename or delete runs in `generations.series.during` and calls `forget` before it commits. A value
//   that was read before or during it is not cached, and write plans made before it are not used.
// - A change of assets, links or security categories runs in `generations.scopes.during`. Every scope gets
//   a new id, and entries for earlier ids are not used.
// - The id, the kind and the step of a series never change.
import type { Generations, ProjectGenerations } from "../../access/generations.ts";
import { isPlain } from "../../lib/json-bytes.ts";
import { LruCache } from "../../lib/lru-cache.ts";
import { limits } from "../../limits.ts";
import type { Filter } from "../../query/filter.ts";
import type { ProjectId } from "../../storage/catalog.ts";

/** The parts of a series that datapoint operations need. */
export interface SeriesRef {
  readonly id: number;
  readonly name: string;
  readonly isString: boolean;
  readonly isStep: boolean;
}

/** How a request names a series: a string is a name, a number is an id. */
export type SeriesKey = string | number;

/** A scope and the generations at one time. Take it before reading the catalog. */
export interface CacheState {
  readonly scopeId: number;
  readonly series: number;
  readonly scopes: number;
}

/** A list of series that inserts repeat, resolved and checked for write access once. */
export interface WritePlan {
  readonly keys: readonly SeriesKey[];
  /** One for each key. */
  readonly series: readonly SeriesRef[];
  /** The ids of `series`, as the points store takes them. */
  readonly ids: Float64Array;
  /** Whether none of them holds strings. */
  readonly isNumeric: boolean;
  /** The plan is valid for this scope and this generation of series. */
  readonly state: CacheState;
}

/** Scope id of callers without bounds. */
const allSeries = 0;

/** Shorter lists are resolved faster than a plan is found. */
const planLengthMin = 8;

/** One for each server. */
export class SeriesCache {
  readonly #generations: Generations;
  readonly #projects = new LruCache<ProjectId, ProjectSeries>(limits.projectsCachedMax);
  /** By project and first name of the list: a client sends the same list in each scan cycle. */
  readonly #plans = new LruCache<string, WritePlan>(limits.writePlansMax);
  readonly #counts = { used: 0, made: 0 };
  #lastScopeId = allSeries;

  constructor(generations: Generations) {
    this.#generations = generations;
  }

  /** How many inserts used a stored plan, and how many plans were made. */
  get planCounts(): { readonly used: number; readonly made: number } {
    return this.#counts;
  }

  of(project: ProjectId): ProjectSeries {
    const existing = this.#projects.get(project);
    if (existing !== undefined) return existing;
    const created = new ProjectSeries(this.#generations.of(project), this.#newScopeId);
    this.#projects.set(project, created);
    return created;
  }

  /** An id that no scope has had before: plans outlive the series of their project in memory. */
  readonly #newScopeId = (): number => {
    this.#lastScopeId += 1;
    return this.#lastScopeId;
  };

  /** The plan of the last list that started with this key. Check it with `use` once all keys are known. */
  planStartingWith(project: ProjectId, key: SeriesKey): WritePlan | undefined {
    return typeof key === "string" ? this.#plans.get(planKey(project, key)) : undefined;
  }

  /** The plan, if it is valid in this state. */
  use(project: ProjectId, plan: WritePlan | undefined, state: CacheState): WritePlan | undefined {
    if (plan?.state.scopeId !== state.scopeId) return undefined;
    if (!this.#generations.of(project).series.isUnchangedSince(plan.state.series)) return undefined;
    this.#counts.used += 1;
    return plan;
  }

  /** Stores the plan of a list of names that is likely to be repeated, unless a change has overtaken it. */
  store(project: ProjectId, plan: WritePlan): void {
    const { keys, state } = plan;
    if (keys.length < planLengthMin || keys.length > limits.writePlanSeriesMax) return;
    if (!keys.every((key) => typeof key === "string" && isPlain(key))) return;
    if (!isCurrent(this.#generations.of(project), state)) return;
    this.#counts.made += 1;
    this.#plans.set(planKey(project, keys[0]!), plan);
  }
}

const planKey = (project: ProjectId, name: SeriesKey): string => `${project} ${name}`;

function isCurrent({ series, scopes }: ProjectGenerations, state: CacheState): boolean {
  if (!series.isUnchangedSince(state.series)) return false;
  return state.scopeId === allSeries || scopes.isUnchangedSince(state.scopes);
}

interface Entry {
  readonly ref: SeriesRef;
  /** Ids of scopes that contain it, the latest last. */
  readonly scopeIds: readonly number[];
}

/** Callers with different scopes that commonly share a series. */
const scopesPerSeriesMax = 8;

/** The series of one project. */
class ProjectSeries {
  readonly #generations: ProjectGenerations;
  /** Each series under its name and under its id. */
  readonly #entries = new LruCache<SeriesKey, Entry>(limits.seriesKeysCachedMax);
  #scopeIds = new LruCache<string, number>(limits.scopesCachedMax);
  #scopesGeneration = 0;
  readonly #newScopeId: () => number;

  constructor(generations: ProjectGenerations, newScopeId: () => number) {
    this.#generations = generations;
    this.#newScopeId = newScopeId;
  }

  stateFor(scope: Filter): CacheState {
    const { series, scopes } = this.#generations;
    return { scopeId: this.#scopeIdOf(scope), series: series.state, scopes: scopes.state };
  }

  /** The series, if it is in memory and known to be in the scope. */
  get(key: SeriesKey, { scopeId }: CacheState): SeriesRef | undefined {
    const entry = this.#entries.get(key);
    return scopeId === allSeries || entry?.scopeIds.includes(scopeId) ? entry?.ref : undefined;
  }

  /** Stores series that the catalog has returned for a scope, unless a change has overtaken the read. */
  store(found: readonly SeriesRef[], state: CacheState): void {
    const { series, scopes } = this.#generations;
    if (!series.isUnchangedSince(state.series)) return;
    const isInScope = state.scopeId !== allSeries && scopes.isUnchangedSince(state.scopes);
    for (const { id, name, isString, isStep } of found) {
      const scopeIds = new Set(this.#entries.get(id)?.scopeIds);
      if (isInScope) scopeIds.add(state.scopeId);
      const ref = { id, name, isString, isStep };
      const entry = { ref, scopeIds: [...scopeIds].slice(-scopesPerSeriesMax) };
      this.#entries.set(name, entry);
      this.#entries.set(id, entry);
    }
  }

  forget(series: readonly Pick<SeriesRef, "id" | "name">[]): void {
    for (const { id, name } of series) {
      this.#entries.delete(id);
      this.#entries.delete(name);
    }
  }

  /** Equal scopes have the same id until the generation of scopes changes. An id is never used again. */
  #scopeIdOf(scope: Filter): number {
    if (scope.kind === "everything") return allSeries;
    const { state } = this.#generations.scopes;
    if (this.#scopesGeneration !== state) {
      this.#scopeIds = new LruCache(limits.scopesCachedMax);
      this.#scopesGeneration = state;
    }
    const text = JSON.stringify(scope);
    const existing = this.#scopeIds.get(text);
    if (existing !== undefined) return existing;
    const created = this.#newScopeId();
    this.#scopeIds.set(text, created);
    return created;
  }
}
