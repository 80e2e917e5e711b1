// Drops cached records of this server when another process changes them: a server that shares the catalog, or
// a command beside this server.
import type { EndedSessions } from "./access/ended-sessions.ts";
import { isShared } from "./catalog-backend.ts";
import type { Services } from "./context.ts";
import type { System } from "./lib/system.ts";
import { limits } from "./limits.ts";
import type { GenerationName, ProjectCatalog, ProjectId } from "./storage/catalog.ts";

type Caches = Pick<Services, "generations" | "seriesCache" | "rights"> & {
  readonly ended: Pick<EndedSessions, "load">;
};

/** Observes the catalog for changes by other processes, until it is closed. */
export function observeCatalog(catalog: ProjectCatalog, caches: Caches, system: System): void {
  if (isShared(catalog))
    catalog.observe({
      changed: ({ tenant, generation }) =>
        tenant === "system" || generation === "sessions"
          ? reloadSessions(caches)
          : dropped[generation](caches, tenant),
      lost: () => dropAll(caches),
    });
  else watchCommands(catalog, caches, system);
}

/**
 * Commands write only keys, accounts, groups and projects. Without this, callers would be read again after
 * each half second without requests, which takes three times as long as to read a latest value.
 */
function watchCommands(catalog: ProjectCatalog, { rights }: Caches, system: System): void {
  if (!catalog.foreignVersion) return;
  let known: number | undefined;
  let isReading = false;
  const read = async () => {
    const begunMs = system.monotonicMs();
    const version = await catalog.foreignVersion!();
    if (version === undefined) return clearInterval(timer);
    if (version !== known) rights.expire();
    known = version;
    rights.confirm(begunMs);
  };
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    const ended = () => {
      isReading = false;
    };
    // If it fails, cached rights count for `keyCacheMsMax`, and it is tried again.
    read().then(ended, ended);
  }, limits.keyCacheMsMax / 2).unref();
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
