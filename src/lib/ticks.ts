// Work at short intervals, never twice at a time.

interface Ticking {
  readonly everyMs: number;
  /** Receives the errors of the work, which continues at the next interval. */
  readonly report: (problem: unknown) => void;
}

/** Works now and at intervals; returns the function that stops it, and waits for work in progress. */
export function startTicks({ everyMs, report }: Ticking, work: () => Promise<void>): () => Promise<void> {
  let tick = Promise.resolve();
  let isTicking = false;
  const start = () => {
    if (isTicking) return;
    isTicking = true;
    tick = work()
      .catch(report)
      .finally(() => {
        isTicking = false;
      });
  };
  start();
  const timer = setInterval(start, everyMs);
  return () => {
    clearInterval(timer);
    return tick;
  };
}
