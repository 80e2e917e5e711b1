// Temporary folders for tests.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];
process.on("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder of its own, removed with all that is in it when the test's process ends. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "millrace-test-"));
  made.push(folder);
  return folder;
}

/** The same in memory where the system has such a place: for tests that write and forget a thousand files. */
export function folderInMemory(): string {
  const memory = "/dev/shm";
  return temporaryFolder(existsSync(memory) ? memory : tmpdir());
}
