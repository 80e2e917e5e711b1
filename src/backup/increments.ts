// Increments: between two backups, the server copies the catalog, new files and the journal of datapoints
// again and again, so that a restore reaches any of these times.
//
// An increment follows a backup of this process: only since that one, every part of the journal is kept.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { StartRefused } from "../data-folder.ts";
import { invariant } from "../lib/invariant.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { S3Access } from "../s3-access.ts";
import type { BlobKey } from "../storage/blobs.ts";
import type { Catalog } from "../storage/catalog.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import type { CopyablePoints, FrozenPoints } from "../storage/points.ts";
import type { BackupPlan } from "./backup-plan.ts";
import { CopyClient } from "./copy-client.ts";
import type { HeldBlobs } from "./held-blobs.ts";
import { atOneTime } from "./snapshot.ts";

export interface IncrementsOptions {
  /** The data folder. */
  readonly data: string;
  readonly plan: BackupPlan & { readonly journalSeconds: number };
  readonly s3?: S3Access | undefined;
  readonly catalog: Catalog;
  readonly points: CopyablePoints;
  readonly held: HeldBlobs;
  readonly disk: Pick<DiskSpace, "refusalOfUpload">;
  readonly system: System;
  readonly log: Logger;
}

/** The base of an increment: a backup, or the increment before. */
interface Last {
  readonly id: string;
  readonly snapshotMs: number;
}

/** Changes of the catalog wait during an attempt, again and again, so few and short ones are made. */
const attemptsMax = 3;
const waitMs = 100;
const retryMs = 200;

export class Increments {
  readonly #options: IncrementsOptions;
  /** Files that got complete, by project and id, until an increment has them. */
  readonly #blobs = new Map<string, BlobKey>();
  #last: Last | undefined;
  /** False when a backup that is made now may lack a file that no increment would have. */
  #mayFollow = false;
  #nextMs = 0;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(options: IncrementsOptions) {
    this.#options = options;
    options.held.watch((key) => this.#noteBlob(key));
  }

  /** The time that a restore reaches; undefined before a backup of this process. */
  get reachMs(): number | undefined {
    return this.#last?.snapshotMs;
  }

  get isDue(): boolean {
    return this.#last !== undefined && this.#options.system.nowMs() >= this.#nextMs;
  }

  /** Removes the files that an earlier process left. */
  async clean(): Promise<void> {
    await rm(keptFolderOf(this.#options.data), { recursive: true, force: true });
    await rm(linksFolderOf(this.#options.data), { recursive: true, force: true });
  }

  /** Call it before the journal is cut for a backup that increments may follow. */
  async prepare(frozen: FrozenPoints): Promise<void> {
    const kept = keptFolderOf(this.#options.data);
    await mkdir(kept, { recursive: true, mode: 0o700 });
    // A part of the journal since the last increment may be missing, so increments need a new backup.
    if (!frozen.keepJournal(kept)) this.#last = undefined;
    this.#mayFollow = true;
  }

  /** From now on, increments follow this backup. */
  follow(last: Last): void {
    this.#last = this.#mayFollow ? last : undefined;
    this.#setNext();
  }

  /** Call it when the backup failed: they continue after the last one, if there is one. */
  async endUnlessFollowing(): Promise<void> {
    if (this.#last === undefined) await this.#end();
  }

  /** Makes an increment. A failure is logged; the next one then has the changes of both. */
  async make(): Promise<void> {
    const last = this.#last;
    invariant(last !== undefined && this.#running === undefined, "one increment at a time, after a backup");
    const { log, plan } = this.#options;
    const stop = new AbortController();
    const ended = this.#make(last, stop.signal)
      .catch((problem: unknown) => {
        if (!stop.signal.aborted)
          log.error({ err: problem, place: plan.place }, "Could not make an increment");
      })
      .finally(() => {
        this.#running = undefined;
        this.#setNext();
      });
    this.#running = { stop, ended };
    await ended;
  }

  async idle(): Promise<void> {
    await this.#running?.ended;
  }

  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.idle();
  }

  async #make(last: Last, signal: AbortSignal): Promise<void> {
    const { data, plan, s3, held, disk, system, log } = this.#options;
    const full = await disk.refusalOfUpload(0);
    if (full !== undefined) {
      await this.#end();
      throw new StartRefused(`the kept journal would fill the disk of the data folder: ${full}`);
    }
    const { place, passphraseFile } = plan;
    const begunMs = system.monotonicMs();
    await using opened = new AsyncDisposableStack();
    const links = linksFolderOf(data);
    opened.defer(() => rm(links, { recursive: true, force: true }));
    const task = { data, place, mustExist: true, ...(passphraseFile !== undefined && { passphraseFile }) };
    const client = await CopyClient.start(
      { ...task, ...(s3 && { s3 }) },
      { onProgress: () => undefined, signal },
    );
    opened.defer(() => client.end());
    opened.defer(held.hold());
    const { snapshotMs, pausedMs } = await this.#snapshot(client, links);
    const blobs = [...this.#blobs];
    const increment = { from: last.id, blobs: blobs.map(([, key]) => key) };
    const { id, bytesStored } = await client.copy({ snapshotMs, journal: links, sample: [], increment });
    for (const [name] of blobs) this.#blobs.delete(name);
    for (const name of await readdir(links)) await rm(join(keptFolderOf(data), name), { force: true });
    if (this.#last === last) this.#last = { id, snapshotMs };
    const tookMs = Math.round(system.monotonicMs() - begunMs);
    log.debug({ id, bytesStored, pausedMs, tookMs }, "Made an increment");
  }

  async #snapshot(client: CopyClient, links: string) {
    const { catalog, points, system } = this.#options;
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      await rm(links, { recursive: true, force: true });
      await mkdir(links, { mode: 0o700 });
      let isWhole = false;
      const time = await atOneTime({ catalog, system, client, waitMs }, async (onCut) => {
        isWhole = await points.cutJournal(links, onCut);
      });
      if (!isWhole) {
        await this.#end();
        throw new StartRefused(
          "a part of the journal could not be kept; increments continue after the next backup",
        );
      }
      if (time) return time;
      await pause(retryMs);
    }
    throw new StartRefused("long reads of the catalog left no time for a snapshot");
  }

  /** The next backup begins again. */
  async #end(): Promise<void> {
    this.#last = undefined;
    this.#options.points.forgetJournal();
    await rm(keptFolderOf(this.#options.data), { recursive: true, force: true });
  }

  #setNext(): void {
    const { plan, system } = this.#options;
    this.#nextMs = system.nowMs() + plan.journalSeconds * 1_000;
  }

  #noteBlob(key: BlobKey): void {
    this.#blobs.set(`${key.project}/${key.id}`, key);
    if (this.#blobs.size <= limits.backupNewBlobsMax) return;
    this.#blobs.clear();
    this.#mayFollow = false;
    this.#last = undefined;
    this.#options.points.forgetJournal();
  }
}

/** Parts of the journal since the last increment that the store has deleted. */
const keptFolderOf = (data: string): string => join(data, "backup-journal");
/** The journal of the increment that is made. */
const linksFolderOf = (data: string): string => join(data, "backup-journal-links");
