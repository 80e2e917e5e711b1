// A folder of backups on a disk of this machine, or on one that it has mounted.
import { constants } from "node:fs";
import {
  access,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartRefused } from "../data-folder.ts";
import { syncFolder } from "../lib/durable-files.ts";
import { unlessMissing } from "../lib/missing-file.ts";
import { limits } from "../limits.ts";
import { lockForReading, lockForRemoval, lockForWriting } from "./folder-locks.ts";
import { type BackupPlace, existsAt, type LockKind } from "./place.ts";

type Move = (draft: string, target: string) => Promise<void>;

export class FolderPlace implements BackupPlace {
  readonly name: string;
  /** Folders with names that are not synced yet. */
  readonly #unsynced = new Set<string>();
  readonly #made = new Set<string>();
  #drafts = 0;
  /** The folder that is locked for writing: its disk may go away, and its mount point be another folder. */
  #locked: string | undefined;

  constructor(folder: string) {
    this.name = folder;
  }

  async lock(kind: LockKind): Promise<AsyncDisposable> {
    if (kind === "write") await this.#make(this.name);
    const locks = { write: lockForWriting, read: lockForReading, removal: lockForRemoval };
    const lock = locks[kind](this.name);
    if (kind === "write") this.#locked = await identityOf(this.name);
    return { [Symbol.asyncDispose]: async () => lock[Symbol.dispose]() };
  }

  async list(path: string): Promise<string[]> {
    const names = await unlessMissing(readdir(join(this.name, path)));
    return (names ?? []).filter((name) => !isDraft(name));
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return unlessMissing(readFile(join(this.name, path)));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#write(path, bytes, rename);
  }

  async writeNew(path: string, bytes: Uint8Array): Promise<void> {
    await this.#write(path, bytes, async (draft, target) => {
      await this.#requireLocked();
      if (!(await moveNew(draft, target))) throw new StartRefused(existsAt(this.name, path));
    });
  }

  async #write(path: string, bytes: Uint8Array, move: Move): Promise<void> {
    const target = join(this.name, path);
    const folder = dirname(target);
    if (!this.#made.has(folder)) await this.#make(folder);
    const draft = join(folder, `${this.#drafts++}.${process.pid}${draftEnd}`);
    try {
      const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
      try {
        await file.writeFile(bytes);
        await file.datasync();
      } finally {
        await file.close();
      }
      await move(draft, target);
    } catch (problem) {
      await rm(draft, { force: true });
      throw problem;
    }
    this.#unsynced.add(folder);
  }

  async #make(folder: string): Promise<void> {
    await this.#requireLocked();
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#requireLocked();
    this.#made.add(folder);
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made))
      this.#unsynced.add(dirname(made));
  }

  /** Only `#make` can write to another folder: every other write needs a folder that it has made. */
  async #requireLocked(): Promise<void> {
    if (this.#locked === undefined || this.#locked === (await identityOf(this.name))) return;
    throw new StartRefused(`${this.name} is another folder than at the start. Was its disk away?`);
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.name, path), { force: true });
    this.#unsynced.add(dirname(join(this.name, path)));
  }

  syncLater(path: string): void {
    for (let folder = join(this.name, path); folder.length >= this.name.length; folder = dirname(folder))
      this.#unsynced.add(folder);
  }

  async sync(): Promise<void> {
    await this.#requireLocked();
    for (const folder of this.#unsynced) await syncFolder(folder);
    this.#unsynced.clear();
  }

  async requireSpaceBeside(data: string): Promise<void> {
    if ((await stat(data)).dev !== (await stat(this.name)).dev) return;
    const { bavail, blocks, bsize } = await statfs(this.name);
    const needed =
      Math.min(limits.uploadFreeBytesMin, Math.floor((blocks * bsize) / 10)) + bytesPerSpaceCheck;
    if (bavail * bsize >= needed) return;
    throw new StartRefused(
      `The backups are on the disk of the data folder, of which ${bavail * bsize} bytes are free; ` +
        `${needed} are needed. Nothing was removed; use another disk`,
    );
  }

  async removeDrafts(path: string): Promise<void> {
    const names = (await unlessMissing(readdir(join(this.name, path)))) ?? [];
    for (const name of names.filter(isDraft)) await rm(join(this.name, path, name), { force: true });
  }
}

/** How many bytes may be stored between two looks at the free space. */
export const bytesPerSpaceCheck = 64 * 2 ** 20;

const draftEnd = ".new";
const isDraft = (name: string): boolean => name.endsWith(draftEnd);

/** Whether the folder is empty or missing. */
export async function isEmptyFolder(folder: string): Promise<boolean> {
  const found = await unlessMissing(stat(folder));
  if (found === undefined) return true;
  await access(folder, constants.R_OK | constants.X_OK);
  return found.isDirectory() && (await readdir(folder)).length === 0;
}

/** Undefined if it does not exist. */
async function identityOf(folder: string): Promise<string | undefined> {
  const found = await unlessMissing(stat(folder, { bigint: true }));
  return found && `${found.dev} ${found.ino}`;
}

/**
 * Moves a file to a name in the same folder. Returns false, and moves nothing, if a file has that name. The
 * name never has a part of the file, also after a power failure.
 */
async function moveNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === "EEXIST") return false;
    // This file system has no hard links. The lock for writing excludes other processes between the two
    // steps. If a disk comes back then, the rename fails, because the file is below its mount point.
    if (await unlessMissing(lstat(to))) return false;
    await rename(from, to);
    return true;
  }
  await rm(from);
  return true;
}
