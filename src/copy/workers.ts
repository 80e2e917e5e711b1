// Runs the same work several times at once.
import { limits } from "../limits.ts";

/** Resolves when all have ended; rejects then with the first failure. */
export async function runWorkers(work: () => Promise<void>): Promise<void> {
  const ended = await Promise.allSettled(Array.from({ length: limits.copyWorkers }, work));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
