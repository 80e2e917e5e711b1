// From a bearer token to its user: ours, or one of a project's identity provider (RFC 8725 throughout).
//
// Nothing that a token names is ever fetched: `jku`, `x5u`, `jwk` and `x5c` of its header are not looked at,
// and its issuer only chooses among the providers that administrators have written down.
import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import type { LoginDirectory, LoginProject } from "./login-directory.ts";
import { type Login, type OwnTokens, ownIssuer, type TokenKind } from "./own-tokens.ts";
import type { Provider } from "./provider.ts";

/** The user of a token, in one project. */
export interface TokenUser {
  readonly project: LoginProject;
  readonly user: string;
  /** The groups of a provider that its token names; undefined for a token that Millrace issued. */
  readonly providerGroups?: readonly string[];
  /** The login of a token that Millrace issued. */
  readonly login?: Login;
  /** When the token expires. */
  readonly untilMs: number;
}

export type TokenReading =
  | { readonly state: "good"; readonly user: TokenUser }
  /** Good once. */
  | { readonly state: "expired" }
  /** Good, but of a user whose e-mail domain the project does not let in. */
  | { readonly state: "excluded" }
  | { readonly state: "bad" };

export class Tokens {
  readonly #directory: LoginDirectory;
  readonly #own: OwnTokens;
  readonly #ended: EndedSessions;
  readonly #system: System;

  constructor(parts: { directory: LoginDirectory; own: OwnTokens; ended: EndedSessions; system: System }) {
    this.#directory = parts.directory;
    this.#own = parts.own;
    this.#ended = parts.ended;
    this.#system = parts.system;
  }

  /**
   * Verifies a token of a provider, or one of `kinds` that Millrace issued. If a provider's token is valid in
   * several projects, selects `project`, or else the oldest. Fails with 503 when the provider's keys are not
   * cached and cannot be fetched.
   */
  async read(token: string, kinds: readonly TokenKind[], project?: string): Promise<TokenReading> {
    const claims = token.length > limits.tokenLengthMax ? undefined : claimsIn(token);
    if (!claims) return { state: "bad" };
    try {
      if (claims.iss === ownIssuer) return await this.#readOwn(token, kinds);
      const candidates = (await this.#directory.projects()).filter(({ provider }) => isFor(provider, claims));
      const meant = candidates.find(({ urlName }) => urlName === project) ?? candidates[0];
      if (!meant) return { state: "bad" };
      const verified = await this.verify(token, meant.provider!);
      return readingOf(verified, meant);
    } catch (problem) {
      if (problem instanceof errors.JWTExpired) return { state: "expired" };
      if (problem instanceof errors.JOSEError) return { state: "bad" };
      throw problem;
    }
  }

  /** The claims of a provider's token; rejects with a JOSEError when it is not good. */
  async verify(token: string, provider: Provider, audience = provider.audiences): Promise<JWTPayload> {
    const nowMs = this.#system.nowMs();
    const { payload } = await jwtVerify(token, this.#directory.connectionTo(provider).keyFor, {
      algorithms: [...provider.algorithms],
      issuer: [...provider.issuers],
      audience: [...audience],
      currentDate: new Date(nowMs),
      clockTolerance: limits.clockToleranceMs / 1000,
      requiredClaims: ["exp", "sub"],
    }).catch((problem: unknown) => {
      // jose throws a TypeError for a key that is too weak.
      if (problem instanceof TypeError) throw new errors.JWSInvalid(problem.message, { cause: problem });
      throw problem;
    });
    if ((payload.iat ?? 0) * 1000 > nowMs + limits.clockToleranceMs)
      throw new errors.JWTClaimValidationFailed("it was issued in the future", payload, "iat");
    return payload;
  }

  /** Reads the token's own claim without verifying its signature. */
  saysExpired(token: string): boolean {
    const { exp } = claimsIn(token) ?? {};
    return typeof exp === "number" && exp * 1000 <= this.#system.nowMs();
  }

  async #readOwn(token: string, kinds: readonly TokenKind[]): Promise<TokenReading> {
    for (const kind of kinds) {
      const login = await this.#own.read(kind, token).catch((problem: unknown) => {
        // Another kind; the `aud` tells them apart.
        if (problem instanceof errors.JWTClaimValidationFailed) return undefined;
        throw problem;
      });
      if (login) return this.#readLogin(login);
    }
    return { state: "bad" };
  }

  /** A login is void when it was ended, or when the project has another provider by now. */
  async #readLogin(login: Login): Promise<TokenReading> {
    const project = await this.#directory.projectNamed(login.project);
    const isCurrent = project?.id === login.projectId && project.provider?.issuer === login.issuer;
    if (!isCurrent || this.#ended.has(login.sessionId)) return { state: "bad" };
    return { state: "good", user: { project, user: login.user, login, untilMs: login.untilMs } };
  }
}

/** Read without verification, to choose the provider that verifies it. */
function claimsIn(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

function isFor(provider: Provider | undefined, { iss, aud = [] }: JWTPayload): boolean {
  if (!provider?.issuers.includes(iss ?? "")) return false;
  return [aud].flat().some((one) => provider.audiences.includes(one));
}

function readingOf(claims: JWTPayload, project: LoginProject): TokenReading {
  const provider = project.provider!;
  if (!isFromValidDomain(claims, provider)) return { state: "excluded" };
  return {
    state: "good",
    user: {
      project,
      user: userIn(claims),
      providerGroups: groupsIn(claims, provider),
      untilMs: Math.min(Math.floor(claims.exp! * 1000), limits.keyEndMsMax),
    },
  };
}

/** Checks an address that the user cannot choose, and that the provider does not call unverified. */
export function isFromValidDomain(claims: JWTPayload, { validDomains, addressClaims }: Provider): boolean {
  if (validDomains.length === 0) return true;
  return addressClaims.some((name) => {
    const address = textIn(claims, name);
    if (address === undefined || (name === "email" && claims["email_verified"] === false)) return false;
    return validDomains.includes(address.slice(address.lastIndexOf("@") + 1).toLowerCase());
  });
}

/** The name to show for a user: an e-mail address where there is one. */
export function userIn(claims: JWTPayload): string {
  const names = ["email", "upn", "preferred_username", "unique_name", "name"];
  return names.map((name) => textIn(claims, name)).find((one) => one !== undefined) ?? claims.sub ?? "";
}

function textIn(claims: JWTPayload, name: string): string | undefined {
  const value = claims[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Reads the claim `groups`, or a member of a member as in `realm_access.roles`; a string counts as a list of
 * one.
 */
export function groupsIn(claims: JWTPayload, { groupsClaim }: Provider): readonly string[] {
  const path = Object.hasOwn(claims, groupsClaim) ? [groupsClaim] : groupsClaim.split(".");
  const value = path.reduce<unknown>(
    (part, name) =>
      typeof part === "object" && part !== null && Object.hasOwn(part, name)
        ? (part as Record<string, unknown>)[name]
        : undefined,
    claims,
  );
  return [value]
    .flat()
    .filter((one) => typeof one === "string")
    .slice(0, limits.tokenGroupsMax);
}
