// Tells whether what was read from a store may be kept in memory, while others change the store.

export class ChangeCounter {
  #changing = 0;
  #state = 0;

  /** Differs whenever a change begins or ends; to be read before the store is asked. */
  get state(): number {
    return this.#state;
  }

  /** Whether no change can have overtaken what was read since `state` was this. */
  isUnchangedSince(state: number): boolean {
    return this.#changing === 0 && this.#state === state;
  }

  /** Runs a change of the store. */
  async during<Answer>(change: () => Promise<Answer>): Promise<Answer> {
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
