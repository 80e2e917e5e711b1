// One piece of work at a time for each key: who comes later ends the work before, waits for it, and goes on.

interface Work {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export class KeyedTaskRunner {
  readonly #running = new Map<number, Work>();

  /** Runs `work` when that of earlier callers has ended; its signal is aborted when it should end itself. */
  async run<Answer>(key: number, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    for (let before = this.#running.get(key); before; before = this.#running.get(key)) {
      before.stop.abort();
      await before.ended;
    }
    const stop = new AbortController();
    const answer = work(stop.signal);
    const over = () => this.#running.delete(key);
    this.#running.set(key, { stop, ended: answer.then(over, over) });
    return answer;
  }

  /** Whether work on this key is under way. */
  has(key: number): boolean {
    return this.#running.has(key);
  }

  /** Ends the work on this key, if there is any, and waits for it. */
  cancel(key: number): Promise<void> {
    return this.#running.has(key) ? this.run(key, async () => {}) : Promise.resolve();
  }

  /** Ends all work and waits for it. */
  async cancelAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((key) => this.cancel(key)));
  }
}
