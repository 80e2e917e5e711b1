// A start on a disk that may be full: its messages, and the state that it leaves for the next start.
import type { Logger } from "pino";
import type { Services } from "./context.ts";
import { Failure } from "./errors.ts";
import type { System } from "./lib/system.ts";
import { WatchedDisk } from "./storage/disk-space.ts";

/** Watches the disk of the data folder; calls `tell` when it is full already. */
export async function watchDisk(
  folder: string,
  system: System,
  tell: (text: string) => void,
): Promise<WatchedDisk> {
  const disk = await WatchedDisk.watch(folder, system.freeDiskAt);
  if (disk.problem !== undefined) tell(`Only reads and deletes are served: ${disk.problem}`);
  return disk;
}

/** Does work of a start that a full disk may refuse; it is then left for the next start. */
export async function unlessFull<Outcome>(
  { disk }: Pick<Services, "disk">,
  log: Logger,
  work: () => Promise<Outcome>,
): Promise<Outcome | undefined> {
  try {
    return await work();
  } catch (problem) {
    if (!disk.isFull || !(problem instanceof Failure) || problem.status !== 503) throw problem;
    log.warn({ err: problem }, "The disk is full: work of this start is left for the next one");
    return undefined;
  }
}
