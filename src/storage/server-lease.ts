// The lease of this server on its background work.
//
// The record of such work has the number of the lease as its `owner`. A server renews its lease; the clock of
// the database decides when it expires. Other servers then end the lease, which is final: they take over the
// work, or mark it as failed. A server whose lease was ended stops its work and gets a new lease. Its late
// writes change nothing, because a change of a record requires that the record still has its owner and state.
// A catalog that only one server has open needs no lease, so that every earlier owner has ended.
import { fail } from "../errors.ts";
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, between, type Filter, not, oneOf } from "../query/filter.ts";
import type { LeaseState, ServerLeases } from "./catalog.ts";

/** Takes over the records that the filter selects: those whose owner has ended. */
export type TakeOver = (abandoned: Filter) => Promise<void>;

interface Watched {
  /** Whether the record of the work still names this server, and the work has not ended. */
  readonly isOwned: () => Promise<boolean>;
  readonly onLost: () => void;
}

interface LeaseParts {
  readonly ids: IdSource;
  readonly system: System;
  /** Receives failures to take over work, which is then tried again. */
  readonly report: (problem: unknown) => void;
}

/** Work of this server that must end when its record names another one. */
export interface OwnedWork<Result> {
  readonly signal: AbortSignal;
  readonly isOwned: Watched["isOwned"];
  readonly run: (signal: AbortSignal) => Promise<Result>;
}

export class ServerLease {
  readonly #leases: ServerLeases | undefined;
  readonly #parts: LeaseParts;
  readonly #watched = new Set<Watched>();
  /** The ended leases whose work was taken over. */
  readonly #handled = new Set<number>();
  #number: number;
  #heldUntilMs: number;
  /** Since when the lease is valid without a gap. */
  #heldSinceMs: number;
  #takeOver: TakeOver | undefined;
  #takingOver: Promise<void> = Promise.resolve();
  #ticking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    leases: ServerLeases | undefined,
    parts: LeaseParts,
    granted: { readonly number: number; readonly sinceMs: number; readonly untilMs: number },
  ) {
    this.#leases = leases;
    this.#parts = parts;
    this.#number = granted.number;
    this.#heldSinceMs = granted.sinceMs;
    this.#heldUntilMs = granted.untilMs;
  }

  /** `leases` is absent if no other server can have the catalog open. */
  static async open(leases: ServerLeases | undefined, parts: LeaseParts): Promise<ServerLease> {
    const sinceMs = parts.system.monotonicMs();
    if (!leases)
      return new ServerLease(undefined, parts, {
        ...{ number: parts.ids.next(), sinceMs, untilMs: Number.POSITIVE_INFINITY },
      });
    const granted = { number: await leases.grant(), sinceMs, untilMs: sinceMs + limits.serverLeaseMs };
    const lease = new ServerLease(leases, parts, granted);
    lease.#timer = setInterval(() => lease.#tick(leases), limits.serverLeaseRenewMs).unref();
    return lease;
  }

  /** The owner of the work that this server starts. */
  get owner(): number {
    return this.#number;
  }

  /** Throws unless no other server can have taken over the work of this owner. */
  requireHeld(owner: number): void {
    if (owner === this.#number && this.#parts.system.monotonicMs() < this.#heldUntilMs) return;
    throw fail("lease-expired", { retryAfterSeconds: Math.ceil(limits.serverLeaseRenewMs / 1000) });
  }

  /** Takes over the work of ended servers: now, and whenever the lease of another server has ended. */
  async start(takeOver: TakeOver): Promise<void> {
    const states = await this.#states();
    await takeOver(abandonedBy(states));
    for (const { number, hasEnded } of states) if (hasEnded) this.#handled.add(number);
    this.#takeOver = takeOver;
  }

  /** The filter of records whose owner has ended. */
  async abandoned(): Promise<Filter> {
    return abandonedBy(await this.#states());
  }

  /** Whether this server has the oldest lease: of several servers at most one, except while leases change. */
  async isFirst(): Promise<boolean> {
    const live = (await this.#states()).filter(({ hasEnded }) => !hasEnded);
    return Math.min(...live.map(({ number }) => number)) === this.#number;
  }

  /** Takes over no more work; resolves when none is being taken over. */
  async retire(): Promise<void> {
    this.#takeOver = undefined;
    await this.#takingOver;
  }

  /** Ends the lease. Call it when the work of this server has stopped. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#ticking;
    // While the database is away, the lease expires by itself.
    await this.#leases?.end(this.#number).catch(() => undefined);
  }

  /** Calls `onLost` when the work is no longer this server's, until the result is disposed of. */
  watch(isOwned: Watched["isOwned"], onLost: Watched["onLost"]): Disposable {
    const watched = { isOwned, onLost };
    this.#watched.add(watched);
    return { [Symbol.dispose]: () => void this.#watched.delete(watched) };
  }

  /** Runs work; its signal is aborted when the work is no longer this server's. */
  async own<Result>({ signal, isOwned, run }: OwnedWork<Result>): Promise<Result> {
    const lost = new AbortController();
    using _ = this.watch(isOwned, () => lost.abort());
    return await run(AbortSignal.any([signal, lost.signal]));
  }

  async #states(): Promise<readonly LeaseState[]> {
    return (await this.#leases?.list()) ?? [{ number: this.#number, hasEnded: false }];
  }

  #tick(leases: ServerLeases): void {
    this.#ticking ??= this.#renew(leases)
      // The database is away; the next tick tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#ticking = undefined;
      });
  }

  async #renew(leases: ServerLeases): Promise<void> {
    const nowMs = this.#parts.system.monotonicMs();
    if (nowMs >= this.#heldUntilMs) this.#heldSinceMs = nowMs;
    if (!(await leases.renew(this.#number))) await this.#lose(leases);
    this.#heldUntilMs = nowMs + limits.serverLeaseMs;
    await Promise.all([...this.#watched].map((one) => this.#check(one)));
    // When the database was away, every lease has expired. So each server renews before any ends others.
    if (nowMs - this.#heldSinceMs >= limits.serverLeaseMs) await leases.endExpired();
    const states = await leases.list();
    const ended = states.filter(({ number, hasEnded }) => hasEnded && !this.#handled.has(number));
    if (ended.length > 0) this.#takeOverAll(states);
  }

  async #lose(leases: ServerLeases): Promise<void> {
    for (const { onLost } of this.#watched) onLost();
    this.#heldSinceMs = this.#parts.system.monotonicMs();
    this.#number = await leases.grant();
  }

  async #check({ isOwned, onLost }: Watched): Promise<void> {
    // A failed read says nothing about the owner.
    if (!(await isOwned().catch(() => true))) onLost();
  }

  /** Beside the renewals, because it may take longer than a lease. */
  #takeOverAll(states: readonly LeaseState[]): void {
    const takeOver = this.#takeOver;
    if (!takeOver) return;
    for (const { number, hasEnded } of states) if (hasEnded) this.#handled.add(number);
    this.#takingOver = this.#takingOver
      .then(() => takeOver(abandonedBy(states)))
      .catch((problem: unknown) => {
        this.#handled.clear();
        this.#parts.report(problem);
      });
  }
}

/** The records whose owner is none of the servers that hold a lease. A later owner is not in the list. */
function abandonedBy(states: readonly LeaseState[]): Filter {
  const live = states.filter(({ hasEnded }) => !hasEnded).map(({ number }) => number);
  const last = Math.max(...states.map(({ number }) => number));
  return and(not(oneOf("owner", live)), not(between("owner", { from: { value: last, inclusive: false } })));
}
