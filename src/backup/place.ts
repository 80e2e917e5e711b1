// The port for the place where backups are kept: a folder, or a prefix of an S3 store. It has files that are
// written whole or not at all, and locks.
import { resolve } from "node:path";
import { parseS3Url } from "../storage/s3-blobs/s3-location.ts";

/**
 * `write`: a backup is made, or old ones are removed; one process at a time. `read`: a backup is read, by any
 * number of processes. `removal`: old backups are removed, while none is read. A removal needs `write` too.
 */
export type LockKind = "write" | "read" | "removal";

export interface BackupPlace {
  /** For messages. */
  readonly name: string;
  /** Throws `StartRefused` while another process has a lock that excludes this one. */
  lock(kind: LockKind): Promise<AsyncDisposable>;
  /** The names below a path, without the path; none if it does not exist. */
  list(path: string): Promise<string[]>;
  /** Undefined if there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Whole or not at all. May fail as late as in `sync`; after that, the bytes can be read. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * As `write`, for a file that does not exist yet. Throws `StartRefused`, and changes nothing, if it does.
   */
  writeNew(path: string, bytes: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Lets `sync` also cover the names in a folder that a killed process may have written. */
  syncLater(path: string): void;
  /** Removes unfinished files of a killed process. Call it while no backup is written. */
  removeDrafts(path: string): Promise<void>;
  /** Makes everything written so far survive a power failure. */
  sync(): Promise<void>;
  /** Throws `StartRefused` if further backups would fill the disk that the data folder is on. */
  requireSpaceBeside(data: string): Promise<void>;
}

/** The refusal of `writeNew`. */
export const existsAt = (place: string, path: string): string =>
  `${place} has had no ${path} before, and has one now: it was away, or another process made it. Try again`;

export const isS3Place = (name: string): boolean => name.startsWith("s3://");

/**
 * One name for each place: an absolute path, or the address of an S3 store. Throws an error for an invalid
 * address.
 */
export function placeNamed(text: string, folder: string): string {
  if (!isS3Place(text)) return resolve(folder, text);
  const { bucket, prefix } = parseS3Url(text);
  const { searchParams } = new URL(text);
  searchParams.sort();
  const parameters = searchParams.toString();
  return `s3://${bucket}/${prefix.slice(0, -1)}${parameters === "" ? "" : `?${parameters}`}`;
}
