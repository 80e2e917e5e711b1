// Access tokens of programs: short-lived, issued for an API key (RFC 6749, 4.4).
//
// A token names its key and has no rights of its own: a request with it has the caller of the key. It
// therefore ends with its key and its account, and changed rights count at once.
import { errors } from "jose";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import { CallerCache, type KnownCaller } from "./caller-cache.ts";
import { notAfter } from "./credentials.ts";
import type { OwnTokens } from "./own-tokens.ts";
import type { Rights } from "./rights.ts";

interface ProgramTokensParts {
  readonly own: OwnTokens;
  readonly keys: Pick<ApiKeys, "callerOfStored">;
  readonly rights: Pick<Rights, "rightsVersion" | "isFresh">;
  readonly system: System;
}

/** A token, and how long it is valid. */
export interface IssuedToken {
  readonly token: string;
  readonly validMs: number;
}

export class ProgramTokens {
  readonly #parts: ProgramTokensParts;
  readonly #cache: CallerCache;

  constructor(parts: ProgramTokensParts) {
    this.#parts = parts;
    this.#cache = new CallerCache({ ...parts, read: (token) => this.#read(token) });
  }

  /** Undefined for a caller without a stored key, such as the code of a model. */
  async issue({ user, credential }: Caller): Promise<IssuedToken | undefined> {
    if (credential?.kind !== "key") return undefined;
    const { own, system } = this.#parts;
    const nowMs = system.nowMs();
    const untilMs = notAfter(credential, nowMs + limits.programTokenMsMax);
    return { token: await own.makeForKey(credential.id, user, untilMs), validMs: untilMs - nowMs };
  }

  /** The caller of a token; undefined when it is not valid, or its key or account has ended. */
  find(token: string): Promise<KnownCaller | undefined> {
    return this.#cache.find(token);
  }

  /** As `find`, from the cache alone. */
  cached(token: string): KnownCaller | undefined {
    return this.#cache.cached(token);
  }

  /** Whether this server has issued the token, and it has expired. */
  async hasExpired(token: string): Promise<boolean> {
    try {
      await this.#parts.own.readForKey(token);
      return false;
    } catch (problem) {
      return problem instanceof errors.JWTExpired;
    }
  }

  async #read(token: string): Promise<KnownCaller | undefined> {
    const { own, keys } = this.#parts;
    const read = await own.readForKey(token).catch((problem: unknown) => {
      if (problem instanceof errors.JOSEError) return undefined;
      throw problem;
    });
    if (!read) return undefined;
    const known = await keys.callerOfStored(read.keyId);
    if (known?.caller.credential?.kind !== "key") return undefined;
    const expiresTime = Math.min(known.expiresTime, read.untilMs);
    // Keys and links that are made with a token end with it.
    const credential = { ...known.caller.credential, untilMs: expiresTime };
    return { caller: { ...known.caller, credential }, expiresTime };
  }
}
