// Writes the files of a backup into a new data folder, and verifies each chunk on the way.
import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, statfs, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { restoreMarkName, StartRefused } from "../data-folder.ts";
import { syncFolder } from "../lib/durable-files.ts";
import { unlessMissing } from "../lib/missing-file.ts";
import { uploadTable } from "../resources/files/schema.ts";
import { addFunctions } from "../storage/sql/dialects/sqlite/functions.ts";
import { isEmptyFolder } from "./folder-place.ts";
import { countsIn } from "./frozen-catalog.ts";
import { type ListedPart, readListing } from "./listing.ts";
import type { BackupPlace } from "./place.ts";
import { type BackupManifest, idOf, passphraseIn, Repository } from "./repository.ts";

export interface ChosenBackup {
  readonly repository: Repository;
  readonly manifest: BackupManifest;
}

interface Choice {
  readonly id?: string | undefined;
  readonly untilMs?: number | undefined;
  readonly passphraseFile?: string | undefined;
}

/**
 * The backup or increment `id` of a place, else the newest one whose snapshot is not after `untilMs`. Throws
 * `StartRefused` if there is none.
 */
export async function chooseBackup(
  place: BackupPlace,
  { id, untilMs, passphraseFile }: Choice,
): Promise<ChosenBackup> {
  const repository = await Repository.open(place, passphraseIn(passphraseFile));
  const all = await allIds(repository);
  const ids = untilMs === undefined ? all : all.filter((one) => one <= idOf(untilMs));
  const chosen = id ?? ids.at(-1);
  if (chosen === undefined) {
    if (all.length === 0) throw new StartRefused(`${place.name} has no complete backup`);
    throw new StartRefused(`${place.name} has no backup as old as that; its oldest one is ${all[0]}`);
  }
  try {
    return { repository, manifest: await repository.manifest(chosen) };
  } catch (problem) {
    const previous = ids.filter((one) => one < chosen).at(-1);
    if (!(problem instanceof StartRefused) || previous === undefined) throw problem;
    throw new StartRefused(`${problem.message}. The backup before it: --backup ${previous}`);
  }
}

const allIds = async (repository: Repository): Promise<string[]> =>
  [...(await repository.ids()), ...(await repository.incrementIds())].sort();

/** Call it for a backup that seems damaged. Throws `StartRefused` if it was removed while it was read. */
export async function requireKept({ repository, manifest: { id } }: ChosenBackup): Promise<void> {
  if (!(await allIds(repository)).includes(id))
    throw new StartRefused(`The backup ${id} was removed while it was read; choose another`);
}

/**
 * Restores into `target`, which is empty or missing, or has an interrupted restore. A missing target appears
 * only when it is complete; one that exists, such as a mount point, is filled in place. Until all is there, a
 * mark in it keeps servers away. Throws `StartRefused` and `DamagedChunk`.
 */
export async function restoreBackup(
  backup: ChosenBackup,
  target: string,
  report: (bytesDone: number) => void,
): Promise<void> {
  try {
    const isInPlace = (await unlessMissing(stat(target))) !== undefined;
    const draft = isInPlace ? target : join(dirname(target), `${basename(target)}.restoring`);
    await makeMarked(draft);
    await requireSpace(draft, backup.manifest.bytes);
    await writeFiles(backup, draft, { isWanted: () => true, report });
    finishCatalog(join(draft, "catalog.db"), backup.manifest);
    await syncFolder(draft);
    if (!isInPlace) await rename(draft, target);
    await syncFolder(dirname(target));
    await unlink(join(target, restoreMarkName));
    await syncFolder(target);
  } catch (problem) {
    const { syscall, message } = problem as NodeJS.ErrnoException;
    if (syscall === undefined) throw problem;
    throw new StartRefused(`Cannot restore to ${target}: ${message}`);
  }
}

/** Makes a folder that has the mark alone. Removes the files that an interrupted restore has left there. */
async function makeMarked(folder: string): Promise<void> {
  const mark = join(folder, restoreMarkName);
  const isInterrupted = (await unlessMissing(stat(mark))) !== undefined;
  if (!isInterrupted && !(await isEmptyFolder(folder)))
    throw new StartRefused(`${folder} is not empty; restore to a new folder, or move its content away`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(mark, "");
  await syncFolder(folder);
  for (const name of await readdir(folder))
    if (name !== restoreMarkName) await rm(join(folder, name), { recursive: true });
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < bytes)
    throw new StartRefused(`The restore needs ${bytes} bytes; ${bavail * bsize} are free in ${folder}`);
}

interface Writing {
  readonly isWanted: (path: string) => boolean;
  readonly report: (bytesDone: number) => void;
}

/** Writes the files of a backup into a folder. Throws `DamagedChunk`. */
export async function writeFiles(
  { repository, manifest }: ChosenBackup,
  folder: string,
  { isWanted, report }: Writing,
): Promise<void> {
  const writer = new FileWriter(folder);
  let bytesDone = 0;
  let files = 0;
  let path: string | undefined;
  try {
    for await (const part of readListing(repository.pool, manifest.listing)) {
      if (part.path !== path) files += 1;
      path = part.path;
      if (!isWanted(part.path)) continue;
      await writer.begin(part);
      for (const read of repository.pool.readAhead(part.chunks)) {
        const bytes = await read;
        await writer.write(bytes);
        bytesDone += bytes.length;
        report(bytesDone);
      }
    }
    await writer.end();
  } finally {
    await writer.close();
  }
  if (files !== manifest.files)
    throw new StartRefused(`The backup lists ${files} files, its manifest has ${manifest.files}`);
}

/** A listing names no other places. */
const isPath = (path: string): boolean =>
  /^(catalog\.db|secret|points\/[\w-][\w.-]*|blobs\/identity\.json|blobs\/\d+\/\d+)$/.test(path);

/** Writes one file after the other. */
class FileWriter {
  readonly #folder: string;
  readonly #folders = new Set<string>();
  #part: ListedPart | undefined;
  #file: Awaited<ReturnType<typeof open>> | undefined;
  #written = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Continues the file of the part before, or ends that one. */
  async begin(part: ListedPart): Promise<void> {
    const { path } = part;
    if (path === this.#part?.path) return;
    await this.#endFile();
    if (!isPath(path)) throw new StartRefused(`The backup lists ${path}, which is no file of a data folder`);
    const target = join(this.#folder, path);
    if (!this.#folders.has(dirname(target))) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    this.#folders.add(dirname(target));
    this.#file = await open(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    this.#part = part;
    this.#written = 0;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file!.write(
        bytes,
        done,
        bytes.length - done,
        this.#written + done,
      );
      done += bytesWritten;
    }
    this.#written += bytes.length;
  }

  async end(): Promise<void> {
    await this.#endFile();
    for (const folder of this.#folders) await syncFolder(folder);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #endFile(): Promise<void> {
    if (this.#part === undefined) return;
    const { path, bytes } = this.#part;
    if (bytes !== this.#written)
      throw new StartRefused(`The backup has ${this.#written} bytes of ${path}, which had ${bytes}`);
    await this.#file!.datasync();
    await this.close();
  }
}

/**
 * A backup has no bytes of unfinished uploads, so these start at their first byte. Refuses a catalog that
 * lacks records.
 */
function finishCatalog(path: string, { counts }: BackupManifest): void {
  const database = new DatabaseSync(path);
  try {
    addFunctions(database);
    const found = countsIn(database);
    if (found.series !== counts.series || found.files !== counts.files)
      throw new StartRefused(
        `The restored catalog has ${found.series} series and ${found.files} files; ` +
          `at the time of the snapshot of the backup it had ${counts.series} and ${counts.files}`,
      );
    database.exec(`UPDATE "${uploadTable.name}" SET received = 0`);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}
