// Bounds the memory of all request bodies, or of all responses, and the share of one client.
//
// A body reserves memory as its bytes arrive, so that all bodies may have a part and wait for the rest. One
// of them at a time moves to the reserve, which is enough for any body. It completes whatever the others
// have reserved, and then the next one moves to the reserve.
import { invariant } from "../lib/invariant.ts";

interface BudgetSizes {
  /** For all bodies except the one in the reserve. */
  readonly sharedBytes: number;
  /** The part of `sharedBytes` that one client may have. */
  readonly clientBytes: number;
  /** Enough for the largest body. */
  readonly reserveBytes: number;
  /** A body up to this size is not counted and never waits. */
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
  readonly #reservedBy = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #inReserve: Reservation | undefined;

  constructor(sizes: BudgetSizes) {
    this.#sizes = sizes;
    this.#free = sizes.sharedBytes;
  }

  /** Free bytes, without the reserve. */
  get free(): number {
    return this.#free;
  }

  /** Starts a reservation for one body or response of a client. */
  open(client: string): Reservation {
    return new Reservation(this, client);
  }

  /** Called by `Reservation`: gives it this number of bytes now, or when they are free. */
  resize(reservation: Reservation, requested: number, signal: AbortSignal): Promise<void> | undefined {
    invariant(requested <= this.#sizes.reserveBytes, "no body needs more than the reserve");
    const bytes = requested <= this.#sizes.uncountedBytes ? 0 : requested;
    if (bytes <= reservation.bytes || this.#fits(reservation, bytes)) {
      this.#give(reservation, bytes);
      return undefined;
    }
    return this.#wait(reservation, bytes, signal);
  }

  #fits(reservation: Reservation, bytes: number): boolean {
    if (reservation === this.#inReserve) return true;
    const more = bytes - reservation.bytes;
    return more <= this.#free && this.#bytesOf(reservation) + more <= this.#sizes.clientBytes;
  }

  #bytesOf = ({ client }: Reservation): number => this.#reservedBy.get(client) ?? 0;

  #give(reservation: Reservation, bytes: number): void {
    const isLess = bytes < reservation.bytes;
    if (reservation !== this.#inReserve) this.#count(reservation, bytes - reservation.bytes);
    else if (bytes === 0) this.#inReserve = undefined;
    reservation.bytes = bytes;
    if (isLess) this.#startWaiting();
  }

  #count(reservation: Reservation, more: number): void {
    const reserved = this.#bytesOf(reservation) + more;
    this.#free -= more;
    if (reserved > 0) this.#reservedBy.set(reservation.client, reserved);
    else this.#reservedBy.delete(reservation.client);
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

  /** First come, first served among those that fit; the reserve goes to the client with the fewest bytes. */
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
    const least = this.#waiting.reduce((a, b) =>
      this.#bytesOf(b.reservation) < this.#bytesOf(a.reservation) ? b : a,
    );
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
  /** The reserved bytes; only the budget changes them. */
  bytes = 0;

  constructor(budget: MemoryBudget, client: string) {
    this.#budget = budget;
    this.client = client;
  }

  /** Reserves this total: now, or when the promise resolves. Rejects when the signal aborts. */
  resize(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    return this.#budget.resize(this, bytes, signal);
  }

  release(): void {
    if (this.bytes > 0) this.#budget.resize(this, 0, neverAborted);
  }
}

const neverAborted = new AbortController().signal;
