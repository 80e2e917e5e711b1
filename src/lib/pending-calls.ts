// Calls to another thread that have no result yet, each with an id that its result carries.

interface PendingCall {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;

  /** Sends a call with a new id. The promise settles with `resolve`, `reject` or `rejectAll`. */
  start<Result>(send: (id: number) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#calls.set(id, { resolve, reject });
      send(id);
    });
  }

  resolve(id: number, result: unknown): void {
    this.#take(id)?.resolve(result as never);
  }

  reject(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** The other thread has ended: none of the calls will have a result. */
  rejectAll(error: () => Error): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(error());
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }
}
