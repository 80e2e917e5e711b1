// A semaphore with fair turns: a bounded number of places, few of them for one caller.

interface Waiter {
  readonly caller: string;
  readonly admit: () => void;
}

/**
 * Admits work while places are free. One caller holds at most `perCaller` places. Of the waiting callers, the
 * one that holds the fewest places goes first; of those, the one that has waited longest.
 */
export class Semaphore {
  readonly #places: number;
  readonly #perCaller: number;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiter[] = [];
  #taken = 0;

  constructor({ places, perCaller }: { readonly places: number; readonly perCaller: number }) {
    this.#places = places;
    this.#perCaller = perCaller;
  }

  /** The number of tasks that hold a place, and of those that wait for one. */
  get load(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken, waiting: this.#waiting.length };
  }

  /** Runs `task` once it has a place; rejects without running it if the signal is aborted before. */
  async use<Result>(caller: string, signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    await this.#acquire(caller, signal);
    try {
      return await task();
    } finally {
      this.#release(caller);
    }
  }

  #acquire(caller: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener("abort", onAbort);
        this.#taken += 1;
        this.#held.set(caller, this.#heldBy(caller) + 1);
        resolve();
      };
      const waiter = { caller, admit };
      this.#waiting.push(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#admitNext();
    });
  }

  #release(caller: string): void {
    this.#taken -= 1;
    const held = this.#heldBy(caller) - 1;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
    this.#admitNext();
  }

  #admitNext(): void {
    if (this.#taken >= this.#places) return;
    let next: Waiter | undefined;
    for (const waiter of this.#waiting)
      if (!next || this.#heldBy(waiter.caller) < this.#heldBy(next.caller)) next = waiter;
    if (!next || this.#heldBy(next.caller) >= this.#perCaller) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.admit();
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }
}
