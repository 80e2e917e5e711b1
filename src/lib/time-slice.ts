// Divides long work into slices, so that other requests run between two of them.
import { setImmediate as turn } from "node:timers/promises";

/** `if (slice.isOver()) await slice.next(signal);` in every loop that may take long. */
export class TimeSlice {
  readonly #lengthMs: number;
  #endsAtMs: number;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#endsAtMs = performance.now() + lengthMs;
  }

  isOver(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  /** Resolves after one turn of the event loop; rejects when the signal is aborted. */
  async next(signal?: AbortSignal): Promise<void> {
    await turn();
    signal?.throwIfAborted();
    this.#endsAtMs = performance.now() + this.#lengthMs;
  }
}
