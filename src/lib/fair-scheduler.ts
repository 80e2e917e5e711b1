// Shares one thread between long computations, a few milliseconds at a time, and with the thread's other
// work.
import { FairQueue } from "./fair-queue.ts";

/**
 * Runs one step in each turn of the event loop; a step takes a few milliseconds at most. The caller who has
 * used less time goes first, so callers share the thread equally, however many computations each of them
 * runs.
 */
export class FairScheduler {
  readonly #nowMs: () => number;
  readonly #steps = new FairQueue<() => void>();
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
      this.#steps.push(caller, () => {
        try {
          signal.throwIfAborted();
          resolve(step());
        } catch (problem) {
          reject(problem);
        }
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runOne());
  }

  /** Runs a single step: its computation must be able to queue again before the next one runs. */
  #runOne(): void {
    this.#isScheduled = false;
    const { caller, item: step } = this.#steps.take()!;
    const startMs = this.#nowMs();
    step();
    const tookMs = this.#nowMs() - startMs;
    this.#steps.served(caller, tookMs);
    this.#busyMs += tookMs;
    if (this.#steps.size > 0) this.#schedule();
  }
}
