// Counts the work that a thread does for clients, so that work without a client can wait for it.

export class ClientWork {
  #begun = 0;
  #open = 0;

  /** All so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Begun, but not ended. */
  get open(): number {
    return this.#open;
  }

  begin(): void {
    this.#begun += 1;
    this.#open += 1;
  }

  end(): void {
    this.#open -= 1;
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }
}
