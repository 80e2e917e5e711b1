// Generates ids: positive integers below 2^53, ordered by time, never reused.
import type { System } from "./system.ts";

const epochMs = Date.UTC(2020, 0, 1);
const idsPerMs = 4096;

export class IdSource {
  readonly #system: System;
  #last: number;

  /** `lastUsed` is the highest id in use: a clock that was set back must not repeat an id. */
  constructor(system: System, lastUsed: number) {
    this.#system = system;
    this.#last = lastUsed;
  }

  next(): number {
    this.#last = Math.max((this.#system.nowMs() - epochMs) * idsPerMs, this.#last + 1);
    return this.#last;
  }

  get lastUsed(): number {
    return this.#last;
  }
}
