// Temporary folders that a crash of an earlier process has left.
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Removes those whose names begin with the prefix. */
export async function removeLeftFolders(prefix: string): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    // Removes only folders of this user: another user could put links into its folder during the removal.
    const found = await lstat(path);
    if (found.isDirectory() && found.uid === process.geteuid?.()) await rm(path, { recursive: true });
  }
}
