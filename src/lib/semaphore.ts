// A bounded number of pieces of work at a time; others wait for their turn, in the order they came.

export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs `work` when it is its turn; rejects, without it, when the signal is aborted before. */
  async use<Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#handedOver(signal);
  }

  /** Whoever ends hands its place on, so that nobody can step in between. */
  #handedOver(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(signal.reason);
      };
      this.#waiting.push(next);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }
}
