// Folders for what a test writes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];
process.on("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder of its own, removed with all that is in it when the test's process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-test-"));
  made.push(folder);
  return folder;
}
