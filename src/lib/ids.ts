// Generates ids: positive integers below 2^53, never reused.
import type { System } from "./system.ts";

export interface IdSource {
  next(): number;
}

const epochMs = Date.UTC(2020, 0, 1);
const idsPerMs = 4096;

/** Ids of a server that writes its catalog alone, ordered by time. */
export class ClockIds implements IdSource {
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
}

interface Reservation {
  /** Ids in one reservation: several times as many as a request needs. */
  readonly count: number;
  /** Reserves ids that no record has had; returns the first one. */
  readonly reserve: () => Promise<number>;
  /** The error of a request that needs ids while no more can be reserved. */
  readonly exhausted: () => Error;
}

/** Ids that a server has reserved in the catalog that it shares with others; ordered within a reservation. */
export class ReservedIds implements IdSource {
  readonly #reservation: Reservation;
  readonly #blocks: number[];
  #used = 0;
  #reserving = false;

  private constructor(reservation: Reservation, blocks: readonly number[]) {
    this.#reservation = reservation;
    this.#blocks = [...blocks];
  }

  static async open(reservation: Reservation): Promise<ReservedIds> {
    return new ReservedIds(reservation, [await reservation.reserve()]);
  }

  next(): number {
    const { count, exhausted } = this.#reservation;
    if (this.#blocks.length < 2 && this.#used >= count / 2) this.#reserveMore();
    if (this.#used === count) {
      if (this.#blocks.length < 2) throw exhausted();
      this.#blocks.shift();
      this.#used = 0;
    }
    return this.#blocks[0]! + this.#used++;
  }

  /** The next block, before it is needed. After a failure the next id tries again. */
  #reserveMore(): void {
    if (this.#reserving) return;
    this.#reserving = true;
    this.#reservation
      .reserve()
      .then((first) => this.#blocks.push(first))
      .catch(() => undefined)
      .finally(() => {
        this.#reserving = false;
      });
  }
}
