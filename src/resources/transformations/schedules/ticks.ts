// Work that a server does at short intervals, never twice at a time.
import type { Services } from "../../../context.ts";
import { limits } from "../../../limits.ts";

/** Works now and every `limits.transformationTickMs`; returns the function that stops it. */
export function startTicks({ transformations }: Services, work: () => Promise<void>): () => Promise<void> {
  let tick = Promise.resolve();
  let isTicking = false;
  const start = () => {
    if (isTicking) return;
    isTicking = true;
    tick = work()
      .catch((problem: unknown) => transformations.jobs.report(problem))
      .finally(() => {
        isTicking = false;
      });
  };
  start();
  const timer = setInterval(start, limits.transformationTickMs);
  return () => {
    clearInterval(timer);
    return tick;
  };
}
