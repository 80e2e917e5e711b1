// Watches the free space of the data folder's disk, and keeps a reserve file for deletes and starts.
//
// Below a limit only deletes are accepted. Other programs can still fill the disk completely. Then the
// reserve file is removed, which frees space for the catalog's log and the journal, so that deletes still
// work.

import { randomFillSync } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { fail } from "../errors.ts";
import type { FreeDisk, System } from "../lib/system.ts";
import { limits } from "../limits.ts";

/** The checks of free disk space by stores and routes. */
export interface DiskSpace {
  /** Whether writes are refused; deletes are not. */
  readonly isFull: boolean;
  /** Why writes are refused; undefined while they are taken. */
  readonly problem: string | undefined;
  readonly freeBytes: number;
  /** Refuses (503) while the disk is full. */
  requireSpace(): void;
  /** Frees space for a delete on a full disk, by removing the reserve. */
  prepareDelete(): Promise<void>;
  /**
   * Returns why an upload is refused, given the bytes of unfinished uploads; undefined when it is accepted.
   */
  refusalOfUpload(unfinishedBytes: number): Promise<string | undefined>;
}

/** The disk of a store that is used without a server: it never refuses. */
export const boundlessDisk: DiskSpace = {
  isFull: false,
  problem: undefined,
  freeBytes: Infinity,
  requireSpace: () => undefined,
  prepareDelete: async () => undefined,
  refusalOfUpload: async () => undefined,
};

/** A limit in bytes, and less on a small disk. */
const ofDisk = (bytes: number, percent: number, { diskBytes }: FreeDisk): number =>
  Math.min(bytes, Math.floor((diskBytes * percent) / 100));

export class WatchedDisk implements DiskSpace {
  readonly #folder: string;
  readonly #look: System["freeDiskAt"];
  #free: FreeDisk;
  #hasReserve: boolean;
  #reserving: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  private constructor(folder: string, look: System["freeDiskAt"], free: FreeDisk) {
    this.#folder = folder;
    this.#look = look;
    this.#free = free;
    this.#hasReserve =
      (statSync(this.#reserveFile, { throwIfNoEntry: false })?.size ?? 0) >= this.#reserveBytes;
    this.#timer = setInterval(() => void this.look(), limits.diskCheckMs).unref();
    this.#keepReserve();
  }

  /**
   * Looks at the disk from now on. On a full disk the reserve is given up, so that the stores can be opened.
   */
  static async watch(folder: string, look: System["freeDiskAt"]): Promise<WatchedDisk> {
    const disk = new WatchedDisk(folder, look, await look(folder));
    await disk.prepareDelete();
    return disk;
  }

  /** Without the reserve the disk counts as full until there is space to write it again. */
  get isFull(): boolean {
    const missing = this.#hasReserve ? 0 : this.#reserveBytes;
    return this.#free.bytes - missing < this.#neededBytes || this.#free.files < limits.diskFilesMin;
  }

  get problem(): string | undefined {
    if (!this.isFull) return undefined;
    const { bytes, files } = this.#free;
    if (files < limits.diskFilesMin) return `the disk takes only ${files} more files`;
    const needed = this.#neededBytes + (this.#hasReserve ? 0 : this.#reserveBytes);
    return `the disk is full: ${bytes} bytes are free, ${needed} are needed`;
  }

  get freeBytes(): number {
    return this.#free.bytes;
  }

  requireSpace(): void {
    const { problem } = this;
    if (problem !== undefined) throw fail("disk-full", { problem });
  }

  async prepareDelete(): Promise<void> {
    if (!this.isFull) return;
    await this.look();
    if (!this.#hasReserve || this.#free.bytes >= this.#reserveBytes) return;
    await this.#reserving;
    rmSync(this.#reserveFile, { force: true });
    this.#hasReserve = false;
    await this.look();
  }

  async refusalOfUpload(unfinishedBytes: number): Promise<string | undefined> {
    await this.look();
    const { bytes } = this.#free;
    const needed = ofDisk(limits.uploadFreeBytesMin, limits.uploadFreePercentMin, this.#free);
    if (this.isFull || bytes < needed) return `${bytes} bytes are free on the disk, ${needed} are needed`;
    const most = ((bytes + unfinishedBytes) * limits.unfinishedUploadsPercentMax) / 100;
    if (unfinishedBytes <= most) return undefined;
    return `unfinished uploads hold ${unfinishedBytes} bytes, the most for them is ${Math.floor(most)}`;
  }

  /** Reads the state of the disk; one that cannot be read counts as it was. */
  async look(): Promise<void> {
    try {
      this.#free = await this.#look(this.#folder);
    } catch {
      return;
    }
    this.#keepReserve();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reserving;
  }

  get #reserveFile(): string {
    return `${this.#folder}/reserve`;
  }

  get #reserveBytes(): number {
    return ofDisk(limits.diskReserveBytes, limits.diskReservePercent, this.#free);
  }

  get #neededBytes(): number {
    return ofDisk(limits.diskFreeBytesMin, limits.diskFreePercentMin, this.#free);
  }

  #keepReserve(): void {
    if (this.#hasReserve || this.isFull) return;
    this.#hasReserve = true;
    this.#reserving = writeReserve(this.#reserveFile, this.#reserveBytes).catch(async () => {
      this.#hasReserve = false;
      await rm(this.#reserveFile, { force: true });
    });
  }
}

const chunkBytes = 2 ** 20;

/** Random bytes, because zeros may take no space on a file system that compresses or shares blocks. */
async function writeReserve(path: string, bytes: number): Promise<void> {
  const chunk = randomFillSync(new Uint8Array(Math.min(bytes, chunkBytes)));
  const file = await open(path, "w");
  try {
    for (let left = bytes; left > 0; left -= chunk.length)
      await file.writeFile(chunk.subarray(0, Math.min(left, chunk.length)));
  } finally {
    await file.close();
  }
}
