// Copies the files of a data folder as of one snapshot into the pool of a place of backups.
import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { StartRefused } from "../data-folder.ts";
import { unlessMissing } from "../lib/missing-file.ts";
import { version } from "../lib/version.ts";
import type { BlobKey } from "../storage/blobs.ts";
import type { NamedBlob } from "../storage/sql/dialects/sqlite/peek.ts";
import { bytesPerSpaceCheck } from "./folder-place.ts";
import type { FrozenCatalog } from "./frozen-catalog.ts";
import { filesOf, type ListedPart, ListingWriter, readListing } from "./listing.ts";
import type { CopyProgress, CopyResult, CopyTask, Snapshot } from "./messages.ts";
import { Pace } from "./pace.ts";
import { chunkBytes } from "./pool.ts";
import { idOf, manifestPath, type Repository } from "./repository.ts";

export interface Copy extends CopyTask {
  readonly snapshot: Snapshot;
  readonly repository: Repository;
  readonly catalog: FrozenCatalog;
}

/** Returns when the backup is complete and durable. */
export async function copyDataFolder(
  copy: Copy,
  report: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  const { repository, catalog, snapshot } = copy;
  const { pool } = repository;
  const previous = (await repository.ids()).at(-1);
  const id = idOf(snapshot.snapshotMs);
  requireNewer(id, previous, repository);
  const copier = new Copier(copy, report);
  await copier.measure();
  for (const [path, source] of await frozenFiles(copy)) await copier.copyFile(path, source);
  const blobs = previous === undefined ? noBlobs() : blobsIn(repository, previous);
  for (const blob of catalog.blobs()) await copier.copyBlob(blob, blobs);
  const { snapshotMs, sample } = snapshot;
  const { files, bytes, missing } = copier;
  const listing = await copier.listing.end();
  const counts = catalog.counts();
  await repository.writeManifest({ id, snapshotMs, version, files, bytes, counts, missing, sample, listing });
  const isNewFolder = previous === undefined;
  return { id, snapshotMs, files, bytes, missing, isNewFolder, bytesStored: pool.stored.bytes };
}

/** Throws `StartRefused` unless an id is of a later time than the newest one of the place. */
export function requireNewer(id: string, newest: string | undefined, { place }: Repository): void {
  if (newest === undefined || id > newest) return;
  throw new StartRefused(
    `The folder has the backup ${newest}, which is newer than now: a clock is or was wrong. ` +
      `Set the clock right. If that time is wrong, move ${manifestPath(newest)} out of ${place.name}`,
  );
}

/** The files of the data folder except blobs, with their places. */
export async function frozenFiles({ data, snapshot }: Copy): Promise<[string, string][]> {
  const names = await readdir(join(data, "points"), { withFileTypes: true });
  const small = names.filter((entry) => entry.isFile() && isOwnFile(entry.name)).map(({ name }) => name);
  const paths = ["catalog.db", "secret", ...small.map((name) => `points/${name}`), "blobs/identity.json"];
  const journal = (await readdir(snapshot.journal)).sort();
  return [
    ...paths.map((path): [string, string] => [path, join(data, path)]),
    ...journal.map((name): [string, string] => [`points/${name}`, join(snapshot.journal, name)]),
  ];
}

/** Of the points folder: not the journal, the files that SQLite keeps beside a database, and leftovers. */
const isOwnFile = (name: string): boolean =>
  !/^(damaged-)?journal-/.test(name) && !/(-wal|-shm|-journal|\.new)$/.test(name);

type PreviousBlobs = AsyncIterator<ListedPart>;

async function* noBlobs(): AsyncGenerator<ListedPart> {}

/** The blobs of an earlier backup. A listing that cannot be read saves nothing. */
async function* blobsIn(repository: Repository, id: string): AsyncGenerator<ListedPart> {
  try {
    const { listing } = await repository.manifest(id);
    for await (const file of filesOf(readListing(repository.pool, listing))) if (keyOf(file.path)) yield file;
  } catch {
    // The copy reads the files instead.
  }
}

/** Project and id of a blob, from its path. */
function keyOf(path: string): readonly [number, number] | undefined {
  const [, project, id] = /^blobs\/(\d+)\/(\d+)$/.exec(path) ?? [];
  return id === undefined ? undefined : [Number(project), Number(id)];
}

export class Copier {
  readonly listing: ListingWriter;
  files = 0;
  bytes = 0;
  readonly missing: string[] = [];
  readonly #copy: Copy;
  readonly #report: (progress: CopyProgress) => void;
  readonly #pace = new Pace();
  #bytesTotal = 0;
  #bytesRead = 0;
  #nextDiskCheck = 0;
  /** The blob of the earlier backup that comes next. */
  #previous: ListedPart | undefined;
  #hasPrevious = true;
  /** Open until the process ends. */
  readonly #openFiles: FileHandle[] = [];

  constructor(copy: Copy, report: (progress: CopyProgress) => void) {
    this.#copy = copy;
    this.#report = report;
    this.listing = new ListingWriter(copy.repository.pool);
  }

  /** Adds up the bytes to copy. */
  async measure(): Promise<void> {
    for (const [, path] of await frozenFiles(this.#copy)) this.#bytesTotal += (await stat(path)).size;
    for (const { bytes } of this.#copy.catalog.blobs()) this.#bytesTotal += bytes;
  }

  /** Adds a file that an earlier backup has. */
  async addKnown(file: ListedPart): Promise<void> {
    await this.#add(file);
  }

  async copyFile(path: string, source: string): Promise<void> {
    const before = await stat(source, { bigint: true });
    // Never closed: that would release the locks of this process on a database. The process ends soon.
    const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW);
    this.#openFiles.push(file);
    const chunks = await this.#chunks(file, Number(before.size));
    const after = await stat(source, { bigint: true });
    if (after.mtimeNs !== before.mtimeNs || after.size !== before.size)
      throw new Error(`${source} changed while it was copied`);
    await this.#add({ path, bytes: Number(before.size), chunks });
  }

  /** A blob never changes, so one that an earlier backup has is not read again. */
  async copyBlob({ project, id, bytes }: NamedBlob, previous: PreviousBlobs): Promise<void> {
    const path = `blobs/${project}/${id}`;
    const known = await this.#inPrevious([project, id], previous);
    if (known?.bytes === bytes && (await this.#hasAll(known.chunks))) return this.#add(known);
    if (!(await this.#copyBlobFile(path))) this.missing.push(path);
  }

  /** A missing file was deleted before the snapshot. */
  async copyNewBlob({ project, id }: BlobKey): Promise<void> {
    await this.#copyBlobFile(`blobs/${project}/${id}`);
  }

  /** False if the data folder lacks it. */
  async #copyBlobFile(path: string): Promise<boolean> {
    const source = join(this.#copy.data, path);
    const file = await unlessMissing(open(source, constants.O_RDONLY | constants.O_NOFOLLOW));
    if (file === undefined) return false;
    try {
      const { size } = await file.stat();
      await this.#add({ path, bytes: size, chunks: await this.#chunks(file, size) });
    } finally {
      await file.close();
    }
    return true;
  }

  /** Both lists are in the order of projects and ids. */
  async #inPrevious(
    key: readonly [number, number],
    previous: PreviousBlobs,
  ): Promise<ListedPart | undefined> {
    while (this.#hasPrevious) {
      if (this.#previous) {
        const [project, id] = keyOf(this.#previous.path)!;
        const order = project - key[0] || id - key[1];
        if (order > 0) return undefined;
        if (order === 0) return this.#previous;
      }
      const next = await previous.next();
      this.#hasPrevious = !next.done;
      this.#previous = next.done ? undefined : next.value;
    }
    return undefined;
  }

  async #hasAll(chunks: readonly string[]): Promise<boolean> {
    const { pool } = this.#copy.repository;
    for (const name of chunks) if (!(await pool.has(name))) return false;
    return true;
  }

  async #chunks(file: Pick<FileHandle, "read">, size: number): Promise<string[]> {
    const { pool } = this.#copy.repository;
    const names: string[] = [];
    const buffer = Buffer.alloc(chunkBytes);
    for (let at = 0; at < size; ) {
      const length = Math.min(chunkBytes, size - at);
      await readWhole(file, buffer.subarray(0, length), at);
      await this.#requireSpace(pool.stored.bytes);
      names.push(await pool.add(buffer.subarray(0, length)));
      at += length;
      this.#bytesRead += length;
      await this.#pace.wait(this.#bytesRead);
      this.#tell(this.bytes + at);
    }
    return names;
  }

  async #add(file: ListedPart): Promise<void> {
    await this.listing.add(file);
    this.files += 1;
    this.bytes += file.bytes;
    this.#tell(this.bytes);
  }

  #tell(bytesDone: number): void {
    const { stored } = this.#copy.repository.pool;
    this.#report({ bytesDone, bytesTotal: this.#bytesTotal, bytesStored: stored.bytes });
  }

  /** A backup must not fill the disk that the server writes to: it ends before uploads are refused. */
  async #requireSpace(stored: number): Promise<void> {
    if (stored < this.#nextDiskCheck) return;
    this.#nextDiskCheck = stored + bytesPerSpaceCheck;
    await this.#copy.repository.place.requireSpaceBeside(this.#copy.data);
  }
}

async function readWhole(file: Pick<FileHandle, "read">, into: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw new Error("a file became shorter while it was copied");
    done += bytesRead;
  }
}
