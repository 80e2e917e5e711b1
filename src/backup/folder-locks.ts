// The locks of a folder of backups, of the operating system: they end with the process. Readers share a lock,
// and a removal needs it alone, so no old backup is removed while one is read.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { lockFolder, StartRefused } from "../data-folder.ts";

/** The folder of backups counts as empty with it. */
const lockFile = (folder: string): string => join(folder, "lock-readers");

/** SQLite's codes of errors. */
const busy = 5;
const isBusy = (problem: unknown): boolean => (problem as { readonly errcode?: number }).errcode === busy;

/** Takes the lock for writing. Throws `StartRefused` while another process makes or removes a backup. */
export function lockForWriting(folder: string): Disposable {
  const unlock = lockFolder(folder);
  if (unlock === "busy") throw new StartRefused(`Another process uses the backups in ${folder}`);
  return { [Symbol.dispose]: unlock };
}

/**
 * Shares the lock until it is disposed. In a folder that this user cannot write and that has no lock, it does
 * nothing. Throws `StartRefused` while old backups are removed.
 */
export function lockForReading(folder: string): Disposable {
  try {
    const database = new DatabaseSync(lockFile(folder));
    database.exec("BEGIN");
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return { [Symbol.dispose]: () => database.close() };
  } catch (problem) {
    if (isBusy(problem)) throw new StartRefused(`Old backups in ${folder} are being removed; try again`);
    return { [Symbol.dispose]: () => undefined };
  }
}

/** Has the lock alone until it is disposed. Throws `StartRefused` while a backup is read. */
export function lockForRemoval(folder: string): Disposable {
  const database = new DatabaseSync(lockFile(folder));
  try {
    database.exec("BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => database.close() };
  } catch (problem) {
    database.close();
    if (!isBusy(problem)) throw problem;
    throw new StartRefused(`A backup in ${folder} is being verified or restored`);
  }
}
