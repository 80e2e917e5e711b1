// Limits how often an address may log in, and how often it may fail: token buckets in bounded memory.
//
// A failure counts for its address and for its credential. A credential that was recently valid is not
// blocked by failures of other clients at its address, such as clients of one proxy or gateway of the plant.
import { isIPv6 } from "node:net";
import { fail } from "../errors.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";

/** Holds `size` for each name, and fills again by `size` a minute. */
class Buckets {
  readonly #size: number;
  readonly #levels = new LruCache<string, { level: number; atMs: number }>(limits.throttledNamesMax);

  constructor(size: number) {
    this.#size = size;
  }

  /** How long until there is one to take; 0 when there is. */
  waitMs(name: string, nowMs: number): number {
    const level = this.#levelOf(name, nowMs);
    return level >= 1 ? 0 : ((1 - level) / this.#size) * 60_000;
  }

  take(name: string, nowMs: number): void {
    const level = Math.max(this.#levelOf(name, nowMs) - 1, 0);
    this.#levels.set(name, { level, atMs: nowMs });
  }

  #levelOf(name: string, nowMs: number): number {
    const known = this.#levels.get(name);
    if (!known) return this.#size;
    return Math.min(this.#size, known.level + ((nowMs - known.atMs) / 60_000) * this.#size);
  }
}

export class Throttle {
  readonly #system: System;
  readonly #failuresOfAddress: Buckets;
  readonly #failuresOfCredential: Buckets;
  readonly #loginsOfAddress: Buckets;
  readonly #good = new LruCache<string, true>(limits.throttledNamesMax);

  /** So many logins, and so many failures, an address may have in a minute. */
  constructor(perMinute: number, system: System) {
    this.#system = system;
    this.#failuresOfAddress = new Buckets(perMinute);
    this.#failuresOfCredential = new Buckets(perMinute);
    this.#loginsOfAddress = new Buckets(perMinute);
  }

  /** Counts the beginning or the end of a login in a browser; 429 when there were too many. */
  countLogin(address: string): void {
    const nowMs = this.#system.monotonicMs();
    const name = networkOf(address);
    refuseFor(this.#loginsOfAddress.waitMs(name, nowMs));
    this.#loginsOfAddress.take(name, nowMs);
  }

  /** Refuses (429) to look at a credential when it, or its address, has failed too often. */
  refuseFailing(address: string, credential: string): void {
    const nowMs = this.#system.monotonicMs();
    refuseFor(this.#failuresOfCredential.waitMs(credential, nowMs));
    if (this.#good.get(credential) === undefined)
      refuseFor(this.#failuresOfAddress.waitMs(networkOf(address), nowMs));
  }

  /** Refuses (429) an address that has failed too often, before its request is looked at. */
  refuseAddress(address: string): void {
    refuseFor(this.#failuresOfAddress.waitMs(networkOf(address), this.#system.monotonicMs()));
  }

  succeeded(credential: string): void {
    if (this.#good.get(credential) === undefined) this.#good.set(credential, true);
  }

  failed(address: string, credential: string): void {
    const nowMs = this.#system.monotonicMs();
    this.#good.delete(credential);
    this.#failuresOfCredential.take(credential, nowMs);
    this.#failuresOfAddress.take(networkOf(address), nowMs);
  }
}

function refuseFor(waitMs: number): void {
  if (waitMs > 0) throw fail("too-many-attempts", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

/** One customer has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const [before, after] = [head.split(":"), tail?.split(":") ?? []];
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
