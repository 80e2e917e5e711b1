// What an API key may use each second: requests, datapoints and bytes.
//
// Each server counts by itself, in memory. A request begins while nothing is overdrawn, and what it uses is
// subtracted when it is known, also below zero. So one large request is served whole, and the next ones wait
// until its use is made up for.
import { setTimeout as wait } from "node:timers/promises";
import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";

export const limitedUnits = ["requests", "points", "bytes"] as const;
export type LimitedUnit = (typeof limitedUnits)[number];

/** The use that is allowed each second; a unit that is absent has no limit. */
export type KeyLimits = { readonly [Unit in LimitedUnit as `${Unit}PerSecond`]?: number | undefined };

/** An allowance grows steadily, up to that of one second. */
class Allowance {
  readonly perSecond: number;
  #left: number;
  #atMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.perSecond = perSecond;
    this.#left = perSecond;
    this.#atMs = nowMs;
  }

  /** The time until nothing is overdrawn. */
  waitMs(nowMs: number): number {
    const grown = ((nowMs - this.#atMs) / 1_000) * this.perSecond;
    this.#left = Math.min(this.#left + grown, this.perSecond);
    this.#atMs = nowMs;
    return Math.max(0, (-this.#left / this.perSecond) * 1_000);
  }

  /** Subtracts what was used; a negative amount gives it back. */
  use(amount: number): void {
    const overdrawnMax = (limits.keyLimitDebtMsMax / 1_000) * this.perSecond;
    this.#left = Math.max(this.#left - amount, -overdrawnMax);
  }
}

/** The use of one key that has limits. */
export class KeyUse {
  readonly limits: KeyLimits;
  readonly #system: System;
  readonly #allowances: ReadonlyMap<LimitedUnit, Allowance>;

  constructor(keyLimits: KeyLimits, system: System) {
    this.limits = keyLimits;
    this.#system = system;
    const nowMs = system.monotonicMs();
    this.#allowances = new Map(
      limitedUnits.flatMap((unit) => {
        const perSecond = keyLimits[`${unit}PerSecond`];
        return perSecond === undefined ? [] : [[unit, new Allowance(perSecond, nowMs)]];
      }),
    );
  }

  /**
   * Begins a request: at once, or in the order of arrival after a wait of up to `keyLimitWaitMsMax`. Refuses
   * it (429) if the wait would be longer.
   */
  async begin(): Promise<void> {
    const startMs = this.#system.monotonicMs();
    this.use("requests", 1);
    for (;;) {
      const { waitMs, allowance, unit } = this.#longestWait();
      if (waitMs === 0) return;
      if (this.#system.monotonicMs() + waitMs > startMs + limits.keyLimitWaitMsMax) {
        this.use("requests", -1);
        const retryAfterSeconds = Math.ceil(waitMs / 1_000);
        throw fail("key-over-limit", { unit, perSecond: allowance.perSecond, retryAfterSeconds });
      }
      await wait(Math.ceil(waitMs));
    }
  }

  use(unit: LimitedUnit, amount: number): void {
    this.#allowances.get(unit)?.use(amount);
  }

  #longestWait() {
    const nowMs = this.#system.monotonicMs();
    return [...this.#allowances]
      .map(([unit, allowance]) => ({ unit, allowance, waitMs: allowance.waitMs(nowMs) }))
      .reduce((one, other) => (other.waitMs > one.waitMs ? other : one));
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
