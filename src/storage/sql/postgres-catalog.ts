// The catalog on PostgreSQL, which any number of servers share.

import { ClockIds } from "../../lib/ids.ts";
import { CannotOpen } from "../cannot-open.ts";
import type { AnyTable, SharedCatalog } from "../catalog.ts";
import type { Db } from "./dialect.ts";
import { serverLeases } from "./dialects/postgres/leases.ts";
import { postgresNameOf } from "./dialects/postgres/location.ts";
import { openPostgres } from "./dialects/postgres/open.ts";
import { reserveIds, sharedSecret, takeVersions } from "./dialects/postgres/shared.ts";
import { metaTable, prepareMeta } from "./meta.ts";
import { type CatalogSettings, catalogOn } from "./sql-catalog.ts";
import { checkTables } from "./tables.ts";

export interface PostgresCatalogSettings extends CatalogSettings {
  /** `postgres://user:password@host:port,host:port/database`, with the parameters that `pg` knows. */
  readonly url: string;
}

export async function openPostgresCatalog({
  url,
  ...settings
}: PostgresCatalogSettings): Promise<SharedCatalog> {
  const { tables, system, tell = () => {} } = settings;
  checkTables(tables);
  const opening = openPostgres(url, [metaTable as AnyTable, ...tables], {
    prepared: (db) => prepareMeta(db, system.nowMs()),
    // Higher than all ids of a catalog that is copied here.
    firstId: new ClockIds(system, 0).next(),
    tell,
  });
  const database = await reached(url, opening);
  const catalog = catalogOn(database, settings);
  const orRefused = <Result>(done: Promise<Result>): Promise<Result> =>
    done.catch((error: unknown) => {
      throw database.refusalOf(error) ?? error;
    });
  const runIn =
    (db: Db) =>
    <Result>(work: (db: Db) => Promise<Result>): Promise<Result> =>
      orRefused(db.transaction().execute(work));
  const [write, read] = [runIn(database.writes), runIn(database.reads)];
  return {
    ...catalog,
    leases: serverLeases({ write, read }),
    reserveIds: () => write(reserveIds),
    // Each insert of points waits for it. Without a transaction it has one round trip less.
    takeVersions: (count) => orRefused(takeVersions(database.writes, count)),
    observe: (observer) => database.watch.observe(observer),
  };
}

/** The secret of the installation that the database has; `own` becomes it where there is none. */
export const secretOfCatalog = (url: string, own: Uint8Array): Promise<Uint8Array> =>
  reached(url, sharedSecret(url, own));

/** Says which database cannot be reached, without its password. */
async function reached<Result>(url: string, result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (problem) {
    if (problem instanceof CannotOpen || isBroken(problem)) throw problem;
    const [first = problem] = (problem as AggregateError).errors ?? [];
    throw new CannotOpen(`PostgreSQL at ${postgresNameOf(url)}: ${(first as Error).message}`, "server");
  }
}

const isBroken = (problem: unknown): boolean => /^broken invariant/.test((problem as Error).message);
