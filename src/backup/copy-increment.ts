// Copies the changes since a backup or an increment: the catalog, the journal and new blobs. The files of the
// shards are those of the backup, and the journal has every change of datapoints since then.
import { version } from "../lib/version.ts";
import { Copier, type Copy, frozenFiles, requireNewer } from "./copy-data-folder.ts";
import { filesOf, readListing } from "./listing.ts";
import type { CopyProgress, CopyResult } from "./messages.ts";
import { idOf } from "./repository.ts";

const isShard = (path: string): boolean => /^points\/shard-/.test(path);
const isKept = (path: string): boolean =>
  isShard(path) || /^points\/journal-/.test(path) || /^blobs\/\d/.test(path);

/** Copies an increment to its repository; resolves when it is complete and durable. */
export async function copyIncrement(
  copy: Copy,
  report: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  const { repository, catalog, snapshot } = copy;
  const { from, blobs } = snapshot.increment!;
  const id = idOf(snapshot.snapshotMs);
  const ids = [...(await repository.ids()), ...(await repository.incrementIds())].sort();
  requireNewer(id, ids.at(-1), repository);
  const copier = new Copier(copy, report);
  const known = new Set<string>();
  const base = await repository.manifest(from);
  // Kept files come first, so that most chunks of the listing are those of the listing before.
  for await (const file of filesOf(readListing(repository.pool, base.listing))) {
    if (!isKept(file.path)) continue;
    known.add(file.path);
    await copier.addKnown(file);
  }
  for (const [path, source] of await frozenFiles(copy))
    if (!known.has(path)) await copier.copyFile(path, source);
  for (const { project, id: blob } of blobs)
    if (!known.has(`blobs/${project}/${blob}`)) await copier.copyNewBlob({ project, id: blob });
  const { snapshotMs, sample } = snapshot;
  const { files, bytes } = copier;
  const listing = await copier.listing.end();
  const { missing } = base;
  const about = { version, files, bytes, counts: catalog.counts(), missing, sample, listing };
  await repository.writeManifest({ id, from, snapshotMs, ...about });
  const bytesStored = repository.pool.stored.bytes;
  return { id, snapshotMs, files, bytes, missing: [], isNewFolder: false, bytesStored };
}
