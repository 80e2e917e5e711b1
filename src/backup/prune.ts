// Removes old backups of a folder, and the chunks that only they had.
import { StartRefused } from "../data-folder.ts";
import { readListing } from "./listing.ts";
import { DamagedChunk, poolFolders } from "./pool.ts";
import { manifestPath, type Repository } from "./repository.ts";

/** For how many days, weeks and months that have a backup their newest one stays. */
export interface Keep {
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

/** `DAYS,WEEKS,MONTHS`; undefined for another text. At least one backup stays. */
export function parseKeep(text: string): Keep | undefined {
  const [, days, weeks, months] = /^(\d{1,4}),(\d{1,4}),(\d{1,4})$/.exec(text) ?? [];
  if (months === undefined) return undefined;
  const keep = { days: Number(days), weeks: Number(weeks), months: Number(months) };
  return keep.days + keep.weeks + keep.months > 0 ? keep : undefined;
}

const dayMs = 24 * 3_600_000;
/** 1970-01-01 was a Thursday; weeks begin on Mondays. */
const daysBeforeMonday = 3;

/** The ids that stay; the newest always does. Days are those of UTC. */
export function keptIds(ids: readonly string[], { days, weeks, months }: Keep): ReadonlySet<string> {
  const newestFirst = ids.toSorted().reverse();
  const dayOf = (id: string) => Math.floor(timeOf(id) / dayMs);
  const kept = new Set(newestFirst.slice(0, 1));
  for (const [count, periodOf] of [
    [days, dayOf],
    [weeks, (id: string) => Math.floor((dayOf(id) + daysBeforeMonday) / 7)],
    [months, (id: string) => id.slice(0, 6)],
  ] as const) {
    const newestOf = new Map<number | string, string>();
    for (const id of newestFirst) if (!newestOf.has(periodOf(id))) newestOf.set(periodOf(id), id);
    for (const id of [...newestOf.values()].slice(0, count)) kept.add(id);
  }
  return kept;
}

const timeOf = (id: string): number =>
  Date.UTC(Number(id.slice(0, 4)), Number(id.slice(4, 6)) - 1, Number(id.slice(6, 8)));

export interface Pruned {
  readonly backups: number;
  readonly chunks: number;
}

/**
 * Call while no backup is written or read. Removes nothing if a backup that stays cannot be read: its chunks
 * would be unknown. Manifests are gone for good before the first chunk, so no manifest ever names a removed
 * chunk.
 */
export async function prune(repository: Repository, keep: Keep): Promise<Pruned> {
  const { place, pool } = repository;
  const ids = await repository.ids();
  const kept = keptIds(ids, keep);
  const used = new Set<string>();
  for (const id of kept) {
    try {
      const { listing } = await repository.manifest(id);
      for (const name of listing) used.add(name);
      for await (const { chunks } of readListing(pool, listing)) for (const name of chunks) used.add(name);
    } catch (problem) {
      if (!(problem instanceof StartRefused || problem instanceof DamagedChunk)) throw problem;
      throw new StartRefused(
        `the backup ${id}, which would stay, is damaged (${problem.message}). ` +
          `Restore needs another backup; delete ${manifestPath(id)} in ${place.name}`,
      );
    }
  }
  const obsolete = ids.filter((id) => !kept.has(id));
  for (const id of obsolete) await repository.removeManifest(id);
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
