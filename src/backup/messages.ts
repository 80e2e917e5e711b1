// The messages between a server and its processes for backups: the one that copies, and the one that
// verifies.
import type { S3Access } from "../s3-access.ts";
import type { BlobKey } from "../storage/blobs.ts";
import type { FailedReply } from "./background-process.ts";
import type { Keep } from "./keep.ts";
import type { Pruned } from "./prune.ts";
import type { PointsSample } from "./sample.ts";

export interface CopyTask {
  /** The data folder. */
  readonly data: string;
  /** The folder or the S3 store of backups. */
  readonly place: string;
  readonly s3?: S3Access;
  /** A file with the passphrase; without one, backups are not encrypted. */
  readonly passphraseFile?: string;
  /** Refuses to make a new folder of backups. */
  readonly mustExist?: boolean;
}

/** The time that a backup has the state of. */
export interface Snapshot {
  readonly snapshotMs: number;
  /** Folder with the journal of datapoints up to the snapshot, since `increment.from` if there is one. */
  readonly journal: string;
  readonly sample: readonly PointsSample[];
  /** Copies only the changes since another backup. */
  readonly increment?: Increment;
}

/** The changes since a backup or an increment. */
export interface Increment {
  readonly from: string;
  /** The blobs that were completed since then. */
  readonly blobs: readonly BlobKey[];
}

export interface CopyProgress {
  /** Bytes of the data folder that are in the backup, and of all. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** Bytes that this backup has added to the pool. */
  readonly bytesStored: number;
}

export interface CopyResult {
  readonly id: string;
  readonly snapshotMs: number;
  readonly files: number;
  readonly bytes: number;
  readonly bytesStored: number;
  /** Files that the catalog names and the data folder lacks. */
  readonly missing: readonly string[];
  /** It is the first backup of its folder. */
  readonly isNewFolder: boolean;
}

export type ToCopyProcess =
  | ({ readonly kind: "start" } & CopyTask)
  | { readonly kind: "freezeCatalog"; readonly waitMs?: number }
  | ({ readonly kind: "copy" } & Snapshot);

export type FromCopyProcess =
  | { readonly kind: "ready" }
  /** False when other readers need an older state; it may be tried again. */
  | { readonly kind: "catalogFrozen"; readonly isFrozen: boolean }
  | { readonly kind: "progress"; readonly progress: CopyProgress }
  | { readonly kind: "done"; readonly result: CopyResult }
  | FailedReply;

/** The task of the process that verifies a new backup and removes old ones. */
export interface ExamineTask {
  /** The folder or the S3 store of backups. */
  readonly place: string;
  readonly s3?: S3Access;
  readonly id: string;
  readonly passphraseFile?: string;
  /** The folder in which the backup is restored for a while. */
  readonly temporary: string;
  /** The old backups that stay; without it, all do. */
  readonly keep?: Keep;
  /** The ids of earlier backups that were found damaged. */
  readonly damaged: readonly string[];
}

/**
 * Each file of a backup can have a finding, so messages, the log and the history have only the first ones.
 */
export interface FirstFindings {
  /** Empty for a backup that is in order. */
  readonly findings: readonly string[];
  /** How many there are; absent if `findings` has all. */
  readonly findingsInAll?: number;
}

export function firstFindings(
  { findings, findingsInAll = findings.length }: FirstFindings,
  max: number,
): FirstFindings {
  return findingsInAll <= max ? { findings } : { findings: findings.slice(0, max), findingsInAll };
}

export interface Examined extends FirstFindings {
  /** Absent if none were to be removed: after findings, none are. */
  readonly removal?: Removal;
}

/** The removal of old backups. */
export type Removal = Pruned | { readonly problem: string };

export type FromExamineProcess = { readonly kind: "examined"; readonly result: Examined } | FailedReply;
