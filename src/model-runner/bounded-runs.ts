// The frame of processes that the server runs for requests: a few at a time, each in a folder of its own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Semaphore } from "../lib/semaphore.ts";
import type { ProcessResult } from "./bounded-process.ts";

/** The code of the server, which the processes may read. */
export const sourceFolder = dirname(dirname(fileURLToPath(import.meta.url)));

export type BoundedRuns = <Result>(
  project: string,
  signal: AbortSignal,
  run: (folder: string) => Promise<Result>,
) => Promise<Result>;

/**
 * Runs work once it has a place, which projects share, with a folder that is removed at its end.
 * `folderPrefix` is that of the folders, unique among the servers of this machine.
 */
export function boundedRuns(of: { readonly folderPrefix: string; readonly places: number }): BoundedRuns {
  const semaphore = new Semaphore({ places: of.places, perCaller: of.places });
  return (project, signal, run) =>
    semaphore.use(project, signal, async () => {
      const folder = await mkdtemp(join(tmpdir(), of.folderPrefix));
      try {
        return await run(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}

type End = Pick<ProcessResult<unknown>, "signal" | "code" | "log">;

export const isOutOfMemory = ({ log }: End): boolean =>
  /out of memory|Cannot allocate memory|bad_alloc/i.test(log.text);

/** The end of a process that no bound explains: `by the signal SIGSEGV`. */
export const howEnded = ({ signal, code }: End): string =>
  signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
