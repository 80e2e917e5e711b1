// Opens the parts that the settings name: the data folder with its lock, the secret, and the stores.
import { hkdfSync } from "node:crypto";
import type { Logger } from "pino";
import { catalogBackend, isShared } from "./catalog-backend.ts";
import type { Settings } from "./config.ts";
import { catalogPlaceOf, openDataFolder } from "./data-folder.ts";
import { type DataStores, openStores, usable } from "./data-stores.ts";
import { watchDisk } from "./full-disk.ts";
import type { System } from "./lib/system.ts";
import type { DiskSpace } from "./storage/disk-space.ts";

export interface Installation {
  /** The keys that sign API keys, cursors and links are derived from it. */
  readonly secret: Uint8Array;
  readonly disk: DiskSpace;
  /** As in `Services`; empty for a catalog that servers share. */
  readonly catalogPlace: string;
  readonly stores: DataStores;
}

/** Opens the installation, which closes with `opened`; throws `StartRefused` if it cannot. */
export async function openInstallation(
  settings: Settings,
  { system, log }: { readonly system: System; readonly log: Logger },
  opened: AsyncDisposableStack,
): Promise<Installation> {
  const folder = openDataFolder(settings.data, system, (message) => log.warn(message));
  opened.defer(() => folder.release());
  const tell = progressTo(log);
  const catalogChosen = catalogBackend(settings, system, tell);
  const secret = await usable("catalog", catalogChosen.secret(folder.secret), log);
  const disk = opened.adopt(await watchDisk(folder.path, system, tell), (watch) => watch.close());
  const opening = { folder, catalogChosen, linkSecret: secretFor("links", secret), disk, system, log };
  const { blobs, points: pointsShards, aggregateCacheBytes } = settings;
  const stores = await openStores({ ...opening, blobs, pointsShards, aggregateCacheBytes }, opened);
  const catalogPlace = isShared(stores.catalog) ? "" : catalogPlaceOf(folder.path);
  return { secret, disk, catalogPlace, stores };
}

/** Writes progress messages to the log and to the console. */
const progressTo = (log: Logger) => (message: string) => {
  log.info(message);
  console.log(message);
};

/** Derives the secret of a purpose. */
export const secretFor = (purpose: string, secret: Uint8Array) =>
  new Uint8Array(hkdfSync("sha256", secret, "", `millrace ${purpose}`, 32));
