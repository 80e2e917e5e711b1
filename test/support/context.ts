// Contexts for tests of resource modules: an administrator or another caller, over new catalogs.
import { join } from "node:path";
import { after, test } from "node:test";
import { administrator, type Capability } from "../../src/access/capabilities.ts";
import { Generations } from "../../src/access/generations.ts";
import type { RequestContext, Services } from "../../src/context.ts";
import { ClockIds } from "../../src/lib/ids.ts";
import { realSystem, type System } from "../../src/lib/system.ts";
import { cursorSigner } from "../../src/query/cursor.ts";
import { unboundedMemory } from "../../src/query/read-within.ts";
import { SeriesCache } from "../../src/resources/timeseries/series-cache.ts";
import type { AnyTable, Catalog, ProjectCatalog } from "../../src/storage/catalog.ts";
import { openNaiveCatalog } from "../../src/storage/conformance/naive-catalog.ts";
import { boundlessDisk } from "../../src/storage/disk-space.ts";
import { openSqlCatalog } from "../../src/storage/sql/sql-catalog.ts";
import { temporaryFolder } from "./folder.ts";

let nowMs = Date.UTC(2026, 0, 1);
/** Each look at the clock is a millisecond later. */
const system: System = {
  nowMs: () => nowMs++,
  monotonicMs: () => nowMs,
  randomBytes: (count) => new Uint8Array(count),
  freeDiskAt: realSystem.freeDiskAt,
};
const ids = new ClockIds(system, 0);
const cursors = cursorSigner(new Uint8Array(32));

/** A caller with these capabilities in a project, by default `demo`. */
export function contextWith(
  services: Services,
  capabilities: readonly Capability[],
  projectId = 1,
): RequestContext {
  const caller = { user: "test", groupIds: [], projectId, projectUrlName: "demo", capabilities };
  const { signal } = new AbortController();
  return { ...services, caller, projectId, signal, memory: unboundedMemory };
}

/**
 * An administrator of a new project. `others` has the services besides the catalog; all others are absent.
 */
export function newContext(catalog: ProjectCatalog, others: Partial<Services> = {}): RequestContext {
  const generations = new Generations();
  const caches = { generations, seriesCache: new SeriesCache(generations) };
  const services = { system, ids, catalog, cursors, disk: boundlessDisk, ...caches, ...others } as Services;
  return contextWith(services, administrator, ids.next());
}

export interface Catalogs {
  readonly naive: Catalog;
  readonly sqlite: Catalog;
}

/** Two catalogs with these tables, closed when the tests of the file have ended. */
export async function openCatalogs(tables: readonly AnyTable[]): Promise<Catalogs> {
  const file = join(temporaryFolder(), "catalog.db");
  const catalogs = {
    naive: openNaiveCatalog(tables),
    sqlite: await openSqlCatalog({ file, tables, system: realSystem }),
  };
  after(() => Promise.all([catalogs.naive.close(), catalogs.sqlite.close()]));
  return catalogs;
}

/** `scenario(name, run)` for a file: the same in each catalog, in a project of its own. */
export function scenariosIn(
  catalogs: Catalogs,
  contextIn: (catalog: Catalog) => RequestContext = newContext,
) {
  return (name: string, run: (ctx: RequestContext) => Promise<void>): void => {
    test(`${name} (in memory)`, () => run(contextIn(catalogs.naive)));
    test(`${name} (in SQLite)`, () => run(contextIn(catalogs.sqlite)));
  };
}
