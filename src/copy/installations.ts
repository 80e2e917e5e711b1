// Opens the source and the target of a copy, and marks both in their catalogs.
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { type App, openApp } from "../app.ts";
import { isShared, openIds } from "../catalog-backend.ts";
import type { Settings } from "../config.ts";
import { adoptSecret, StartRefused } from "../data-folder.ts";
import { requireCatalog } from "../data-parts.ts";
import type { DataStores } from "../data-stores.ts";
import { openInstallation } from "../installation.ts";
import type { IdSource } from "../lib/ids.ts";
import { realSystem as system } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { everything } from "../query/filter.ts";
import { tables } from "../resources.ts";
import type { AnyTable, Catalog } from "../storage/catalog.ts";
import { manifestTable } from "../storage/manifest.ts";
import { ServerLease } from "../storage/server-lease.ts";
import { type CopyRecord, copyRecordOf, writeCopyRecord } from "./copy-record.ts";

/** One side of a copy, as its operator named it. */
export interface Side {
  readonly name: string;
  readonly settings: Settings;
}

export interface CopySource {
  /** Serves reads when it listens. */
  readonly app: App;
  readonly stores: DataStores;
  readonly record: CopyRecord;
}

/** Opens the source and marks it, so that nothing changes it until the copy is complete or given up. */
export async function openSource(
  from: Side,
  { to, log }: { readonly to: Side; readonly log: Logger },
  opened: AsyncDisposableStack,
): Promise<CopySource> {
  if (from.settings.catalogUrl === undefined) requireCatalog(from.settings.data);
  const app = await openApp({ ...from.settings, hostsModels: false }, system, log, { isReadOnly: true });
  opened.defer(() => app.close());
  const { stores } = app.installation;
  const { catalog } = stores;
  const found = await copyRecordOf(catalog);
  if (found?.role === "target")
    throw new StartRefused(`${from.name} is an unfinished copy of ${found.other}`);
  if (found && found.other !== to.name)
    throw new StartRefused(`${from.name} ${stateOf(found)} to ${found.other}.
To give that copy up: millrace copy --from ${from.name} --release`);
  const record: CopyRecord = found ?? {
    id: (await catalog.lastId()) + 1,
    ...{ role: "source", copy: randomInt(copiesMax), phase: "copying", other: to.name },
  };
  if (!found) await writeCopyRecord(catalog, record);
  await requireNoServer(from.name, catalog, app.services.lease);
  return { app, stores, record };
}

const stateOf = ({ phase }: CopyRecord): string => (phase === "moved" ? "was moved" : "is being copied");

const copiesMax = 2 ** 48 - 1;

/** Opens the target, which is empty or has a part of this copy. */
export async function openTarget(
  { app, stores: source, record }: CopySource,
  { from, to }: { readonly from: Side; readonly to: Side },
  { log, opened }: { readonly log: Logger; readonly opened: AsyncDisposableStack },
): Promise<DataStores> {
  const { secret } = app.installation;
  adoptSecret(to.settings.data, secret);
  const target = await openInstallation(to.settings, { system, log }, opened);
  if (!Buffer.from(target.secret).equals(secret))
    throw new StartRefused(`The database of ${to.name} belongs to another installation; choose an empty one`);
  const { catalog } = target.stores;
  const ids = await openIds(catalog, system);
  const lease = opened.adopt(await leaseOn(catalog, ids, log), (one) => one.end());
  await requireNoServer(to.name, catalog, lease);
  const found = await copyRecordOf(catalog);
  if (found === undefined) {
    if (record.phase === "moved") throw new StartRefused(`${from.name} was moved to ${to.name} already`);
    await requireEmpty(to.name, target.stores);
    // In a folder, the record of the copy raises the ids.
    if (isShared(catalog) && ids.next() <= (await source.catalog.lastId()))
      throw new StartRefused(
        `The database of ${to.name} is older than records of ${from.name}; use a new one`,
      );
    await writeCopyRecord(catalog, { ...record, role: "target", other: from.name });
  } else if (found.role !== "target" || found.copy !== record.copy)
    throw new StartRefused(`${to.name} belongs to another copy, that of ${found.other}; choose an empty one`);
  return target.stores;
}

/** Makes the target an installation of its own, and prevents starts of the source. */
export async function finishCopy({ stores, record }: CopySource, to: DataStores): Promise<void> {
  await writeCopyRecord(stores.catalog, { ...record, phase: "moved" });
  // Removed last: a later run refuses a target that has data but no record.
  await writeCopyRecord(to.catalog, undefined);
}

/** Lets the servers of a source start again. */
export async function releaseSource({ name, settings }: Side, log: Logger): Promise<void> {
  if (settings.catalogUrl === undefined) requireCatalog(settings.data);
  await using opened = new AsyncDisposableStack();
  const { catalog } = (await openInstallation(settings, { system, log }, opened)).stores;
  const lease = opened.adopt(await leaseOn(catalog, await openIds(catalog, system), log), (one) => one.end());
  await requireNoServer(name, catalog, lease);
  const found = await copyRecordOf(catalog);
  if (found?.role === "target")
    throw new StartRefused(`${name} is an unfinished copy of ${found.other}, and cannot be used alone`);
  await writeCopyRecord(catalog, undefined);
}

const leaseOn = (catalog: Catalog, ids: IdSource, log: Logger): Promise<ServerLease> =>
  ServerLease.open(isShared(catalog) ? catalog.leases : undefined, {
    ...{ ids, system },
    report: (problem) => log.error({ err: problem }, "Could not renew the lease of the copy"),
  });

/** Waits for the leases of killed processes to expire; throws `StartRefused` while another one is renewed. */
async function requireNoServer(name: string, catalog: Catalog, { owner }: ServerLease): Promise<void> {
  if (!isShared(catalog)) return;
  const { leases } = catalog;
  for (let waitedMs = 0; ; waitedMs += limits.serverLeaseRenewMs) {
    await leases.endExpired();
    const others = (await leases.list()).filter(({ number, hasEnded }) => !hasEnded && number !== owner);
    if (others.length === 0) return;
    if (waitedMs > limits.serverLeaseMs)
      throw new StartRefused(`${others.length} servers of ${name} run; stop them, then run this again`);
    await pause(limits.serverLeaseRenewMs);
  }
}

async function requireEmpty(name: string, { catalog, points }: DataStores): Promise<void> {
  const ofSystem = tables.filter((one) => one.belongsTo === "system" && one !== (manifestTable as AnyTable));
  for (const table of ofSystem)
    if ((await catalog.read("system", (tx) => tx.count(table, everything))) > 0)
      throw new StartRefused(`${name} has data already (table ${table.name}); choose an empty target`);
  const stored = (await points.stats()).points;
  if (stored > 0) throw new StartRefused(`${name} has ${stored} datapoints already; choose an empty target`);
}
