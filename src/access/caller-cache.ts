// Caches the caller of a secret (an API key, the cookie of a session) for a short time.
import { LruCache } from "../lib/lru-cache.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { Caller } from "./caller.ts";
import type { Rights } from "./rights.ts";

/** The caller of a secret, and when the secret expires, on the wall clock. */
export interface KnownCaller {
  readonly caller: Caller;
  readonly expiresTime: number;
}

interface Remembered extends KnownCaller {
  readonly rightsVersion: number;
  /** On the monotonic clock. */
  readonly readMs: number;
}

/** A read of the catalog in progress, which all requests with the same secret share. */
interface PendingRead {
  readonly rightsVersion: number;
  readonly result: Promise<KnownCaller | undefined>;
}

interface CallerCacheParts {
  readonly rights: Pick<Rights, "rightsVersion" | "isFresh">;
  readonly system: System;
  /** Reads the caller of a secret from this address; undefined when the secret is not valid. */
  readonly read: (secret: string, address: string) => Promise<KnownCaller | undefined>;
}

export class CallerCache {
  readonly #parts: CallerCacheParts;
  /**
   * A request with a cached secret waits neither for the catalog nor for a hash (15 us). The key is the whole
   * secret: the time of a lookup tells nothing about other secrets, as the hash of a map has a secret seed.
   */
  readonly #remembered = new LruCache<string, Remembered>(10_000);
  readonly #pending = new Map<string, PendingRead>();

  constructor(parts: CallerCacheParts) {
    this.#parts = parts;
  }

  /**
   * Returns the caller; undefined when the secret is not valid. Changes by other processes count within twice
   * `keyCacheMsMax`, changes by this process at once.
   */
  async find(secret: string, address = ""): Promise<KnownCaller | undefined> {
    const { rightsVersion } = this.#parts.rights;
    const remembered = this.cached(secret);
    if (remembered) return remembered;
    const pending = this.#pending.get(secret);
    if (pending?.rightsVersion === rightsVersion) return pending.result;
    const begun = { rightsVersion, result: this.#read(secret, rightsVersion, address) };
    this.#pending.set(secret, begun);
    try {
      return await begun.result;
    } finally {
      if (this.#pending.get(secret) === begun) this.#pending.delete(secret);
    }
  }

  /** As `find`, without a read; undefined when there is no current entry for the secret. */
  cached(secret: string): KnownCaller | undefined {
    const { rights, system } = this.#parts;
    const known = this.#remembered.get(secret);
    if (known?.rightsVersion !== rights.rightsVersion || !rights.isFresh(known.readMs)) return undefined;
    const ageMs = system.monotonicMs() - known.readMs;
    return ageMs < limits.callerAgeMsMax && known.expiresTime > system.nowMs() ? known : undefined;
  }

  forget(secret: string): void {
    this.#remembered.delete(secret);
  }

  async #read(secret: string, rightsVersion: number, address: string): Promise<KnownCaller | undefined> {
    const readMs = this.#parts.system.monotonicMs();
    const found = await this.#parts.read(secret, address);
    if (!found) {
      this.forget(secret);
      return undefined;
    }
    this.#remembered.set(secret, { ...found, rightsVersion, readMs });
    return found;
  }
}
