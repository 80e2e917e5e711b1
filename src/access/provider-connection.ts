// Caches the description and the keys of one identity provider.
//
// Senders of tokens cannot make this server fetch often: for an unknown key it fetches at most once in
// `providerRefetchMsMin`, also when the fetch fails. It fetches only from addresses in the provider's
// description. Cached keys stay valid for `providerStaleMsMax` while the provider is unreachable.
import { createLocalJWKSet, errors, importJWK, type JWTVerifyGetKey } from "jose";
import type { ServerMetadata } from "openid-client";
import { fail } from "../errors.ts";
import type { AddressPolicy } from "../lib/address-policy.ts";
import { parseJson } from "../lib/json.ts";
import { FetchRefused, type OutboundFetch, outboundFetch } from "../lib/outbound-fetch.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { isSafeAddress, type Provider } from "./provider.ts";

/** As `fetch`, within the bounds for providers. */
export const providerFetch = (rules: {
  readonly isAllowed: AddressPolicy;
  readonly failsFast?: boolean;
}): OutboundFetch =>
  outboundFetch({
    ...rules,
    timeoutMs: limits.providerResponseMsMax,
    bytesMax: limits.providerResponseBytesMax,
  });

interface ConnectionParts {
  readonly fetch: OutboundFetch;
  readonly system: System;
  readonly onProblem: (problem: unknown) => void;
}

interface Known {
  readonly metadata: ServerMetadata;
  readonly keys: JWTVerifyGetKey;
  readonly fetchedMs: number;
}

export class ProviderConnection {
  readonly #issuer: string;
  readonly #parts: ConnectionParts;
  #known: Known | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(issuer: string, parts: ConnectionParts) {
    this.#issuer = issuer;
    this.#parts = parts;
  }

  /** The provider's own description; 503 when it is not known and cannot be had. */
  async metadata(): Promise<ServerMetadata> {
    return (await this.#current()).metadata;
  }

  /** The key that a token names, for `jwtVerify`; a JOSEError when the provider has none such. */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    const known = await this.#current();
    try {
      return await known.keys(header, token);
    } catch (problem) {
      if (!(problem instanceof errors.JWKSNoMatchingKey) || !this.#mayFetch()) throw problem;
      await this.#refresh();
      return (this.#known ?? known).keys(header, token);
    }
  };

  async #current(): Promise<Known> {
    const ageMs = this.#parts.system.monotonicMs() - (this.#known?.fetchedMs ?? Number.NEGATIVE_INFINITY);
    if (this.#mayFetch() && ageMs >= limits.providerFreshMsMax) {
      const refreshed = this.#refresh();
      // Known keys do not wait for their own renewal.
      if (!this.#known || ageMs >= limits.providerStaleMsMax) await refreshed;
    } else if (!this.#known) await this.#fetching;
    const oldest = this.#parts.system.monotonicMs() - limits.providerStaleMsMax;
    if (this.#known && this.#known.fetchedMs > oldest) return this.#known;
    throw fail("identity-provider-away", { retryAfterSeconds: limits.providerRefetchMsMin / 1000 });
  }

  #mayFetch(): boolean {
    return this.#parts.system.monotonicMs() - this.#triedMs >= limits.providerRefetchMsMin;
  }

  /** If this fails, the keys read before stay in use. */
  #refresh(): Promise<void> {
    this.#triedMs = this.#parts.system.monotonicMs();
    this.#fetching ??= describeProvider(this.#issuer, this.#parts.fetch)
      .then(({ metadata, keys }) => {
        this.#known = {
          metadata,
          keys: createLocalJWKSet(keys),
          fetchedMs: this.#parts.system.monotonicMs(),
        };
      })
      .catch(this.#parts.onProblem)
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }
}

type KeySet = Parameters<typeof createLocalJWKSet>[0];

/** Fetches a provider's description and keys. Rejects with a sentence for operators when they are invalid. */
export async function describeProvider(
  issuer: string,
  fetch: OutboundFetch,
): Promise<{ metadata: ServerMetadata; keys: KeySet }> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const metadata = (await jsonAt(fetch, address)) as Partial<ServerMetadata>;
  if (metadata.issuer !== issuer)
    throw new FetchRefused(`${address} calls itself ${String(metadata.issuer)}, not ${issuer}`);
  for (const name of ["jwks_uri", "token_endpoint", "authorization_endpoint", "userinfo_endpoint"] as const) {
    const given = metadata[name];
    const url = given === undefined ? undefined : URL.parse(given);
    const isLocal = URL.parse(issuer)?.protocol === "http:";
    if (url === null || (url && !(url.protocol === "https:" || (isLocal && isSafeAddress(url)))))
      throw new FetchRefused(`${address} names the ${name} ${given}, which is not encrypted`);
  }
  if (metadata.jwks_uri === undefined) throw new FetchRefused(`${address} names no jwks_uri`);
  const keys = (await jsonAt(fetch, metadata.jwks_uri)) as Partial<KeySet>;
  if (!Array.isArray(keys.keys)) throw new FetchRefused(`${metadata.jwks_uri} answers with no set of keys`);
  return { metadata: metadata as ServerMetadata, keys: keys as KeySet };
}

/** How many of a provider's keys can check a token that is signed as the project allows. */
export async function usableKeysIn({ keys }: KeySet, { algorithms }: Provider): Promise<number> {
  const usable = await Promise.all(
    keys.map(async (key) => {
      if (key.kty === "oct" || (key.use !== undefined && key.use !== "sig")) return false;
      const fitting = key.alg === undefined ? algorithms : algorithms.filter((one) => one === key.alg);
      const imports = fitting.map((algorithm) => importJWK(key, algorithm).then(isLongEnough, () => false));
      return (await Promise.all(imports)).includes(true);
    }),
  );
  return usable.filter(Boolean).length;
}

/** RSA below 2048 bits is refused when it comes to checking a token (RFC 7518, 3.3). */
const isLongEnough = (key: Awaited<ReturnType<typeof importJWK>>): boolean =>
  key instanceof CryptoKey && ((key.algorithm as { modulusLength?: number }).modulusLength ?? 2048) >= 2048;

async function jsonAt(fetch: OutboundFetch, address: string): Promise<object> {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  if (answer.status !== 200) throw new FetchRefused(`${address} answers with status ${answer.status}`);
  const json = parseJson(await answer.text());
  if (typeof json !== "object" || json === null) throw new FetchRefused(`${address} answers with no object`);
  return json;
}
