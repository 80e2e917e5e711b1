// Shares one thread between long computations, a few milliseconds at a time, and with the thread's other
// work.

/** The waiting steps of one caller, and the virtual time up to which the caller has been served. */
interface Queue {
  readonly steps: (() => void)[];
  servedMs: number;
}

/**
 * Runs one step in each turn of the event loop; a step takes a few milliseconds at most. The caller who has
 * used less time goes first, so callers share the thread equally, however many computations each of them runs
 * (start-time fair queueing).
 */
export class FairScheduler {
  readonly #nowMs: () => number;
  readonly #queues = new Map<string, Queue>();
  /** The virtual time at which the last step started. A caller that returns has no credit from before. */
  #virtualMs = 0;
  #isScheduled = false;
  #busyMs = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** The total time of all steps. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** Runs the step in the caller's turn; rejects without running it once the signal is aborted. */
  run<Result>(caller: string, signal: AbortSignal, step: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const runStep = () => {
        try {
          signal.throwIfAborted();
          resolve(step());
        } catch (problem) {
          reject(problem);
        }
      };
      this.#queueOf(caller).steps.push(runStep);
      this.#schedule();
    });
  }

  #queueOf(caller: string): Queue {
    let queue = this.#queues.get(caller);
    if (!queue) {
      queue = { steps: [], servedMs: this.#virtualMs };
      this.#queues.set(caller, queue);
    }
    return queue;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runOne());
  }

  /** Runs a single step: its computation must be able to queue again before the next one runs. */
  #runOne(): void {
    this.#isScheduled = false;
    const queue = this.#next()!;
    const startMs = this.#nowMs();
    this.#virtualMs = Math.max(queue.servedMs, this.#virtualMs);
    queue.steps.shift()!();
    const tookMs = this.#nowMs() - startMs;
    queue.servedMs = this.#virtualMs + tookMs;
    this.#busyMs += tookMs;
    if (this.#next()) this.#schedule();
    else this.#queues.clear();
  }

  /** The waiting caller who has been served least. */
  #next(): Queue | undefined {
    let next: Queue | undefined;
    for (const queue of this.#queues.values())
      if (queue.steps.length > 0 && (!next || queue.servedMs < next.servedMs)) next = queue;
    return next;
  }
}
