// Tells whether data that was read from a store may be cached, or a change has overtaken the read.

export class ChangeCounter {
  #changing = 0;
  #state = 0;

  /** Differs whenever a change begins or ends. Read it before you read from the store. */
  get state(): number {
    return this.#state;
  }

  /** Whether no change can have overtaken a read that began at this state. */
  isUnchangedSince(state: number): boolean {
    return this.#changing === 0 && this.#state === state;
  }

  /** Counts a change that this server did not make. */
  changed(): void {
    this.#state++;
  }

  /** Runs a change of the store. */
  async during<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#changing++;
    this.#state++;
    try {
      return await change();
    } finally {
      this.#changing--;
      this.#state++;
    }
  }
}
