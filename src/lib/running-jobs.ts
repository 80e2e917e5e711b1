// Jobs that continue after the request that started them: each can be canceled and reports its progress.
import { KeyedTaskRunner } from "./keyed-task-runner.ts";

export class RunningJobs {
  readonly #report: (problem: unknown) => void;
  readonly #tasks = new KeyedTaskRunner();
  readonly #progress = new Map<number, number>();

  /** `report` receives unexpected errors of jobs. */
  constructor(report: (problem: unknown) => void) {
    this.#report = report;
  }

  /** Returns at once. The signal is aborted when the job is canceled; progress is from 0 to 1. */
  start(
    id: number,
    job: (signal: AbortSignal, setProgress: (progress: number) => void) => Promise<void>,
  ): void {
    this.#progress.set(id, 0);
    const setProgress = (progress: number) => void this.#progress.set(id, progress);
    this.#tasks
      .run(id, (signal) => job(signal, setProgress))
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

  /** Cancels a job, if it is running, and waits for its end. */
  cancel(id: number): Promise<void> {
    return this.#tasks.cancel(id);
  }

  cancelAll(): Promise<void> {
    return this.#tasks.cancelAll();
  }
}
