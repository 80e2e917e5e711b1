// The current problems of a connector, and its last one.

export interface Problem {
  readonly message: string;
  readonly timeMs: number;
}

/** Where a problem is. Each place has one problem at most. */
export type ProblemPlace =
  | "source"
  | `source ${string}`
  | "server"
  | "sending"
  | "drops"
  | "report"
  | "buffer"
  | "disk"
  | "records";

/** One line for each place in this time, and the number of the others. */
const logEveryMs = 10_000;

export class Health {
  readonly #current = new Map<ProblemPlace, Problem>();
  /** When each place was last logged, and the problems since then that were not. */
  readonly #logged = new Map<ProblemPlace, { atMs: number; left: number }>();
  readonly #log: (line: string) => void;
  readonly #nowMs: () => number;
  #last: Problem | undefined;

  constructor(log: (line: string) => void, nowMs: () => number = Date.now) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** A problem that lasts until it is solved. */
  problem(place: ProblemPlace, message: string): void {
    this.#current.set(place, this.note(place, message));
  }

  /** A problem that is over, such as a record that cannot be read. */
  note(place: ProblemPlace, message: string): Problem {
    const problem = { message, timeMs: this.#nowMs() };
    this.#logSometimes(place, problem);
    this.#last = problem;
    return problem;
  }

  /** Something that an operator wants to see in the log. */
  tell(place: ProblemPlace, message: string): void {
    this.#log(`${place}: ${message}`);
  }

  solved(place: ProblemPlace): void {
    if (this.#current.delete(place)) this.#log(`${place}: works again`);
  }

  #logSometimes(place: ProblemPlace, { message, timeMs }: Problem): void {
    const logged = this.#logged.get(place) ?? { atMs: Number.NEGATIVE_INFINITY, left: 0 };
    this.#logged.set(place, logged);
    if (Math.abs(timeMs - logged.atMs) < logEveryMs) {
      logged.left += 1;
      return;
    }
    this.#log(`${place}: ${message}${logged.left > 0 ? ` (and ${logged.left} more)` : ""}`);
    Object.assign(logged, { atMs: timeMs, left: 0 });
  }

  /** The present problems, the newest last. */
  get current(): readonly Problem[] {
    return [...this.#current.values()];
  }

  get last(): Problem | undefined {
    return this.#last;
  }
}
