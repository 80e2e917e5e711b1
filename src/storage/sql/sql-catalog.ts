// The catalog on a SQL database: transactions and their end, the life of the whole.
import { invariant } from "../../lib/invariant.ts";
import type { System } from "../../lib/system.ts";
import { version as ownVersion } from "../../lib/version.ts";
import { limits } from "../../limits.ts";
import type { AnyTable, Catalog, Tenant } from "../catalog.ts";
import type { ScanLimits } from "./compile-filter.ts";
import type { Database, Db } from "./dialect.ts";
import { openSqlite, openSqliteReader } from "./dialects/sqlite/open.ts";
import { metaTable, noteTablesVersion, prepareMeta, refuseNewerTables } from "./meta.ts";
import { checkTables } from "./tables.ts";
import { SqlTransaction } from "./transaction.ts";

export interface CatalogSettings {
  /** All tables there are. Those the database lacks are made; columns new to it must be optional. */
  readonly tables: readonly AnyTable[];
  readonly system: System;
  /** Receives progress while a catalog with many records is upgraded, which may take a minute. */
  readonly tell?: (text: string) => void;
  /** Other bounds than the usual ones, for tests: both ways to read give the same. */
  readonly scanLimits?: ScanLimits;
}

export interface SqlCatalogSettings extends CatalogSettings {
  /** The SQLite file; made when missing. */
  readonly file: string;
  /** Another version of Millrace than this one, for tests. */
  readonly version?: string;
}

const usualScanLimits: ScanLimits = {
  rejectedFirstMax: limits.recordsRejectedFirst,
  lookupFirstMax: limits.recordsLookedUpFirst,
  rejectedMax: limits.recordsRejectedMax,
  lookupMax: limits.recordsLookedUpMax,
  rankedMax: limits.recordsRankedMax,
};

/** Opens the catalog. Other processes may have the file open too; the next read sees their writes. */
export async function openSqlCatalog({ file, ...settings }: SqlCatalogSettings): Promise<Catalog> {
  const { tables, system, tell = () => {}, version = ownVersion } = settings;
  checkTables(tables);
  const database = await openSqlite(file, [metaTable as AnyTable, ...tables], {
    version,
    existing: (db) => refuseNewerTables(db, version),
    async prepared(db, { hasAdded }) {
      await prepareMeta(db, system.nowMs());
      if (hasAdded) await noteTablesVersion(db, version);
    },
    tell,
  });
  return catalogOn(database, settings);
}

/** Reads the catalog of this process in another thread. It sees every write that has returned. */
export const openSqlReader = ({
  file,
  tables,
}: Pick<SqlCatalogSettings, "file" | "tables">): Pick<Catalog, "read" | "close"> =>
  catalogOn(openSqliteReader(file), { tables });

/** The catalog on an open database, which it closes. */
export function catalogOn(
  database: Database,
  { tables, scanLimits = usualScanLimits }: Pick<CatalogSettings, "tables" | "scanLimits">,
): Catalog {
  const running = new Set<Promise<unknown>>();
  let open = true;

  /** Runs the work as one transaction, and keeps the catalog open until it ends. */
  async function run<Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
    invariant(open, "a closed catalog gets no requests");
    const done = db.transaction().execute(work);
    running.add(done);
    try {
      return await done;
    } catch (error) {
      throw database.refusalOf(error) ?? error;
    } finally {
      running.delete(done);
    }
  }

  /** Tenants are locked in their order, which is the same for all transactions. */
  const runBound = <Result>(
    mode: "reads" | "writes",
    tenants: readonly Tenant[],
    work: (...bound: SqlTransaction[]) => Promise<Result>,
  ): Promise<Result> =>
    run(database[mode], async (db) => {
      if (mode === "writes") for (const tenant of tenants) await database.beginWrite?.(db, tenant);
      const bound = tenants.map((tenant) => new SqlTransaction({ database, db, tables, tenant, scanLimits }));
      const result = await work(...bound).finally(() => {
        for (const tx of bound) tx.end();
      });
      for (const [at, tx] of bound.entries()) await database.announce?.(db, tenants[at]!, [...tx.announced]);
      return result;
    });

  return {
    read: (tenant, work) => runBound("reads", [tenant], (tx) => work(tx!)),
    write: (tenant, work) => runBound("writes", [tenant], (tx) => work(tx!)),
    writeBoth: (project, work) => runBound("writes", ["system", project], (system, tx) => work(tx!, system!)),
    lastId: () => run(database.reads, database.readLastId),
    ...(database.foreignVersion && {
      foreignVersion: async () => (open ? database.foreignVersion!() : undefined),
    }),
    async close() {
      open = false;
      await Promise.allSettled(running);
      await database.close();
    },
  };
}
