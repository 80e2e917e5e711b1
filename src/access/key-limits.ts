// Limits the requests, datapoints and bytes of an API key per second.
//
// Each server counts by itself, in memory. A request waits until the use of earlier requests fits into the
// limits. Its own use is known only at its end; until then the average of recent requests of the key counts.
import { setTimeout as wait } from "node:timers/promises";
import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";

export const limitedUnits = ["requests", "points", "bytes"] as const;
export type LimitedUnit = (typeof limitedUnits)[number];

/** The use that is allowed each second; a unit that is absent has no limit. */
export type KeyLimits = { readonly [Unit in LimitedUnit as `${Unit}PerSecond`]?: number | undefined };

/** The use of one unit, kept as the time at which the limit allows that much. */
class Meter {
  readonly perSecond: number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** The time until this much more may be used. The use of one second may come at once. */
  waitMs(amount: number, nowMs: number): number {
    return Math.max(0, this.#untilMs + this.#msOf(amount) - nowMs - 1_000);
  }

  /** Adds to the use; a negative amount reduces it. */
  use(amount: number, nowMs: number): void {
    const usedMs = Math.max(this.#untilMs, nowMs) + this.#msOf(amount);
    this.#untilMs = Math.min(usedMs, nowMs + 1_000 + limits.keyLimitDebtMsMax);
  }

  #msOf(amount: number): number {
    return (amount / this.perSecond) * 1_000;
  }
}

/** The weight of the latest request in the average of the expected use. */
const expectationWeight = 0.2;

/** The use of one key that has limits. */
export class KeyUse {
  readonly limits: KeyLimits;
  readonly #system: System;
  readonly #meters = new Map<LimitedUnit, Meter>();
  readonly #expected = { requests: 1, points: 0, bytes: 0 };

  constructor(keyLimits: KeyLimits, system: System) {
    this.limits = keyLimits;
    this.#system = system;
    for (const unit of limitedUnits) {
      const perSecond = keyLimits[`${unit}PerSecond`];
      if (perSecond !== undefined) this.#meters.set(unit, new Meter(perSecond));
    }
  }

  /** Begins a request: at once, or after a wait of up to `keyLimitWaitMsMax`. Refuses as `admit` does. */
  async begin(): Promise<RequestUse> {
    const { request, waitMs } = this.admit();
    if (waitMs > 0) await wait(Math.ceil(waitMs));
    return request;
  }

  /**
   * Admits a request that begins after `waitMs`. Refuses it (429) if the wait would be longer than
   * `keyLimitWaitMsMax`; then it does not count.
   */
  admit(): { readonly request: RequestUse; readonly waitMs: number } {
    const { waitMs, unit } = this.#longestWait();
    if (waitMs > limits.keyLimitWaitMsMax) {
      const { perSecond } = this.#meters.get(unit)!;
      throw fail("key-over-limit", { unit, perSecond, retryAfterSeconds: Math.ceil(waitMs / 1_000) });
    }
    return { request: new RequestUse(this, this.#expected), waitMs };
  }

  /** Adds to the use, if the unit has a limit; a negative amount reduces it. */
  use(unit: LimitedUnit, amount: number): void {
    this.#meters.get(unit)?.use(amount, this.#system.monotonicMs());
  }

  /** Adds the use of a request that has ended to the average. */
  expect(unit: "points" | "bytes", used: number): void {
    const most = ((this.#meters.get(unit)?.perSecond ?? 0) * limits.keyLimitDebtMsMax) / 1_000;
    this.#expected[unit] += (Math.min(used, most) - this.#expected[unit]) * expectationWeight;
  }

  #longestWait() {
    const nowMs = this.#system.monotonicMs();
    return [...this.#meters]
      .map(([unit, meter]) => ({ unit, waitMs: meter.waitMs(unit === "requests" ? 1 : 0, nowMs) }))
      .reduce((one, other) => (other.waitMs > one.waitMs ? other : one));
  }
}

/** The use of one request. The expected use counts until the request has used more, or has ended. */
export class RequestUse {
  readonly #key: KeyUse;
  readonly #counted: { points: number; bytes: number };
  readonly #used = { points: 0, bytes: 0 };
  #hasEnded = false;

  constructor(key: KeyUse, expected: Readonly<Record<LimitedUnit, number>>) {
    this.#key = key;
    this.#counted = { points: expected.points, bytes: expected.bytes };
    for (const unit of limitedUnits) key.use(unit, expected[unit]);
  }

  /** Adds to the use of the request. */
  use(unit: "points" | "bytes", amount: number): void {
    this.#used[unit] += amount;
    const more = this.#used[unit] - this.#counted[unit];
    if (!this.#hasEnded && more <= 0) return;
    this.#counted[unit] = this.#used[unit];
    this.#key.use(unit, more);
  }

  /** Replaces the expected use by the real one. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const unit of ["points", "bytes"] as const) {
      this.#key.expect(unit, this.#used[unit]);
      this.use(unit, 0);
    }
  }
}

/** The use of all keys with limits, by the id of the key. */
export class KeyUses {
  readonly #system: System;
  readonly #uses = new LruCache<number, KeyUse>(10_000);

  constructor(system: System) {
    this.#system = system;
  }

  /** The use of a key. It begins again when the limits of the key have changed. */
  of(keyId: number, keyLimits: KeyLimits): KeyUse {
    const known = this.#uses.get(keyId);
    if (known && isSame(known.limits, keyLimits)) return known;
    const use = new KeyUse(keyLimits, this.#system);
    this.#uses.set(keyId, use);
    return use;
  }
}

const isSame = (one: KeyLimits, other: KeyLimits): boolean =>
  limitedUnits.every((unit) => one[`${unit}PerSecond`] === other[`${unit}PerSecond`]);
