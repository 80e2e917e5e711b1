// Login with a browser: the project's provider returns an authorization code, and Millrace issues its own
// tokens.
//
// An encrypted cookie stores the pending login and binds it to this browser. It contains the redirect
// address, so a response without the cookie redirects nowhere.
import { EncryptJWT, errors as joseErrors, jwtDecrypt } from "jose";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from "openid-client";
import { Failure, fail } from "../errors.ts";
import type { OutboundFetch } from "../lib/outbound-fetch.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import type { SessionReference } from "./authenticator.ts";
import type { Caller } from "./caller.ts";
import type { LoginDirectory, LoginProject } from "./login-directory.ts";
import type { Login, OwnTokens } from "./own-tokens.ts";
import { allowedRedirect, type Provider } from "./provider.ts";
import type { Rights } from "./rights.ts";
import { groupsIn, isFromValidDomain, type Tokens, userIn } from "./tokens.ts";

/** The parameters of a login (docs/reference/projects-and-login.md#login-in-a-browser). */
export interface LoginOptions {
  readonly project: string;
  readonly redirectUrl: string;
  readonly errorRedirectUrl: string | undefined;
  /** Only if the user is logged in to the provider already. */
  readonly isSilent: boolean;
}

/** The login of a user of the console, which ends at a page of it. */
export interface ConsoleLogin {
  readonly project: string;
  /** The address of the console, without a slash at its end. */
  readonly baseUrl: string;
  /** A path with its query, below the address of the console. */
  readonly page: string;
  /** The session that the browser has, which the login is to end. */
  readonly former: SessionReference | undefined;
}

/** Where a login ends. */
interface LoginTarget {
  readonly project: string;
  readonly redirectUrl: string;
  readonly errorRedirectUrl: string | undefined;
  /** The console gets the cookie alone, and no tokens in its address. */
  readonly isConsole?: boolean;
  readonly former?: SessionReference | undefined;
}

/** A login between the redirect to the provider and the redirect back. */
interface PendingLogin extends LoginTarget {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The end of a login: the redirect, and the cookie of the session. */
export interface LoginResult {
  readonly location: string;
  /** The value of the session cookie; absent when the login has failed. */
  readonly session?: string;
  readonly isConsole: boolean;
  /** The session that the browser had before, if the login is to end it and has succeeded. */
  readonly former?: SessionReference;
  /** The user who has logged in. */
  readonly caller?: Pick<Caller, "user" | "projectId" | "credential">;
  /** Why the login has failed. */
  readonly refusal?: Failure;
}

/** A login that starts with a redirect to the provider. */
export interface BegunLogin {
  /** The provider's page for the login. */
  readonly location: string;
  readonly state: string;
  /** The encrypted `PendingLogin`, for a cookie. */
  readonly cookie: string;
}

interface LoginParts {
  readonly directory: LoginDirectory;
  readonly tokens: Tokens;
  readonly own: OwnTokens;
  readonly rights: Rights;
  readonly system: System;
  /** For requests to providers. */
  readonly fetch: OutboundFetch;
  /** 32 bytes, which encrypt pending logins. */
  readonly secret: Uint8Array;
  readonly onProblem: (problem: unknown) => void;
}

export class BrowserLogin {
  readonly #parts: LoginParts;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  /** Refuses (400) a project without a provider, and addresses that are not on its list. */
  async check(options: LoginOptions): Promise<void> {
    await this.#permitted(options);
  }

  /** Begins a login. Refuses (400) redirect addresses that are not on the list of the project. */
  async begin(options: LoginOptions, callbackUrl: string): Promise<BegunLogin> {
    const { provider, redirectUrl, errorRedirectUrl } = await this.#permitted(options);
    const target = { project: options.project, redirectUrl, errorRedirectUrl };
    return this.#begin(provider, target, { callbackUrl, isSilent: options.isSilent });
  }

  /** Begins a login that ends at a page of the console. Refuses (400) a page elsewhere. */
  async beginForConsole(login: ConsoleLogin, callbackUrl: string): Promise<BegunLogin> {
    const { project, baseUrl, page, former } = login;
    const provider = await this.#providerOf(project);
    const redirectUrl = URL.parse(baseUrl + page)?.href;
    if (!page.startsWith("/") || !redirectUrl?.startsWith(new URL(`${baseUrl}/`).href))
      throw fail("field-invalid", {
        field: "page",
        expected: "the path of a page, such as /assets",
        got: page,
      });
    const errorRedirectUrl = `${baseUrl}/sign-in`;
    const target = { project, redirectUrl, errorRedirectUrl, isConsole: true, former };
    return this.#begin(provider, target, { callbackUrl, isSilent: false });
  }

  /** The name of the provider that browsers can log in to; undefined when the project has none. */
  async providerName(project: string): Promise<string | undefined> {
    const provider = (await this.#parts.directory.projectNamed(project))?.provider;
    return provider?.clientId === undefined ? undefined : new URL(provider.issuer).hostname;
  }

  async #begin(
    provider: Provider,
    target: LoginTarget,
    { callbackUrl, isSilent }: { readonly callbackUrl: string; readonly isSilent: boolean },
  ): Promise<BegunLogin> {
    const client = await this.#clientOf(provider);
    const secrets = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const location = buildAuthorizationUrl(client, {
      redirect_uri: callbackUrl,
      response_type: "code",
      scope: provider.scope,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: "S256",
      ...(isSilent && { prompt: "none" }),
    }).href;
    const cookie = await this.#encrypted({ ...target, ...secrets });
    return { location, state: secrets.state, cookie };
  }

  /**
   * Completes a login. `callback` is the address, with its query, that the provider redirected to; `cookie`
   * is that of `begin`. Refuses (400) a callback that this browser did not start. Any other failure redirects
   * to the address for errors, if there is one.
   */
  async finish(callback: URL, cookie: string | undefined): Promise<LoginResult> {
    const pending = cookie === undefined ? undefined : await this.#decrypted(cookie);
    if (!pending || pending.state !== callback.searchParams.get("state")) throw fail("login-unknown", {});
    const { redirectUrl, errorRedirectUrl, isConsole = false, former } = pending;
    try {
      const project = await this.#parts.directory.projectNamed(pending.project);
      if (!project?.provider) throw fail("no-identity-provider", { project: pending.project });
      const login = await this.#loginBy(callback, pending, { ...project, provider: project.provider });
      const tokens = isConsole ? {} : await this.#tokensOf(login);
      const session = await this.#parts.own.make("session", login);
      const { user, projectId, sessionId, issuer, untilMs } = login;
      const credential = { kind: "login", sessionId, issuer, untilMs } as const;
      const caller = { user, projectId, credential };
      const location = withQuery(redirectUrl, tokens);
      return { location, session, isConsole, caller, ...(former && { former }) };
    } catch (problem) {
      const { error, description, failure } = this.#explained(problem);
      if (errorRedirectUrl === undefined) throw failure;
      const location = withQuery(errorRedirectUrl, { error, error_description: description });
      return { location, isConsole, refusal: failure };
    }
  }

  async #tokensOf(login: Login): Promise<Readonly<Record<string, string>>> {
    const { own } = this.#parts;
    return { access_token: await own.make("access", login), id_token: await own.make("id", login) };
  }

  /** Returns the provider's page that ends its session. Refuses (400) a provider without such a page. */
  async logoutUrl({ provider }: LoginProject, redirectUrl: string): Promise<string> {
    if (!provider) throw fail("no-session", {});
    const target = allowedRedirect(provider, redirectUrl);
    if (!target) throw fail("redirect-not-allowed", { field: "redirectUrl" });
    const client = await this.#clientOf(provider);
    if (client.serverMetadata().end_session_endpoint !== undefined)
      return buildEndSessionUrl(client, { post_logout_redirect_uri: target.href }).href;
    if (provider.logoutUrl === undefined) throw fail("no-session", {});
    return withQuery(provider.logoutUrl, { post_logout_redirect_uri: target.href });
  }

  async #providerOf(project: string): Promise<Provider> {
    const provider = (await this.#parts.directory.projectNamed(project))?.provider;
    if (provider?.clientId === undefined) throw fail("no-identity-provider", { project });
    return provider;
  }

  async #permitted({ project, redirectUrl, errorRedirectUrl }: LoginOptions) {
    const provider = await this.#providerOf(project);
    const allowed = (field: string, address: string) => {
      const url = allowedRedirect(provider, address);
      if (!url) throw fail("redirect-not-allowed", { field });
      return url.href;
    };
    return {
      provider,
      redirectUrl: allowed("redirectUrl", redirectUrl),
      errorRedirectUrl:
        errorRedirectUrl === undefined ? undefined : allowed("errorRedirectUrl", errorRedirectUrl),
    };
  }

  async #clientOf(provider: Provider): Promise<Configuration> {
    const { directory } = this.#parts;
    const metadata = await directory.connectionTo(provider).metadata();
    const client = new Configuration(
      metadata,
      provider.clientId!,
      undefined,
      authenticationOf(provider, metadata),
    );
    client[customFetch] = this.#parts.fetch;
    client.timeout = limits.providerResponseMsMax / 1000;
    // `describeProvider` allows an unencrypted address only on this machine.
    if (provider.issuer.startsWith("http:")) allowInsecureRequests(client);
    return client;
  }

  /** Exchanges the code, checks the user, and creates a login. */
  async #loginBy(
    callback: URL,
    pending: PendingLogin,
    project: LoginProject & { provider: Provider },
  ): Promise<Login> {
    const { provider } = project;
    const client = await this.#clientOf(provider);
    const granted = await authorizationCodeGrant(client, callback, {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    });
    // Our own check of the signature, the algorithm and the times, besides that of the library.
    const claims = await this.#parts.tokens.verify(granted.id_token!, provider, [provider.clientId!]);
    const subject = claims.sub!;
    const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasUserInfo ? await fetchUserInfo(client, granted.access_token, subject) : {};
    const all = { ...more, ...claims };
    if (!isFromValidDomain(all, provider)) throw fail("domain-excluded", {});
    const membership = { sourceIds: groupsIn(all, provider), sources: provider.sources };
    return {
      sessionId: Buffer.from(this.#parts.system.randomBytes(16)).toString("base64url"),
      projectId: project.id,
      project: project.urlName,
      user: userIn(all),
      issuer: provider.issuer,
      subject,
      groupIds: await this.#parts.rights.groupIdsOf(project.id, membership),
      untilMs: this.#parts.own.untilMs(),
    };
  }

  /** The error that the browser gets. A failure that only operators can repair goes to the log. */
  #explained(problem: unknown): { error: string; description: string; failure: Failure } {
    if (problem instanceof AuthorizationResponseError) {
      const { error, error_description: description = "" } = problem;
      return { error, description, failure: fail("login-refused", { error }) };
    }
    if (problem instanceof Failure) {
      const error = problem.status >= 500 ? "temporarily_unavailable" : "access_denied";
      return { error, description: problem.message, failure: problem };
    }
    this.#parts.onProblem(problem);
    const failure = fail("login-failed", {});
    return { error: "server_error", description: failure.message, failure };
  }

  #encrypted(pending: PendingLogin): Promise<string> {
    const nowMs = this.#parts.system.nowMs();
    return new EncryptJWT({ ...pending })
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime(Math.floor((nowMs + limits.pendingLoginMsMax) / 1000))
      .encrypt(this.#parts.secret);
  }

  async #decrypted(cookie: string): Promise<PendingLogin | undefined> {
    try {
      const { payload } = await jwtDecrypt(cookie, this.#parts.secret, {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
        currentDate: new Date(this.#parts.system.nowMs()),
      });
      return payload as unknown as PendingLogin;
    } catch (problem) {
      if (problem instanceof joseErrors.JOSEError) return undefined;
      throw problem;
    }
  }
}

/** The secret goes into a header, the default of OpenID Connect Core 9, or into the body if it must. */
function authenticationOf({ clientSecret }: Provider, metadata: ServerMetadata): ClientAuth {
  if (clientSecret === undefined) return None();
  const { token_endpoint_auth_methods_supported: ways = ["client_secret_basic"] } = metadata;
  return ways.includes("client_secret_basic")
    ? ClientSecretBasic(clientSecret)
    : ClientSecretPost(clientSecret);
}

function withQuery(address: string, members: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value);
  return url.href;
}
