// The catalog on a SQL database: transactions and their end, the life of the whole.
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import type { System } from "../../lib/system.ts";
import { limits } from "../../limits.ts";
import type { AnyTable, Catalog, CatalogWriter, Tenant } from "../catalog.ts";
import type { Gathering } from "./compile-filter.ts";
import type { Db } from "./dialect.ts";
import { openSqlite } from "./dialects/sqlite/open.ts";
import { metaTable, prepareMeta, readLastId } from "./meta.ts";
import { checkTables } from "./tables.ts";
import { SqlTransaction } from "./transaction.ts";

export interface SqlCatalogSettings {
  /** The SQLite file; made when missing. */
  readonly file: string;
  /** All tables there are. Those the file lacks are made; columns new to it must be optional. */
  readonly tables: readonly AnyTable[];
  readonly system: System;
  /** Is told how far it is when a file with many records is brought up to date, which may take a minute. */
  readonly tell?: (text: string) => void;
  /** Other bounds than the usual ones, for tests: both ways to read give the same. */
  readonly gathering?: Gathering;
}

const usualGathering: Gathering = {
  missedFirst: limits.recordsMissedFirst,
  first: limits.recordsGatheredFirst,
  missed: limits.recordsMissedMax,
  most: limits.recordsGatheredMax,
  ranked: limits.recordsRankedMax,
};

/** Opens the catalog. Other processes may have the file open too; the next read sees their writes. */
export async function openSqlCatalog({
  file,
  tables,
  system,
  tell = () => {},
  gathering = usualGathering,
}: SqlCatalogSettings): Promise<Catalog> {
  checkTables(tables);
  const database = await openSqlite(file, [metaTable as AnyTable, ...tables], {
    prepared: (db) => prepareMeta(db, system.nowMs()),
    tell,
  });
  const running = new Set<Promise<unknown>>();
  let open = true;

  /** Runs the work as one transaction, and keeps the catalog open until it ends. */
  async function run<Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> {
    invariant(open, "a closed catalog gets no requests");
    const done = db.transaction().execute(work);
    running.add(done);
    return await done.finally(() => running.delete(done));
  }

  const runBound = <Result>(
    db: Db,
    tenant: Tenant,
    work: (tx: CatalogWriter) => Promise<Result>,
  ): Promise<Result> =>
    run(db, async (db) => {
      const tx = new SqlTransaction({ database, db, tables, tenant, gathering });
      return await work(tx).finally(() => tx.end());
    });

  return {
    read: (tenant, work) => runBound(database.reads, tenant, work),
    write: (tenant, work) =>
      runBound(database.writes, tenant, work).catch((error: unknown) => {
        const problem = database.refusedByDisk(error);
        throw problem === undefined ? error : fail("catalog-not-stored", { problem });
      }),
    lastId: () => run(database.reads, readLastId),
    async close() {
      open = false;
      await Promise.allSettled(running);
      await database.close();
    },
  };
}
