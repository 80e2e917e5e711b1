// Removes old backups of a folder, and the chunks that only they had.
import { StartRefused } from "../data-folder.ts";
import { type Keep, keptIds, keptIncrementIds } from "./keep.ts";
import { readListing } from "./listing.ts";
import type { BackupPlace } from "./place.ts";
import { DamagedChunk, poolFolders } from "./pool.ts";
import { incrementPath, manifestPath, passphraseIn, Repository } from "./repository.ts";

/** Removes the old backups of a place. Throws `StartRefused` while another process uses it. */
export async function pruneAt(
  place: BackupPlace,
  { passphraseFile, ...rules }: PruneRules & { readonly passphraseFile?: string | undefined },
): Promise<Pruned> {
  await using _writing = await place.lock("write");
  await using _removal = await place.lock("removal");
  const repository = await Repository.open(place, passphraseIn(passphraseFile));
  return await prune(repository, rules);
}

export interface PruneRules {
  readonly keep: Keep;
  /** The id of a backup that was found in order; by default the newest counts as one. */
  readonly good?: string;
  /** The ids of backups that were found damaged: none of them is the one of its day, week or month. */
  readonly damaged?: readonly string[];
}

export interface Pruned {
  readonly backups: number;
  readonly chunks: number;
}

/**
 * Call while no backup is written or read. Removes nothing if a backup that stays cannot be read: its chunks
 * would be unknown. The removal of manifests is durable before that of the first chunk, so no manifest ever
 * names a removed chunk.
 */
export async function prune(
  repository: Repository,
  { keep, good, damaged = [] }: PruneRules,
): Promise<Pruned> {
  const { place, pool } = repository;
  const ids = await repository.ids();
  const kept = keptIds(
    ids.filter((id) => !damaged.includes(id)),
    keep,
    good,
  );
  const increments = await repository.incrementIds();
  const keptIncrements = keptIncrementIds(increments, ids);
  const used = new Set<string>();
  for (const id of [...kept, ...keptIncrements]) {
    try {
      const { listing } = await repository.manifest(id);
      for (const name of listing) used.add(name);
      for await (const { chunks } of readListing(pool, listing)) for (const name of chunks) used.add(name);
    } catch (problem) {
      if (!(problem instanceof StartRefused || problem instanceof DamagedChunk)) throw problem;
      const path = kept.has(id) ? manifestPath(id) : incrementPath(id);
      throw new StartRefused(
        `the backup ${id}, which would stay, is damaged (${problem.message}). ` +
          `Restore needs another backup; delete ${path} in ${place.name}`,
      );
    }
  }
  const obsolete = ids.filter((id) => !kept.has(id));
  for (const id of obsolete) await repository.removeManifest(id);
  for (const id of increments) if (!keptIncrements.has(id)) await repository.removeIncrement(id);
  await place.sync();
  let chunks = 0;
  for (const folder of poolFolders) {
    for (const name of await place.list(folder)) {
      if (used.has(name)) continue;
      await place.remove(`${folder}/${name}`);
      chunks += 1;
    }
    await place.removeDrafts(folder);
  }
  await place.sync();
  return { backups: obsolete.length, chunks };
}
