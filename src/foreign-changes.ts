// Drops cached records of this server when another server that shares the catalog changes them.
import type { EndedSessions } from "./access/ended-sessions.ts";
import { isShared } from "./catalog-backend.ts";
import type { Services } from "./context.ts";
import type { GenerationName, ProjectCatalog, ProjectId } from "./storage/catalog.ts";

type Caches = Pick<Services, "generations" | "seriesCache" | "rights"> & {
  readonly ended: Pick<EndedSessions, "load">;
};

/** Observes the catalog, if other servers can write it. */
export function observeCatalog(catalog: ProjectCatalog, caches: Caches): void {
  if (!isShared(catalog)) return;
  catalog.observe({
    changed: ({ tenant, generation }) =>
      tenant === "system" || generation === "sessions"
        ? reloadSessions(caches)
        : dropped[generation](caches, tenant),
    lost: () => dropAll(caches),
  });
}

/** A value that is being read while these run is not cached: the counter changes first. */
const dropped: Readonly<
  Record<Exclude<GenerationName, "sessions">, (caches: Caches, project: ProjectId) => void>
> = {
  series({ generations, seriesCache }, project) {
    generations.of(project).series.changed();
    seriesCache.forget(project);
  },
  access: ({ generations }, project) => generations.of(project).access.changed(),
};

/** Rejects if the catalog does not respond; the catalog then reports the change again. */
async function reloadSessions({ ended, rights }: Caches): Promise<void> {
  rights.expire();
  await ended.load();
}

function dropAll(caches: Caches): void {
  const { generations, seriesCache, rights } = caches;
  for (const { series, access } of generations.all()) {
    series.changed();
    access.changed();
  }
  seriesCache.forgetAll();
  rights.expire();
}
