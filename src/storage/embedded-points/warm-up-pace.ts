// Decides when the thread of a shard runs the next step of its warm-up, and when it needs no more of them.

/** So many reads have compiled the code themselves. */
const readsMax = 400;
/** A thread that is busy for 5 minutes compiles the code when it needs it. */
const postponedMax = 60_000;

export class WarmUpPace {
  #isBusy = false;
  #reads = 0;
  #postponed = 0;

  /** The thread has had other work since the last decision. */
  noteWork(): void {
    this.#isBusy = true;
  }

  /** Points or aggregates were read; records and other calls compile no code of reads. */
  noteRead(): void {
    this.#reads += 1;
  }

  decide(): "run" | "postpone" | "end" {
    if (this.#reads >= readsMax || this.#postponed >= postponedMax) return "end";
    if (!this.#isBusy) return "run";
    this.#isBusy = false;
    this.#postponed += 1;
    return "postpone";
  }
}
