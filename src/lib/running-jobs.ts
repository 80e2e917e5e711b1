// Jobs that go on after the request that started them: each can be ended, and tells how far it is.
import { KeyedTaskRunner } from "./keyed-task-runner.ts";

export class RunningJobs {
  readonly #report: (problem: unknown) => void;
  readonly #turns = new KeyedTaskRunner();
  readonly #progress = new Map<number, number>();

  /** `report` hears of faults that no job should have. */
  constructor(report: (problem: unknown) => void) {
    this.#report = report;
  }

  /** Returns at once. The signal is aborted when the job should end; `tell` takes 0 to 1. */
  start(id: number, work: (signal: AbortSignal, tell: (progress: number) => void) => Promise<void>): void {
    this.#progress.set(id, 0);
    const tell = (progress: number) => void this.#progress.set(id, progress);
    this.#turns
      .run(id, (signal) => work(signal, tell))
      .catch(this.#report)
      .finally(() => this.#progress.delete(id));
  }

  /** Undefined when the job is not running. */
  progressOf(id: number): number | undefined {
    return this.#progress.get(id);
  }

  report(problem: unknown): void {
    this.#report(problem);
  }

  /** Ends a job, if it is running, and waits for it. */
  cancel(id: number): Promise<void> {
    return this.#turns.cancel(id);
  }

  cancelAll(): Promise<void> {
    return this.#turns.cancelAll();
  }
}
