// Opens the stores of a data folder: catalog, datapoints, blobs. The first start creates them in an order
// that lets the next start resume after an interruption. Later starts refuse a folder in which a part is
// missing.
import { randomInt } from "node:crypto";
import type { Logger } from "pino";
import type { DataFolder } from "./data-folder.ts";
import { blobsFolderOf, cannotOpen, markedFolders, pointsFolderOf, requireParts } from "./data-parts.ts";
import { syncFolder } from "./lib/durable-files.ts";
import type { BlobStore } from "./storage/blobs.ts";
import type { Catalog } from "./storage/catalog.ts";
import type { DiskSpace } from "./storage/disk-space.ts";
import { openEmbeddedPoints, requireStore } from "./storage/embedded-points/embedded-points.ts";
import { openLocalBlobs } from "./storage/local-blobs/local-blobs.ts";
import { type Manifest, writeManifest, writeMark } from "./storage/manifest.ts";
import type { PointsStore } from "./storage/points.ts";

export interface DataStores {
  readonly catalog: Catalog;
  readonly points: PointsStore;
  readonly blobs: BlobStore;
}

export interface Opening {
  readonly folder: DataFolder;
  readonly openCatalog: () => Promise<Catalog>;
  readonly linkSecret: Uint8Array;
  readonly disk: DiskSpace;
  readonly log: Logger;
}

const foldersBelow = 2 ** 48 - 1;

/** Opens all stores, which close with `opened`; throws `StartRefused` when one is missing or damaged. */
export async function openStores(
  { folder: { path }, openCatalog, linkSecret, disk, log }: Opening,
  opened: AsyncDisposableStack,
): Promise<DataStores> {
  const known = await requireParts(path);
  const before: Manifest = known ?? {
    id: 1,
    folder: randomInt(foldersBelow),
    generation: 1,
    phase: "creating",
  };
  const isNew = before.phase === "creating";
  if (!isNew) await usable("datapoint store", requireStore(pointsFolderOf(path)), log);
  const openPoints = () => {
    const opening = openEmbeddedPoints({ folder: pointsFolderOf(path) });
    opened.defer(closerOf(opening));
    return opening;
  };
  // Catalog and points at once where both are there: each waits for threads of its own.
  const pointsSoon = isNew ? undefined : openPoints();
  const catalog = await usable("catalog", openCatalog(), log);
  opened.defer(() => catalog.close());
  const manifest = begun(before);
  // On a full disk a start writes nothing that it can do without: the parts stay of the same generation.
  const mayWrite = isNew || !disk.isFull;
  if (mayWrite) await writeManifest(catalog, manifest);
  await syncFolder(path);
  const points = await usable("datapoint store", pointsSoon ?? openPoints(), log);
  const blobs = await openLocalBlobs({ folder: blobsFolderOf(path), secret: linkSecret, disk });
  if (mayWrite) {
    for (const name of markedFolders) await writeMark(`${path}/${name}`, manifest);
    await writeManifest(catalog, { ...manifest, phase: "open" });
  }
  return { catalog, points, blobs };
}

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

async function usable<Store>(what: string, opening: Promise<Store>, log: Logger): Promise<Store> {
  try {
    return await opening;
  } catch (problem) {
    log.debug({ err: problem }, `Cannot open the ${what}`);
    throw cannotOpen(what, problem);
  }
}
