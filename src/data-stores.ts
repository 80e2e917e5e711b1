// Opens the stores of a data folder: catalog, datapoints, blobs. The first start creates them in an order
// that lets the next start resume after an interruption. Later starts refuse a folder in which a part is
// missing.
import { createHash, randomInt } from "node:crypto";
import type { Logger } from "pino";
import type { CatalogBackend } from "./catalog-backend.ts";
import { type DataFolder, StartRefused } from "./data-folder.ts";
import { blobsFolderOf, cannotOpen, markedFoldersOf, requireParts, spoolFolderOf } from "./data-parts.ts";
import { syncFolder } from "./lib/durable-files.ts";
import type { System } from "./lib/system.ts";
import { pointsBackend } from "./points-backend.ts";
import type { BlobStore } from "./storage/blobs.ts";
import type { Catalog } from "./storage/catalog.ts";
import type { ClickHouseShards } from "./storage/clickhouse-points/location.ts";
import type { DiskSpace } from "./storage/disk-space.ts";
import { openLocalBlobs } from "./storage/local-blobs/local-blobs.ts";
import { type Manifest, ownFolder, wasOpened, writeManifest, writeMark } from "./storage/manifest.ts";
import type { PointsStore } from "./storage/points.ts";
import { ForeignBucket } from "./storage/s3-blobs/owner.ts";
import { openS3Blobs, type S3Setting } from "./storage/s3-blobs/s3-blobs.ts";

export interface DataStores {
  readonly catalog: Catalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
}

export interface Opening {
  readonly folder: DataFolder;
  /** The S3 store of the bytes of files; absent when they are in the folder. */
  readonly blobs: S3Setting | undefined;
  /** The ClickHouse database of the datapoints; absent when they are in the folder. */
  readonly pointsShards: ClickHouseShards | undefined;
  readonly aggregateCacheBytes: number | undefined;
  readonly system: System;
  readonly catalogChosen: CatalogBackend;
  readonly linkSecret: Uint8Array;
  readonly disk: DiskSpace;
  readonly log: Logger;
}

const foldersBelow = 2 ** 48 - 1;

/** Opens all stores, which close with `opened`; throws `StartRefused` when one is missing or damaged. */
export async function openStores(opening: Opening, opened: AsyncDisposableStack): Promise<DataStores> {
  const { catalogChosen, disk, log } = opening;
  const { path } = opening.folder;
  const place = placeOf(opening);
  const openOwn = async () => {
    const catalog = await usable("catalog", catalogChosen.open(), log);
    opened.defer(() => catalog.close());
    return catalog;
  };
  const shared = catalogChosen.isShared ? await openOwn() : undefined;
  const known = await requireParts(place, shared);
  const number = randomInt(foldersBelow);
  const before: Manifest = known ?? {
    id: shared ? number : ownFolder,
    folder: number,
    generation: 1,
    phase: "creating",
  };
  const isNew = before.phase === "creating";
  const owner = ownerOf(opening, before);
  const { pointsShards: shards, aggregateCacheBytes } = opening;
  const pointsChosen = pointsBackend(path, { shards, owner, shared, aggregateCacheBytes });
  if (!isNew) await usable("datapoint store", pointsChosen.requireFolder(), log);
  const isUsed = !isNew || (shared !== undefined && (await wasOpened(shared)));
  const openPoints = () => {
    const store = pointsChosen.open(opening.system, log, isUsed);
    opened.defer(closerOf(store));
    return store;
  };
  // Catalog and points at once where both are there: each waits for threads of its own.
  const pointsSoon = isNew ? undefined : openPoints();
  const catalog = shared ?? (await openOwn());
  const manifest = begun(before);
  // On a full disk a start writes nothing that it can do without: the parts stay of the same generation.
  const mayWrite = isNew || !disk.isFull;
  if (mayWrite) await writeManifest(catalog, manifest);
  if (mayWrite && shared) await writeMark(path, manifest);
  await syncFolder(path);
  const points = await usable("datapoint store", pointsSoon ?? openPoints(), log);
  const blobs = await openBlobs(opening, owner);
  opened.defer(() => blobs.close());
  if (mayWrite) {
    for (const name of markedFoldersOf(place)) await writeMark(`${path}/${name}`, manifest);
    await pointsChosen.record();
    await writeManifest(catalog, { ...manifest, phase: "open" });
  }
  return { catalog, points, blobs };
}

const placeOf = ({ folder, blobs }: Opening) => ({ data: folder.path, ...(blobs && { blobs }) });

/** An S3 store that is away does not prevent a start, but one of another data folder does. */
async function openBlobs(opening: Opening, owner: number): Promise<BlobStore> {
  const { linkSecret: secret, disk, system, log, blobs: setting } = opening;
  const { path } = opening.folder;
  if (setting === undefined) return openLocalBlobs({ folder: blobsFolderOf(path), secret, disk });
  const onSweepFailure = (problem: unknown) =>
    log.error({ err: problem }, "Could not remove leftovers of uploads from the S3 store");
  const spoolFolder = spoolFolderOf(path);
  const blobs = await openS3Blobs({ setting, owner, secret, spoolFolder, disk, system, onSweepFailure });
  try {
    await blobs.check();
  } catch (problem) {
    if (problem instanceof ForeignBucket) {
      await blobs.close();
      throw new StartRefused(`${problem.message} (MILLRACE_BLOBS)`);
    }
    log.warn({ err: problem }, "The S3 store of files does not respond; all else is served");
  }
  return blobs;
}

/**
 * The catalog that owns files and datapoints on other machines. Servers of one catalog share its secret, but
 * not a data folder.
 */
const ownerOf = ({ catalogChosen, linkSecret }: Opening, { folder }: Manifest): number =>
  catalogChosen.isShared ? ownerOfSecret(linkSecret) : folder;

/** The number of a shared catalog, from the secret of its links. */
export const ownerOfSecret = (linkSecret: Uint8Array): number =>
  createHash("sha256").update(linkSecret).digest().readUIntBE(0, ownerBytes);

/** As many as a number holds exactly. */
const ownerBytes = 6;

/** Resumes an interrupted start; its marks are at most one generation older than the record. */
function begun(before: Manifest): Manifest {
  if (before.phase !== "open") return before;
  return { ...before, phase: "starting", generation: before.generation + 1 };
}

/** Closes a store that is being opened; that it cannot be is raised where it is awaited. */
function closerOf(opening: Promise<PointsStore>): () => Promise<void> {
  const opened = opening.catch(() => undefined);
  return async () => (await opened)?.close();
}

/** Waits for a store; refuses the start when it cannot be opened. */
export async function usable<Store>(what: string, opening: Promise<Store>, log: Logger): Promise<Store> {
  try {
    return await opening;
  } catch (problem) {
    log.debug({ err: problem }, `Cannot open the ${what}`);
    throw cannotOpen(what, problem);
  }
}
