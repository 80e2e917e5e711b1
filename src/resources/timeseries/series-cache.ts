// Owns the series that the server has in memory, and the write plans made from them.
//
// Rules of invalidation:
// - A rename or delete runs in `generations.series.during` and calls `forget` before it commits. A value
//   that was read before or during it is not cached, and write plans made before it are not used.
// - A change of assets, links or security categories runs in `generations.access.during`. Every
//   filter of permitted series gets a new id, and entries for earlier ids are not used.
// - The id, the kind and the step of a series never change.
// - A front thread changes no series. A rename or delete by the main thread makes all cached series of the
//   project out of date in it.
import type { Generations, ProjectGenerations } from "../../access/generations.ts";
import { isPlain } from "../../lib/json-bytes.ts";
import { LruCache } from "../../lib/lru-cache.ts";
import { SizedCache } from "../../lib/sized-cache.ts";
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

/**
 * The id of a filter of permitted series, and the generations at one time. Take it before reading the
 * catalog.
 */
export interface CacheState {
  readonly filterId: number;
  readonly series: number;
  readonly access: number;
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
  /** The plan is valid for this filter and this generation of series. */
  readonly state: CacheState;
}

/** The filter id of callers who may do the action on all series. */
const allSeries = 0;

/** Shorter lists are resolved faster than a plan is found. */
const planLengthMin = 8;

export interface SeriesCacheOptions {
  /** Whether renames and deletes are made in this thread, and call `forget`. */
  readonly isOwner?: boolean;
  /** The threads that divide the limits among them. */
  readonly threads?: number;
}

/** One for each thread that serves requests. */
export class SeriesCache {
  readonly #generations: Generations;
  readonly #isOwner: boolean;
  readonly #keysMax: number;
  #projects = new LruCache<ProjectId, ProjectSeries>(limits.projectsCachedMax);
  /** By project and first name of the list: a client sends the same list in each scan cycle. */
  readonly #plans: SizedCache<string, WritePlan>;
  readonly #counts = { used: 0, made: 0 };
  #lastFilterId = allSeries;

  constructor(generations: Generations, { isOwner = true, threads = 1 }: SeriesCacheOptions = {}) {
    this.#generations = generations;
    this.#isOwner = isOwner;
    this.#keysMax = Math.ceil(limits.seriesKeysCachedMax / threads);
    this.#plans = new SizedCache(Math.ceil(limits.plannedSeriesMax / threads));
  }

  /** How many inserts used a stored plan, and how many plans were made. */
  get planCounts(): { readonly used: number; readonly made: number } {
    return this.#counts;
  }

  of(projectId: ProjectId): ProjectSeries {
    const existing = this.#projects.get(projectId);
    if (existing !== undefined && (this.#isOwner || existing.isCurrent)) return existing;
    const created = new ProjectSeries(this.#generations.of(projectId), {
      newFilterId: this.#newFilterId,
      isOwner: this.#isOwner,
      keysMax: this.#keysMax,
    });
    this.#projects.set(projectId, created);
    return created;
  }

  /** An id that no filter has had before: plans outlive the series of their project in memory. */
  readonly #newFilterId = (): number => {
    this.#lastFilterId += 1;
    return this.#lastFilterId;
  };

  /** Drops the series of a project that another server has changed. */
  forget(projectId: ProjectId): void {
    this.#projects.delete(projectId);
  }

  forgetAll(): void {
    this.#projects = new LruCache(limits.projectsCachedMax);
  }

  /** The plan of the last list that started with this key. Check it with `use` once all keys are known. */
  planStartingWith(projectId: ProjectId, key: SeriesKey): WritePlan | undefined {
    return typeof key === "string" ? this.#plans.get(planKey(projectId, key)) : undefined;
  }

  /** The plan of the last list that equals this one. Check it with `use`. */
  planOf(projectId: ProjectId, keys: readonly SeriesKey[]): WritePlan | undefined {
    const plan = this.planStartingWith(projectId, keys[0]!);
    if (plan?.keys === keys) return plan;
    if (plan?.keys.length !== keys.length) return undefined;
    for (let at = 0; at < keys.length; at += 1) if (plan.keys[at] !== keys[at]) return undefined;
    return plan;
  }

  /** The plan, if it is valid in this state. */
  use(projectId: ProjectId, plan: WritePlan | undefined, state: CacheState): WritePlan | undefined {
    if (plan?.state.filterId !== state.filterId) return undefined;
    if (!this.#generations.of(projectId).series.isUnchangedSince(plan.state.series)) return undefined;
    this.#counts.used += 1;
    return plan;
  }

  /** Stores the plan of a list of names that is likely to be repeated, unless a change has overtaken it. */
  store(projectId: ProjectId, plan: WritePlan): void {
    const { keys, state } = plan;
    if (keys.length < planLengthMin || keys.length > limits.writePlanSeriesMax) return;
    if (!keys.every((key) => typeof key === "string" && isPlain(key))) return;
    if (!isCurrent(this.#generations.of(projectId), state)) return;
    this.#counts.made += 1;
    this.#plans.set(planKey(projectId, keys[0]!), plan, keys.length);
  }
}

const planKey = (projectId: ProjectId, name: SeriesKey): string => `${projectId} ${name}`;

function isCurrent({ series, access }: ProjectGenerations, state: CacheState): boolean {
  if (!series.isUnchangedSince(state.series)) return false;
  return state.filterId === allSeries || access.isUnchangedSince(state.access);
}

/**
 * One object for each series, which write plans use too. A row of the catalog takes three times the memory.
 */
interface CachedSeries extends SeriesRef {
  /** Ids of filters that match it, the latest last. */
  readonly filterIds: readonly number[];
}

/** Shared by all series that only callers with all rights use. */
const noFilters: readonly number[] = [];

/** Callers with different rights that commonly share a series. */
const filtersPerSeriesMax = 8;

interface ProjectOptions {
  readonly newFilterId: () => number;
  readonly isOwner: boolean;
  /** Names and ids that stay in memory. */
  readonly keysMax: number;
}

/** The series of one project. */
class ProjectSeries {
  readonly #generations: ProjectGenerations;
  /** Each series under its name and under its id. */
  readonly #entries: LruCache<SeriesKey, CachedSeries>;
  #filterIds = new LruCache<string, number>(limits.rightsFiltersMax);
  #accessGeneration = 0;
  readonly #newFilterId: () => number;
  readonly #isOwner: boolean;
  /** The generation of series when it was created. */
  readonly #created: number;

  constructor(generations: ProjectGenerations, { newFilterId, isOwner, keysMax }: ProjectOptions) {
    this.#generations = generations;
    this.#entries = new LruCache(keysMax);
    this.#isOwner = isOwner;
    this.#newFilterId = newFilterId;
    this.#created = generations.series.state;
  }

  /** Whether no series of the project has been renamed or deleted since. */
  get isCurrent(): boolean {
    return this.#generations.series.state === this.#created;
  }

  stateFor(permitted: Filter): CacheState {
    const { series, access } = this.#generations;
    const known = this.#isOwner ? series.state : this.#created;
    return { filterId: this.#filterIdOf(permitted), series: known, access: access.state };
  }

  /** The series, if it is in memory and known to match the filter. */
  get(key: SeriesKey, { filterId }: CacheState): SeriesRef | undefined {
    const entry = this.#entries.get(key);
    return filterId === allSeries || entry?.filterIds.includes(filterId) ? entry : undefined;
  }

  /**
   * Stores series that the catalog has returned for a filter, unless a change has overtaken the read. Returns
   * the same series, without further fields.
   */
  store(found: readonly SeriesRef[], state: CacheState): readonly SeriesRef[] {
    const { series, access } = this.#generations;
    const mayStore = series.isUnchangedSince(state.series);
    const isPermitted = state.filterId !== allSeries && access.isUnchangedSince(state.access);
    return found.map(({ id, name, isString, isStep }) => {
      if (!mayStore) return { id, name, isString, isStep };
      const earlier = this.#entries.get(id)?.filterIds ?? noFilters;
      const filterIds = isPermitted ? withFilter(earlier, state.filterId) : earlier;
      const entry: CachedSeries = { id, name, isString, isStep, filterIds };
      this.#entries.set(name, entry);
      this.#entries.set(id, entry);
      return entry;
    });
  }

  forget(series: readonly Pick<SeriesRef, "id" | "name">[]): void {
    for (const { id, name } of series) {
      this.#entries.delete(id);
      this.#entries.delete(name);
    }
  }

  /** Equal filters have the same id until the generation of access changes. An id is never used again. */
  #filterIdOf(permitted: Filter): number {
    if (permitted.kind === "everything") return allSeries;
    const { state } = this.#generations.access;
    if (this.#accessGeneration !== state) {
      this.#filterIds = new LruCache(limits.rightsFiltersMax);
      this.#accessGeneration = state;
    }
    const text = JSON.stringify(permitted);
    const existing = this.#filterIds.get(text);
    if (existing !== undefined) return existing;
    const created = this.#newFilterId();
    this.#filterIds.set(text, created);
    return created;
  }
}

const withFilter = (filterIds: readonly number[], added: number): readonly number[] =>
  filterIds.includes(added) ? filterIds : [...filterIds, added].slice(-filtersPerSeriesMax);
