// Decides when a thread runs the next step of its warm-up, and when it needs no more of them.

/** So many calls have compiled the code themselves. */
const callsMax = 400;
/** A thread that is busy for minutes compiles the code when it needs it. */
const postponedMax = 60_000;

export class WarmUpPace {
  #isBusy = false;
  #calls = 0;
  #postponed = 0;

  /** The thread has had other work since the last decision. */
  noteWork(): void {
    this.#isBusy = true;
  }

  /** A call ran the code that the warm-up prepares. */
  noteCall(): void {
    this.#calls += 1;
  }

  decide(): "run" | "postpone" | "end" {
    if (this.#calls >= callsMax || this.#postponed >= postponedMax) return "end";
    if (!this.#isBusy) return "run";
    this.#isBusy = false;
    this.#postponed += 1;
    return "postpone";
  }
}
