// Tells whether data that was read from a store may be cached, or a change has overtaken the read.
//
// The two numbers are in memory that several threads may share: then each of them sees the changes of all.

/** Numbers of one counter: the changes in progress, and the state. */
export const cellsOfCounter = 2;

export class ChangeCounter {
  readonly #cells: Int32Array;

  constructor(cells: Int32Array = new Int32Array(cellsOfCounter)) {
    this.#cells = cells;
  }

  /** Differs whenever a change begins or ends. Read it before you read from the store. */
  get state(): number {
    return Atomics.load(this.#cells, 1);
  }

  /** Whether no change can have overtaken a read that began at this state. */
  isUnchangedSince(state: number): boolean {
    return Atomics.load(this.#cells, 0) === 0 && this.state === state;
  }

  /** Counts a change that was not made with `during`. */
  changed(): void {
    Atomics.add(this.#cells, 1, 1);
  }

  /** Runs a change of the store. */
  async during<Result>(change: () => Promise<Result>): Promise<Result> {
    Atomics.add(this.#cells, 0, 1);
    this.changed();
    try {
      return await change();
    } finally {
      // Between these two, other threads may use the state of during the change: it is out of date at once.
      Atomics.sub(this.#cells, 0, 1);
      this.changed();
    }
  }
}
