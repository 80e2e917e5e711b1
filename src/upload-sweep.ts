// Deletes the bytes of files that nothing needs any more, in the background.
import type { Logger } from "pino";
import type { Services } from "./context.ts";
import { limits } from "./limits.ts";
import { deleteExpiredUploads, finishRemovals, unlessAway } from "./resources/files/removals.ts";

/**
 * Deletes expired uploads and completes removals now and at intervals; returns the function that stops it.
 */
export function sweepUploads(services: Services, log: Logger): () => Promise<void> {
  let sweep = Promise.resolve();
  const start = () => {
    sweep = sweep
      .then(() => unlessAway(() => finishRemovals(services)))
      .then(() => deleteExpiredUploads(services))
      .catch((problem: unknown) => log.error({ err: problem }, "Could not delete the bytes of files"));
  };
  start();
  const timer = setInterval(start, limits.uploadSweepMs);
  return () => {
    clearInterval(timer);
    return sweep;
  };
}
