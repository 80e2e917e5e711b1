// Finds the callers of API keys in a front thread; the main thread serves all requests with other
// credentials.
import type { AuthenticationResult, Authenticator } from "../access/authenticator.ts";
import { CallerCache, type KnownCaller } from "../access/caller-cache.ts";
import { seeAsHeader } from "../access/see-as.ts";
import { NeedsMain } from "../http/needs-main.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";

interface FrontAuthenticatorParts {
  /** The cell of `Rights.rightsVersion`. */
  readonly rightsVersion: Int32Array;
  readonly system: System;
  /** Gets the caller from the main thread. */
  readonly callerOf: (key: string, address: string) => Promise<KnownCaller | undefined>;
}

export function frontAuthenticator({
  rightsVersion,
  system,
  callerOf,
}: FrontAuthenticatorParts): Pick<Authenticator, "authenticate"> {
  const rights = {
    get rightsVersion() {
      return Atomics.load(rightsVersion, 0);
    },
    isFresh: (readMs: number) => system.monotonicMs() < readMs + limits.keyCacheMsMax,
  };
  const cache = new CallerCache({ rights, system, read: callerOf });
  return {
    authenticate({ headers, address }) {
      const key = headers["api-key"];
      if (typeof key !== "string" || key === "" || headers[seeAsHeader] !== undefined) throw new NeedsMain();
      const known = cache.cached(key);
      return known ? resultOf(known) : cache.find(key, address).then(resultOf);
    },
  };
}

/** The main thread refuses invalid keys, keeps the limits of a key, and ends keys of running work. */
function resultOf(known: KnownCaller | undefined): AuthenticationResult {
  if (known === undefined || known.caller.keyLimits || known.caller.credential?.kind !== "key")
    throw new NeedsMain();
  return { caller: known.caller };
}
