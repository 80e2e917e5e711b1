// Bounds how long requests of one kind hold a thread in each turn of its event loop, so that other work of
// the thread waits for a slice at most.
import { FairQueue } from "./fair-queue.ts";

interface Waiter {
  readonly turn: Turn;
  readonly sinceMs: number;
  readonly begin: () => void;
}

export interface TurnCounts {
  readonly waiting: number;
  /** Turns that had to wait, and how long all of them waited. */
  readonly waited: number;
  readonly waitedSeconds: number;
}

const resolved = Promise.resolve();

/**
 * Work begins with `Turn.next` and lasts until it waits for something else, such as a store. One turn of the
 * event loop begins work until `sliceMs` have passed, and at least one that waits. Of the callers who wait,
 * the one who has used less time goes first.
 */
export class FairTurns {
  readonly #sliceMs: number;
  readonly #nowMs: () => number;
  readonly #waiters = new FairQueue<Waiter>();
  #running: Turn | undefined;
  #runningSinceMs = 0;
  /** The time that was used in this turn of the event loop. */
  #usedMs = 0;
  #isScheduled = false;
  readonly #counts = { waited: 0, waitedSeconds: 0 };

  constructor(sliceMs: number, nowMs = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#nowMs = nowMs;
  }

  get counts(): TurnCounts {
    return { waiting: this.#waiters.size, ...this.#counts };
  }

  /** The turns of one request. */
  of(caller: string): Turn {
    return new Turn(this, caller);
  }

  /** Called by `Turn`. */
  next(turn: Turn): Promise<void> | undefined {
    if (turn === this.#running) return undefined;
    this.#schedule();
    const mayBegin = !this.#running && this.#waiters.size === 0 && this.#usedMs < this.#sliceMs;
    if (mayBegin) {
      this.#begin(turn);
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiters.push(turn.caller, { turn, sinceMs: this.#nowMs(), begin: resolve });
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#usedMs = 0;
      this.#beginNext();
    });
  }

  #begin(turn: Turn): void {
    this.#running = turn;
    this.#runningSinceMs = this.#nowMs();
    // A tick that a microtask adds runs after all microtasks: the work is over, or it waits. The promise
    // costs less than `queueMicrotask`, which makes an async resource.
    void resolved.then(this.#endAfterMicrotasks);
  }

  readonly #endAfterMicrotasks = (): void => process.nextTick(this.#end);

  readonly #end = (): void => {
    const { caller } = this.#running!;
    const tookMs = this.#nowMs() - this.#runningSinceMs;
    this.#running = undefined;
    this.#usedMs += tookMs;
    this.#waiters.served(caller, tookMs);
    if (this.#usedMs < this.#sliceMs) this.#beginNext();
    if (this.#waiters.size > 0) this.#schedule();
  };

  #beginNext(): void {
    if (this.#running) return;
    const next = this.#waiters.take();
    if (!next) return;
    const { turn, sinceMs, begin } = next.item;
    this.#counts.waited += 1;
    this.#counts.waitedSeconds += (this.#nowMs() - sinceMs) / 1_000;
    this.#begin(turn);
    begin();
  }
}

export class Turn {
  readonly #turns: FairTurns;
  readonly caller: string;

  constructor(turns: FairTurns, caller: string) {
    this.#turns = turns;
    this.caller = caller;
  }

  /**
   * Call before work that follows a wait. Returns undefined if the work may begin at once, else a promise
   * of the caller's turn.
   */
  next(): Promise<void> | undefined {
    return this.#turns.next(this);
  }
}
