// The catalog that the settings choose: a file in the data folder, or a database that several servers share.
import type { Settings } from "./config.ts";
import { catalogFileOf } from "./data-folder.ts";
import { fail } from "./errors.ts";
import { ClockIds, type IdSource, ReservedIds } from "./lib/ids.ts";
import type { System } from "./lib/system.ts";
import { limits } from "./limits.ts";
import { tables } from "./resources.ts";
import type { Catalog, ProjectCatalog, SharedCatalog } from "./storage/catalog.ts";
import { openSqlCatalog } from "./storage/sql/sql-catalog.ts";

type Chosen = Pick<Settings, "data" | "catalogUrl">;

export interface CatalogBackend {
  /** Whether the catalog is outside of the data folder. */
  readonly isShared: boolean;
  /** Opens the catalog; another process may have it open. */
  open(): Promise<Catalog>;
  /** The secret of the installation: that of the data folder, or of the first one in a shared database. */
  secret(ofFolder: Uint8Array): Promise<Uint8Array>;
}

/** Loaded only if the settings choose it: a start without PostgreSQL is as fast as before. */
const postgres = () => import("./storage/sql/postgres-catalog.ts");

/** The backend of the catalog that the settings choose. `tell` receives progress messages. */
export function catalogBackend(
  { data, catalogUrl: url }: Chosen,
  system: System,
  tell: (message: string) => void,
): CatalogBackend {
  if (url !== undefined)
    return {
      isShared: true,
      open: async () => (await postgres()).openPostgresCatalog({ url, tables, system, tell }),
      secret: async (ofFolder) => (await postgres()).secretOfCatalog(url, ofFolder),
    };
  return {
    isShared: false,
    open: () => openSqlCatalog({ file: catalogFileOf(data), tables, system, tell }),
    secret: async (ofFolder) => ofFolder,
  };
}

export const isShared = (catalog: ProjectCatalog): catalog is SharedCatalog => "reserveIds" in catalog;

/** The ids of new records. */
export async function openIds(catalog: Catalog, system: System): Promise<IdSource> {
  if (!isShared(catalog)) return new ClockIds(system, await catalog.lastId());
  return ReservedIds.open({
    count: limits.catalogIdsReserved,
    reserve: () => catalog.reserveIds(),
    exhausted: () => fail("catalog-away", { retryAfterSeconds: limits.catalogRetrySeconds }),
  });
}
