// Turns the credentials of a request into its caller: an API key, else a token, else the cookie of a session.
import type { IncomingHttpHeaders } from "node:http";
import { type Failure, fail } from "../errors.ts";
import { baseUrlOf } from "../lib/base-url.ts";
import { cookieIn } from "../lib/cookies.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import type { KnownCaller } from "./caller-cache.ts";
import type { Credential } from "./credentials.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import type { LoginProject } from "./login-directory.ts";
import { type Login, saysProgram } from "./own-tokens.ts";
import type { ProgramTokens } from "./program-tokens.ts";
import type { Rights } from "./rights.ts";
import { sessionCookieName } from "./session-cookie.ts";
import type { BegunSession, Sessions } from "./sessions.ts";
import type { Throttle } from "./throttle.ts";
import type { Tokens, TokenUser } from "./tokens.ts";

/** The parts of a request that identify its sender. */
export interface RequestSource {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The address of the network that it comes from. */
  readonly address: string;
}

/** The sender of a request; all members are absent without credentials. */
export interface AuthenticationResult {
  readonly caller?: Caller;
  /** Why the credentials are not good. */
  readonly refusal?: Failure;
  /** The project that a token is for, or the login of a cookie. */
  readonly project?: LoginProject;
  /** The session of a cookie, or of a token that Millrace issued. */
  readonly session?: PresentedSession;
}

/** Names a session to `Authenticator.end`: by its cookie, or by its login with the identity provider. */
export type SessionReference =
  | { readonly cookie: string }
  | { readonly sessionId: string; readonly untilMs: number };

/** A sign-in that is still valid. */
export interface PresentedSession {
  readonly expiresTime: number;
  readonly reference: SessionReference;
  /** Ends it on disk, with the keys made with it; a cookie or token of it is invalid from then on. */
  end(): Promise<void>;
}

interface AuthenticatorParts {
  readonly keys: Pick<ApiKeys, "callerOf" | "cachedCallerOf" | "hasExpired" | "find">;
  readonly tokens: Tokens;
  readonly programTokens: Pick<ProgramTokens, "find" | "cached" | "hasExpired">;
  readonly throttle: Throttle;
  readonly rights: Rights;
  readonly sessions: Sessions;
  readonly ended: EndedSessions;
  /** The server's public address; absent when it is where clients reach it. */
  readonly baseUrl?: string;
}

export class Authenticator {
  readonly throttle: Throttle;
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.throttle = parts.throttle;
    this.#parts = parts;
  }

  /**
   * A key decides if a token is sent as well (docs/reference/common.md#credentials). `project` is that of the
   * path. Throws 429 after too many failures, and 503 if a token cannot be checked because its provider does
   * not respond. Returns no promise if the caller is in memory.
   */
  authenticate(
    sender: RequestSource,
    project?: string,
  ): AuthenticationResult | Promise<AuthenticationResult> {
    const { headers, address } = sender;
    const key = headers["api-key"];
    if (typeof key === "string" && key !== "") return this.authenticateKey(key, address);
    const token = bearerIn(headers.authorization);
    if (token !== undefined && saysProgram(token)) return this.#presentProgramToken(token, address);
    if (token !== undefined) return this.#presentToken(token, address, project);
    return this.authenticateCookie(sender);
  }

  /** The session of the request's cookie, whatever other credentials it has. */
  async authenticateCookie(sender: RequestSource): Promise<AuthenticationResult> {
    const { headers } = sender;
    if (headers.cookie === undefined) return {};
    const name = sessionCookieName(baseUrlOf(this.#parts.baseUrl, headers));
    const cookie = cookieIn(headers.cookie, name);
    if (cookie === undefined) return {};
    // The cookie of a login is a signed token, and has dots.
    return cookie.includes(".") ? this.#presentLogin(cookie, sender) : this.#presentSession(cookie, sender);
  }

  /** Begins the session of a one-time link; refuses (401) one that is unknown, used or expired. */
  async authenticateLink(token: string, address: string): Promise<BegunSession> {
    const credential = `link ${token.slice(0, keyLengthRemembered)}`;
    this.throttle.refuseFailing(address, credential);
    const begun = await this.#parts.sessions.beginWithLink(token);
    if (begun) return begun;
    this.throttle.failed(address, credential);
    throw fail("unauthenticated", { reason: "bad-link" });
  }

  /** Ends a session as `PresentedSession.end` does. */
  async end(session: SessionReference): Promise<void> {
    const { sessions, ended } = this.#parts;
    if ("cookie" in session) await sessions.end(session.cookie);
    else await ended.end(session.sessionId, session.untilMs);
  }

  /** Refuses (403) a request that a page of another origin sends. */
  refuseForeign(sender: RequestSource): void {
    if (this.#isFromOwnPage(sender) === false) throw fail("foreign-origin", {});
  }

  authenticateKey(key: string, address: string): AuthenticationResult | Promise<AuthenticationResult> {
    // Skips the throttle for a cached key: it was valid within `keyCacheMsMax`, so failures cannot block it.
    const remembered = this.#parts.keys.cachedCallerOf(key);
    return remembered ? { caller: remembered } : this.#presentKey(key, address);
  }

  /**
   * The caller of a key, for the cache of a front thread; undefined if the key is not valid. That counts as a
   * failure when the main thread gets the request. Throws 429 as `authenticate` does.
   */
  async findForFront(key: string, address: string): Promise<KnownCaller | undefined> {
    const credential = credentialOfKey(key);
    this.throttle.refuseFailing(address, credential);
    const known = await this.#parts.keys.find(key);
    if (known) this.throttle.succeeded(credential);
    return known;
  }

  async #presentKey(key: string, address: string): Promise<AuthenticationResult> {
    const credential = credentialOfKey(key);
    this.throttle.refuseFailing(address, credential);
    const caller = await this.#parts.keys.callerOf(key);
    if (caller) this.throttle.succeeded(credential);
    else this.throttle.failed(address, credential);
    if (caller) return { caller };
    const reason = (await this.#parts.keys.hasExpired(key)) ? "expired-key" : "unknown-key";
    return { refusal: fail("unauthenticated", { reason }) };
  }

  /**
   * Returns whether a token is valid and whether it has expired. For a token with a bad signature, `expired`
   * is the token's unverified claim, and the throttle counts a failure.
   */
  async tokenStatus(token: string, address: string): Promise<{ valid: boolean; expired: boolean }> {
    const credential = credentialOf(token);
    this.throttle.refuseFailing(address, credential);
    const { tokens, programTokens } = this.#parts;
    if (saysProgram(token) && (await programTokens.find(token))) return { valid: true, expired: false };
    if (saysProgram(token) && (await programTokens.hasExpired(token))) return { valid: false, expired: true };
    const { state } = await tokens.read(token, ["access", "id"]);
    if (state === "bad") this.throttle.failed(address, credential);
    const expired = state === "expired" || (state === "bad" && tokens.saysExpired(token));
    return { valid: state === "good", expired };
  }

  async #presentProgramToken(token: string, address: string): Promise<AuthenticationResult> {
    const { programTokens } = this.#parts;
    const remembered = programTokens.cached(token);
    if (remembered) return { caller: remembered.caller };
    const credential = credentialOf(token);
    this.throttle.refuseFailing(address, credential);
    const known = await programTokens.find(token);
    if (known) {
      this.throttle.succeeded(credential);
      return { caller: known.caller };
    }
    if (await programTokens.hasExpired(token))
      return { refusal: fail("unauthenticated", { reason: "expired-token" }) };
    this.throttle.failed(address, credential);
    return { refusal: fail("unauthenticated", { reason: "bad-token" }) };
  }

  async #presentToken(
    token: string,
    address: string,
    project: string | undefined,
  ): Promise<AuthenticationResult> {
    const credential = credentialOf(token);
    this.throttle.refuseFailing(address, credential);
    const reading = await this.#parts.tokens.read(token, ["access"], project);
    if (reading.state === "good") {
      this.throttle.succeeded(credential);
      return this.#presented(reading.user);
    }
    if (reading.state === "bad") this.throttle.failed(address, credential);
    if (reading.state === "excluded") return { refusal: fail("domain-excluded", {}) };
    const reason = reading.state === "expired" ? "expired-token" : "bad-token";
    return { refusal: fail("unauthenticated", { reason }) };
  }

  async #presentSession(cookie: string, sender: RequestSource): Promise<AuthenticationResult> {
    const { sessions } = this.#parts;
    if (!this.#isWanted(sender, [])) return { refusal: fail("foreign-origin", {}) };
    const credential = `session ${cookie.slice(0, keyLengthRemembered)}`;
    const remembered = sessions.cached(cookie);
    if (!remembered) this.throttle.refuseFailing(sender.address, credential);
    const known = remembered ?? (await sessions.find(cookie));
    if (!known) {
      this.throttle.failed(sender.address, credential);
      return { refusal: fail("unauthenticated", { reason: "bad-session" }) };
    }
    if (!remembered) this.throttle.succeeded(credential);
    const { caller, expiresTime } = known;
    return { caller, session: this.#sessionOf({ cookie }, expiresTime) };
  }

  async #presentLogin(cookie: string, sender: RequestSource): Promise<AuthenticationResult> {
    const reading = await this.#parts.tokens.read(cookie, ["session"]);
    if (reading.state !== "good") return { refusal: fail("unauthenticated", { reason: "bad-session" }) };
    const { provider } = reading.user.project;
    if (!this.#isWanted(sender, provider?.redirectUrls ?? [])) return { refusal: fail("foreign-origin", {}) };
    return this.#presented(reading.user);
  }

  async #presented(tokenUser: TokenUser): Promise<AuthenticationResult> {
    const { project, user, login, providerGroups = [] } = tokenUser;
    const { id: projectId, urlName, provider } = project;
    const membership = login
      ? { ids: login.groupIds }
      : { sourceIds: providerGroups, sources: provider!.sources };
    const { groupIds, capabilities } = await this.#parts.rights.grantsTo(projectId, membership);
    const credential = tokenCredential(tokenUser);
    const caller: Caller = { user, projectId, projectUrlName: urlName, groupIds, capabilities, credential };
    return { caller, project, ...(login && { session: this.#sessionOf(loginOf(login), login.untilMs) }) };
  }

  #sessionOf(reference: SessionReference, expiresTime: number): PresentedSession {
    return { expiresTime, reference, end: () => this.end(reference) };
  }

  /**
   * Protects against cross-site requests, because browsers add cookies to requests that any page starts. A
   * session cookie counts for pages of this server, and for those of the `allowed` addresses. If the request
   * does not say which page sends it, the cookie counts if the method only reads.
   */
  #isWanted(sender: RequestSource, allowed: readonly string[]): boolean {
    const { origin } = sender.headers;
    const isOwn = this.#isFromOwnPage(sender);
    if (isOwn || (origin === undefined && ["GET", "HEAD"].includes(sender.method))) return true;
    return allowed.some((url) => new URL(url).origin === origin);
  }

  /** Whether a page of this server sends the request; undefined without the headers of a browser. */
  #isFromOwnPage({ headers }: RequestSource): boolean | undefined {
    const { origin, host, "sec-fetch-site": site } = headers;
    if (site !== undefined) return site === "same-origin";
    if (origin === undefined) return undefined;
    const { baseUrl } = this.#parts;
    return origin === (baseUrl === undefined ? `http://${host}` : new URL(baseUrl).origin);
  }
}

const loginOf = ({ sessionId, untilMs }: Login): SessionReference => ({ sessionId, untilMs });

function tokenCredential({ login, project, untilMs }: TokenUser): Credential {
  const { issuer } = login ?? project.provider!;
  return login
    ? { kind: "login", sessionId: login.sessionId, issuer, untilMs }
    : { kind: "token", issuer, untilMs };
}

/** Also `Bearer: x`, as the .NET SDK sends it (docs/reference/common.md#credentials). */
const bearerIn = (header: string | undefined): string | undefined =>
  /^bearer:?\s+(\S+)\s*$/i.exec(header ?? "")?.[1];

/** More than any key has, and little enough for many to be remembered. */
const keyLengthRemembered = 128;

const credentialOfKey = (key: string) => `key ${key.slice(0, keyLengthRemembered)}`;

/** The end of the signature identifies a token. */
const credentialOf = (token: string) => `token ${token.length} ${token.slice(-64)}`;
