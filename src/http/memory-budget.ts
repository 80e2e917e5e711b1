// Bounds the memory that request bodies, or responses, take together, and of that what those of one client
// take.
//
// Of bodies: each reserves memory as its bytes arrive, so all bodies may hold a part of what they need and
// wait for the rest. One of them at a time is moved to the reserve, which is enough for any body: it ends
// whatever the others hold, and then it is the turn of another one.

import { invariant } from "../lib/invariant.ts";

interface BudgetSizes {
  /** For all bodies but the one in the reserve. */
  readonly sharedBytes: number;
  /** The most that the bodies of one client have of that. */
  readonly clientBytes: number;
  /** As much as any body ever needs. */
  readonly reserveBytes: number;
  /** A body up to this size counts for nothing and never waits. */
  readonly uncountedBytes: number;
}

interface Waiting {
  readonly reservation: Reservation;
  readonly bytes: number;
  readonly start: () => void;
}

export class MemoryBudget {
  readonly #sizes: BudgetSizes;
  #free: number;
  readonly #heldBy = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #inReserve: Reservation | undefined;

  constructor(sizes: BudgetSizes) {
    this.#sizes = sizes;
    this.#free = sizes.sharedBytes;
  }

  /** Bytes that are free beside the reserve. */
  get free(): number {
    return this.#free;
  }

  /** For one body or response of a client. */
  open(client: string): Reservation {
    return new Reservation(this, client);
  }

  /** For `Reservation`: gives it so many bytes now, or when they are free. */
  resize(reservation: Reservation, wanted: number, signal: AbortSignal): Promise<void> | undefined {
    invariant(wanted <= this.#sizes.reserveBytes, "no body needs more than the reserve");
    const bytes = wanted <= this.#sizes.uncountedBytes ? 0 : wanted;
    if (bytes <= reservation.bytes || this.#fits(reservation, bytes)) {
      this.#give(reservation, bytes);
      return undefined;
    }
    return this.#wait(reservation, bytes, signal);
  }

  #fits(reservation: Reservation, bytes: number): boolean {
    if (reservation === this.#inReserve) return true;
    const more = bytes - reservation.bytes;
    return more <= this.#free && this.#of(reservation) + more <= this.#sizes.clientBytes;
  }

  #of = ({ client }: Reservation): number => this.#heldBy.get(client) ?? 0;

  #give(reservation: Reservation, bytes: number): void {
    const isLess = bytes < reservation.bytes;
    if (reservation !== this.#inReserve) this.#count(reservation, bytes - reservation.bytes);
    else if (bytes === 0) this.#inReserve = undefined;
    reservation.bytes = bytes;
    if (isLess) this.#startWaiting();
  }

  #count(reservation: Reservation, more: number): void {
    const held = this.#of(reservation) + more;
    this.#free -= more;
    if (held > 0) this.#heldBy.set(reservation.client, held);
    else this.#heldBy.delete(reservation.client);
  }

  async #wait(reservation: Reservation, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { reservation, bytes, start: resolve };
    const leave = () => {
      this.#remove(waiting);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.push(waiting);
    this.#startWaiting();
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** First come first served, as far as there is memory; the reserve goes to the client that holds least. */
  #startWaiting(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#remove(next);
      this.#give(next.reservation, next.bytes);
      next.start();
    }
  }

  #next(): Waiting | undefined {
    const fitting = this.#waiting.find(({ reservation, bytes }) => this.#fits(reservation, bytes));
    if (fitting || this.#inReserve || this.#waiting.length === 0) return fitting;
    const least = this.#waiting.reduce((a, b) => (this.#of(b.reservation) < this.#of(a.reservation) ? b : a));
    this.#count(least.reservation, -least.reservation.bytes);
    this.#inReserve = least.reservation;
    return least;
  }

  #remove(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
  }
}

/** The memory of one body. */
export class Reservation {
  readonly #budget: MemoryBudget;
  readonly client: string;
  /** What is reserved; changed by the budget alone. */
  bytes = 0;

  constructor(budget: MemoryBudget, client: string) {
    this.#budget = budget;
    this.client = client;
  }

  /** Reserves so many bytes in all: at once, or when the promise resolves. Rejects when the signal aborts. */
  resize(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    return this.#budget.resize(this, bytes, signal);
  }

  release(): void {
    this.#budget.resize(this, 0, never);
  }
}

const never = new AbortController().signal;
