// Temporary folders of measured servers, deleted also when a signal ends the benchmark.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty folder. `remove` deletes it; so does the end of the process, after that of its servers. */
export function temporaryFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  // A server that has just been killed may still write a file.
  const clean = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  process.once("exit", clean);
  const remove = () => {
    process.off("exit", clean);
    clean();
  };
  return { folder, remove };
}

/** Deletes the folder when the work is over. */
export async function inFreshFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const { folder, remove } = temporaryFolder();
  try {
    return await work(folder);
  } finally {
    remove();
  }
}
