// Keeps the data folder for its owner alone: the modes of its files and folders, and of files yet to be made.
import { chmodSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The bits of a mode with which users other than the owner have access. */
const othersBits = 0o077;

/** Windows has access lists instead, which the folder inherits from its parent. */
const hasModes = process.platform !== "win32";

/**
 * Only their owner can read files that this process makes from now on; replaces the umask of its start.
 */
export function makeFilesPrivate(): void {
  if (hasModes) process.umask(othersBits);
}

/**
 * Removes the access of other users to the folder and its content. Returns the changed paths.
 * Throws when the operating system refuses. Symbolic links are not followed. Files two folders down (those of
 * `blobs/<project>/`) can be millions: they are read only where their folder was open to others.
 */
export function makeFolderPrivate(folder: string): string[] {
  return hasModes ? [...narrow(folder, 0)] : [];
}

/** Data folder, `points/` and `blobs/`: few entries each. */
const smallFolderDepth = 1;

function* narrow(path: string, depth: number): Generator<string> {
  // The operator may name the data folder by a link; a link inside it may be another user's.
  const found = depth === 0 ? statSync(path) : lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  const wasOpen = (found.mode & othersBits) !== 0;
  if (wasOpen) {
    chmodSync(path, found.mode & 0o700);
    yield path;
  }
  if (!found.isDirectory() || (depth > smallFolderDepth && !wasOpen)) return;
  for (const name of readdirSync(path)) yield* narrow(join(path, name), depth + 1);
}
