// A semaphore with fair turns: a bounded number of places, few of them for one caller.

interface Waiting {
  readonly caller: string;
  readonly admit: () => void;
}

/**
 * Admits work while places are free. One caller holds at most `perCaller` of them. Among those who wait, the
 * caller who holds the fewest places goes first, then the one who has waited longest.
 */
export class FairSemaphore {
  readonly #places: number;
  readonly #perCaller: number;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor({ places, perCaller }: { readonly places: number; readonly perCaller: number }) {
    this.#places = places;
    this.#perCaller = perCaller;
  }

  /** How many pieces of work hold a place, and how many wait for one. */
  get load(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken, waiting: this.#waiting.length };
  }

  /** Runs `work` once it has a place; rejects without running it when the signal is aborted before. */
  async use<Result>(caller: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#place(caller, signal);
    try {
      return await work();
    } finally {
      this.#release(caller);
    }
  }

  #place(caller: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener("abort", giveUp);
        this.#taken += 1;
        this.#held.set(caller, this.#heldBy(caller) + 1);
        resolve();
      };
      const waiting = { caller, admit };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
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
    let next: Waiting | undefined;
    for (const one of this.#waiting)
      if (!next || this.#heldBy(one.caller) < this.#heldBy(next.caller)) next = one;
    if (!next || this.#heldBy(next.caller) >= this.#perCaller) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.admit();
  }

  #heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }
}
