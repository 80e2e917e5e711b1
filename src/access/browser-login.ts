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
import type { LoginDirectory, LoginProject } from "./login-directory.ts";
import type { Login, OwnTokens } from "./own-tokens.ts";
import { allowedRedirect, type Provider } from "./provider.ts";
import type { Rights } from "./rights.ts";
import { groupsIn, isFromValidDomain, type Tokens, userIn } from "./tokens.ts";

/** What a client requests of a login (docs/reference/projects-and-login.md#login-in-a-browser). */
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
}

/** Where a login ends. */
interface LoginTarget {
  readonly project: string;
  readonly redirectUrl: string;
  readonly errorRedirectUrl: string | undefined;
  /** The console gets the cookie alone, and no tokens in its address. */
  readonly isConsole?: boolean;
}

/** What is remembered from the way to the provider until the way back. */
interface PendingLogin extends LoginTarget {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** How a login ended: where the browser goes, with what. */
export interface LoginResult {
  readonly location: string;
  /** The session's token for a cookie; absent when the login has failed. */
  readonly session?: string;
  readonly isConsole: boolean;
}

/** A login that is about to go to the provider. */
export interface BegunLogin {
  /** The provider's page. */
  readonly location: string;
  readonly state: string;
  /** The browser keeps it as a cookie until it comes back. */
  readonly kept: string;
}

interface LoginParts {
  readonly directory: LoginDirectory;
  readonly tokens: Tokens;
  readonly own: OwnTokens;
  readonly rights: Rights;
  readonly system: System;
  /** For requests to providers. */
  readonly fetch: OutboundFetch;
  /** 32 bytes, for what is remembered in cookies. */
  readonly secret: Uint8Array;
  readonly onProblem: (problem: unknown) => void;
}

export class BrowserLogin {
  readonly #parts: LoginParts;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  /** Refuses (400) a project without a provider, and addresses that are not on its list. */
  async check(wish: LoginOptions): Promise<void> {
    await this.#permitted(wish);
  }

  /** Begins a login that ends at the addresses in `wish`, which must be on the project's list. */
  async begin(wish: LoginOptions, callbackUrl: string): Promise<BegunLogin> {
    const { provider, redirectUrl, errorRedirectUrl } = await this.#permitted(wish);
    const target = { project: wish.project, redirectUrl, errorRedirectUrl };
    return this.#begin(provider, target, { callbackUrl, isSilent: wish.isSilent });
  }

  /** Begins a login that ends at a page of the console. Refuses (400) a page elsewhere. */
  async beginForConsole({ project, baseUrl, page }: ConsoleLogin, callbackUrl: string): Promise<BegunLogin> {
    const provider = await this.#providerOf(project);
    const redirectUrl = URL.parse(baseUrl + page)?.href;
    if (!page.startsWith("/") || !redirectUrl?.startsWith(new URL(`${baseUrl}/`).href))
      throw fail("field-invalid", {
        field: "page",
        expected: "the path of a page, such as /assets",
        got: page,
      });
    const target = { project, redirectUrl, errorRedirectUrl: `${baseUrl}/sign-in`, isConsole: true };
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
    const errand = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const location = buildAuthorizationUrl(client, {
      redirect_uri: callbackUrl,
      response_type: "code",
      scope: provider.scope,
      state: errand.state,
      nonce: errand.nonce,
      code_challenge: await calculatePKCECodeChallenge(errand.verifier),
      code_challenge_method: "S256",
      ...(isSilent && { prompt: "none" }),
    }).href;
    const kept = await this.#sealed({ ...target, ...errand });
    return { location, state: errand.state, kept };
  }

  /**
   * Completes a login: `answer` is the address that the provider redirected to, `kept` is the cookie of
   * `begin`. Refuses (400) a response that this browser did not request. Any other failure redirects to the
   * address for errors, if there is one.
   */
  async finish(answer: URL, kept: string | undefined): Promise<LoginResult> {
    const errand = kept === undefined ? undefined : await this.#opened(kept);
    if (!errand || errand.state !== answer.searchParams.get("state")) throw fail("login-unknown", {});
    const { redirectUrl, errorRedirectUrl, isConsole = false } = errand;
    try {
      const project = await this.#parts.directory.projectNamed(errand.project);
      if (!project?.provider) throw fail("no-identity-provider", { project: errand.project });
      const login = await this.#loginBy(answer, errand, { ...project, provider: project.provider });
      const tokens = isConsole ? {} : await this.#tokensOf(login);
      const session = await this.#parts.own.make("session", login);
      return { location: withQuery(redirectUrl, tokens), session, isConsole };
    } catch (problem) {
      const { error, description, failure } = this.#explained(problem);
      if (errorRedirectUrl === undefined) throw failure;
      const location = withQuery(errorRedirectUrl, { error, error_description: description });
      return { location, isConsole };
    }
  }

  async #tokensOf(login: Login): Promise<Readonly<Record<string, string>>> {
    const { own } = this.#parts;
    return { access_token: await own.make("access", login), id_token: await own.make("id", login) };
  }

  /** The provider's page that ends its session; refused (400) where there is none to go to. */
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
    const allowed = (field: string, wanted: string) => {
      const url = allowedRedirect(provider, wanted);
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
    // No provider has an unencrypted address but on this machine: `describeProvider` has seen to that.
    if (provider.issuer.startsWith("http:")) allowInsecureRequests(client);
    return client;
  }

  /** Exchanges the code, checks the user, and creates a login. */
  async #loginBy(
    answer: URL,
    errand: PendingLogin,
    project: LoginProject & { provider: Provider },
  ): Promise<Login> {
    const { provider } = project;
    const client = await this.#clientOf(provider);
    const granted = await authorizationCodeGrant(client, answer, {
      expectedState: errand.state,
      expectedNonce: errand.nonce,
      pkceCodeVerifier: errand.verifier,
      idTokenExpected: true,
    });
    // Again by our own rules: signature, algorithm and times.
    const claims = await this.#parts.tokens.verify(granted.id_token!, provider, [provider.clientId!]);
    const subject = claims.sub!;
    const mayTellMore = client.serverMetadata().userinfo_endpoint !== undefined;
    const more = mayTellMore ? await fetchUserInfo(client, granted.access_token, subject) : {};
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

  /** What to tell the browser of a failure; what only operators can mend goes to the log. */
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

  #sealed(errand: PendingLogin): Promise<string> {
    const nowMs = this.#parts.system.nowMs();
    return new EncryptJWT({ ...errand })
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime(Math.floor((nowMs + limits.pendingLoginMsMax) / 1000))
      .encrypt(this.#parts.secret);
  }

  async #opened(kept: string): Promise<PendingLogin | undefined> {
    try {
      const { payload } = await jwtDecrypt(kept, this.#parts.secret, {
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

/** With a secret in the header, as clients do by default (OpenID Connect Core, 9), or in the body at last. */
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
