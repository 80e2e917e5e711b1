// Makes backups of the data folder of this process while it serves: one at a time.
//
// All parts are of one snapshot. The snapshot is in a write of the catalog that changes nothing,
// so that no other write of the catalog runs meanwhile:
//
// 1. Before it: the files of the shards are frozen (`CopyablePoints.freeze`), and no blob is removed.
// 2. At it: the journal of datapoints is cut and linked, then the file of the catalog is frozen.
// 3. After it: everything is written again, while another process copies the frozen files.
import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Settings } from "../config.ts";
import { StartRefused } from "../data-folder.ts";
import type { DataStores } from "../data-stores.ts";
import { fail } from "../errors.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { S3Access } from "../s3-access.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import { type CopyablePoints, isCopyable } from "../storage/points.ts";
import type { BackupHistory, BackupRun } from "./backup-history.ts";
import type { BackupPlan } from "./backup-plan.ts";
import { CopyClient } from "./copy-client.ts";
import type { HeldBlobs } from "./held-blobs.ts";
import type { Increments } from "./increments.ts";
import type { CopyProgress, CopyResult, Snapshot } from "./messages.ts";
import { isS3Place } from "./place.ts";
import { chooseSeries, sampleOf, unchanged } from "./sample.ts";
import { atOneTime } from "./snapshot.ts";

export interface BackupRequest {
  /** The folder or the S3 store of backups, as `placeNamed` writes it. */
  readonly place: string;
  readonly passphraseFile?: string;
  /** Refuses to make a new folder of backups. */
  readonly mustExist?: boolean;
}

export interface BackupsOptions {
  /** The data folder. */
  readonly data: string;
  readonly stores: Pick<DataStores, "catalog" | "points">;
  /** Why this installation cannot be backed up by this server; undefined if it can. */
  readonly refusal: string | undefined;
  /** Reaches S3 stores of backups. */
  readonly s3?: S3Access | undefined;
  /** Of the settings. */
  readonly plan?: Pick<BackupPlan, "place" | "passphraseFile"> | undefined;
  /** Follow backups to the place of the settings. */
  readonly increments?: Increments | undefined;
  /** Of the place of the settings. */
  readonly history?: BackupHistory | undefined;
  readonly held: HeldBlobs;
  /** The disk of the data folder. */
  readonly disk: Pick<DiskSpace, "problem" | "refusalOfUpload">;
  readonly system: System;
  readonly log: Logger;
}

export interface RunningBackup extends CopyProgress {
  readonly place: string;
  readonly startedTime: number;
  readonly phase: "starting" | "copying";
}

export type EndedBackup = {
  readonly place: string;
  readonly startedTime: number;
  readonly endedTime: number;
} & (
  | ({ readonly outcome: "complete"; readonly pausedMs: number } & CopyResult)
  | { readonly outcome: "failed"; readonly problem: string }
);

export interface BackupsState {
  readonly running?: RunningBackup;
  /** The last one of this process. */
  readonly last?: EndedBackup;
}

/** Why a server with these settings cannot make a backup: the reason, or undefined. */
export function outsideOfFolder({ catalogUrl, points, blobs }: OutsideSettings): string | undefined {
  const outside = [
    ...(catalogUrl === undefined ? [] : ["the catalog (MILLRACE_CATALOG)"]),
    ...(points === undefined ? [] : ["the datapoints (MILLRACE_POINTS)"]),
    ...(blobs === undefined ? [] : ["the bytes of files (MILLRACE_BLOBS)"]),
  ];
  if (outside.length === 0) return undefined;
  return `its data folder lacks ${outside.join(", ")}; docs/scale.md has the backup of these`;
}

type OutsideSettings = { readonly [Name in "catalogUrl" | "points" | "blobs"]: Settings[Name] | undefined };

/** A backup of a folder that has its backups would grow each time. */
export function refuseNested(data: string, place: string): void {
  if (isS3Place(place)) return;
  const isWithin = (inner: string, outer: string) => !relative(outer, inner).startsWith("..");
  if (isWithin(place, data) || isWithin(data, place))
    throw new StartRefused(`The folder of backups ${place} and the data folder ${data} must be apart`);
}

/** Journal segments that a running backup reads; left by a killed server, they are removed at the start. */
const linksFolderOf = (data: string): string => join(data, "backup-links");
const retryMs = 1_000;
const attemptsMax = 10;

interface PausedSnapshot extends Snapshot {
  /** How long no change of the catalog was accepted. */
  readonly pausedMs: number;
}

export class Backups {
  readonly #options: BackupsOptions;
  #running:
    | { state: RunningBackup; readonly stop: AbortController; readonly ended: Promise<void> }
    | undefined;
  #last: EndedBackup | undefined;

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  get state(): BackupsState {
    const running = this.#running?.state;
    return { ...(running && { running }), ...(this.#last && { last: this.#last }) };
  }

  /** Removes the files that a killed process left. */
  async clean(): Promise<void> {
    await rm(linksFolderOf(this.#options.data), { recursive: true, force: true });
  }

  /** Starts a backup. Throws `backup-running` and `backup-not-possible`. */
  start(request: BackupRequest, { isScheduled = false } = {}): void {
    const { refusal, system, log } = this.#options;
    if (refusal !== undefined) throw fail("backup-not-possible", { problem: refusal });
    if (this.#running) throw fail("backup-running", { place: this.#running.state.place });
    const stop = new AbortController();
    const { place } = request;
    const startedTime = system.nowMs();
    const state = {
      place,
      startedTime,
      phase: "starting",
      bytesDone: 0,
      bytesTotal: 0,
      bytesStored: 0,
    } as const;
    const finished = async (outcome: { outcome: "complete"; pausedMs: number } & CopyResult) => {
      this.#last = { place, startedTime, endedTime: system.nowMs(), ...outcome };
      log.info({ backup: this.#last }, "Made a backup");
      await this.#remember(this.#last);
    };
    const failed = async (thrown: unknown) => {
      const problem = stop.signal.aborted ? "it was cancelled" : (thrown as Error).message;
      this.#last = { place, startedTime, endedTime: system.nowMs(), outcome: "failed", problem };
      log.error({ err: thrown, place }, "Could not make a backup");
      // If a stop of the server cancels a backup, the next start makes it, so this is no failure.
      if (isScheduled && !stop.signal.aborted) await this.#remember(this.#last);
    };
    const ended = this.#make(this.#asPlanned(request), stop.signal)
      .then(finished, failed)
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = { state, stop, ended };
  }

  /** A backup to the folder of the settings is encrypted as they say, also by a caller who does not know. */
  #asPlanned(request: BackupRequest): BackupRequest {
    const { plan } = this.#options;
    const { place, passphraseFile = place === plan?.place ? plan.passphraseFile : undefined } = request;
    return { ...request, ...(passphraseFile !== undefined && { passphraseFile }) };
  }

  /** Ends a running backup, which leaves no manifest. */
  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended;
  }

  /** Resolves when no backup runs. */
  async idle(): Promise<void> {
    await this.#running?.ended;
  }

  /** A backup to the folder of the settings counts as one of the schedule. */
  async #remember(ended: EndedBackup): Promise<void> {
    const { history, log } = this.#options;
    if (history?.place !== ended.place) return;
    await history
      .add(runOf(ended))
      .catch((problem: unknown) => log.error({ err: problem }, "Could not write the history of backups"));
  }

  async #make(request: BackupRequest, signal: AbortSignal) {
    const { data, held, stores, s3, plan } = this.#options;
    await this.#options.increments?.idle();
    const { points } = stores;
    if (!isCopyable(points)) throw new StartRefused("the datapoints are not in the data folder");
    await using opened = new AsyncDisposableStack();
    const links = linksFolderOf(data);
    opened.defer(() => this.clean());
    await this.clean();
    const onProgress = (progress: CopyProgress) => this.#show(progress);
    const client = await CopyClient.start({ data, ...request, ...(s3 && { s3 }) }, { onProgress, signal });
    opened.defer(() => client.end());
    signal.throwIfAborted();
    opened.defer(held.hold());
    const increments = request.place === plan?.place ? this.#options.increments : undefined;
    if (increments) opened.defer(() => increments.endUnlessFollowing());
    const snapshot = await this.#snapshot({ client, points, links, increments }, opened);
    const copied = new AbortController();
    opened.defer(() => copied.abort());
    const result = await Promise.race([client.copy(snapshot), this.#untilFull(copied.signal)]);
    increments?.follow(result);
    return { outcome: "complete", pausedMs: snapshot.pausedMs, ...result } as const;
  }

  /** The snapshot makes the data folder grow, so a long copy could fill its disk: fails before. */
  async #untilFull(signal: AbortSignal): Promise<never> {
    const { disk } = this.#options;
    const isRoomy = (await disk.refusalOfUpload(0)) === undefined;
    for (;;) {
      await pause(limits.diskCheckMs, undefined, { signal });
      const problem = isRoomy ? await disk.refusalOfUpload(0) : disk.problem;
      if (problem !== undefined)
        throw new StartRefused(`the disk of the data folder gets full while the backup runs: ${problem}`);
    }
  }

  #show(progress: CopyProgress): void {
    const running = this.#running;
    if (running) running.state = { ...running.state, ...progress, phase: "copying" };
  }

  /** The points thaw when `opened` ends. */
  async #snapshot(parts: SnapshotParts, opened: AsyncDisposableStack): Promise<PausedSnapshot> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      await using frozen = new AsyncDisposableStack();
      const snapshot = await this.#trySnapshot(parts, frozen);
      if (snapshot) {
        opened.use(frozen.move());
        return snapshot;
      }
      await pause(retryMs);
    }
    throw new Error("long reads of the catalog left no time for a snapshot; try again later");
  }

  async #trySnapshot(
    { client, points, links, increments }: SnapshotParts,
    opened: AsyncDisposableStack,
  ): Promise<PausedSnapshot | undefined> {
    const { system, stores } = this.#options;
    const { catalog } = stores;
    await rm(links, { recursive: true, force: true });
    await mkdir(links, { mode: 0o700 });
    const chosen = await chooseSeries(catalog);
    const before = await sampleOf(points, chosen);
    const frozen = await points.freeze();
    opened.defer(() => frozen.thaw());
    await increments?.prepare(frozen);
    const time = await atOneTime({ catalog, system, client }, (onCut) => frozen.linkJournal(links, onCut));
    if (!time) return undefined;
    const sample = unchanged(before, await sampleOf(points, chosen));
    return { ...time, journal: links, sample };
  }
}

function runOf(ended: EndedBackup): BackupRun {
  const { startedTime, endedTime, outcome } = ended;
  if (outcome === "failed") return { startedTime, endedTime, outcome, problem: ended.problem };
  const { id, snapshotMs, bytes, bytesStored, missing } = ended;
  return { startedTime, endedTime, outcome, id, snapshotMs, bytes, bytesStored, missing: missing.length };
}

interface SnapshotParts {
  readonly client: CopyClient;
  readonly points: CopyablePoints;
  /** The folder for the journal. */
  readonly links: string;
  /** If they may follow the backup. */
  readonly increments: Increments | undefined;
}
