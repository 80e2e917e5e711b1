// Runs one task at a time for each key: a new task cancels the one before it, and starts when that has ended.

interface RunningTask {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export class KeyedTaskRunner {
  readonly #running = new Map<number, RunningTask>();

  /** Runs `task` when the earlier tasks of the key have ended. Its signal is aborted when it is canceled. */
  async run<Result>(key: number, task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    for (let before = this.#running.get(key); before; before = this.#running.get(key)) {
      before.stop.abort();
      await before.ended;
    }
    const stop = new AbortController();
    const result = task(stop.signal);
    const onEnd = () => this.#running.delete(key);
    this.#running.set(key, { stop, ended: result.then(onEnd, onEnd) });
    return result;
  }

  /** Whether a task of this key is running. */
  has(key: number): boolean {
    return this.#running.has(key);
  }

  /** Cancels the task of this key, if one is running, and waits for its end. */
  cancel(key: number): Promise<void> {
    return this.#running.has(key) ? this.run(key, async () => {}) : Promise.resolve();
  }

  /** Cancels all tasks and waits for their end. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((key) => this.cancel(key)));
  }
}
