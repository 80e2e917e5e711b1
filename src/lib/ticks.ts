// Work at short intervals, never twice at a time.

interface Ticking {
  readonly everyMs: number;
  /** Receives the errors of the work, which continues at the next interval. */
  readonly report: (problem: unknown) => void;
}

/** Runs `work` now and every `everyMs`. The returned function stops that, and waits for work in progress. */
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
