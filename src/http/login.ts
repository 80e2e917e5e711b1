// The login endpoints, which belong to no version and no project (docs/reference/projects-and-login.md).
import { Type } from "typebox";
import type { BegunLogin } from "../access/browser-login.ts";
import type { Caller } from "../access/caller.ts";
import { cookieHeader, cookieName, sessionCookieName } from "../access/session-cookie.ts";
import { fail } from "../errors.ts";
import { cookieIn } from "../lib/cookies.ts";
import { none } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import { dataResponse, dataSchema } from "../rest/envelope.ts";
import { oneOfWords, required, text } from "../rest/parameters.ts";
import { type BrowserResponse, type OpenRoute, openRoute } from "../rest/route.ts";

const statusSchema = dataSchema(
  Type.Object(
    {
      user: Type.String(),
      loggedIn: Type.Boolean(),
      project: Type.String(),
      projectId: Type.Integer({ description: "-1 when not logged in" }),
    },
    { title: "LoginStatus" },
  ),
);

const tokenSchema = dataSchema(
  Type.Object(
    { token: Type.String(), valid: Type.Boolean(), expired: Type.Boolean() },
    { title: "TokenStatus" },
  ),
);

const urlSchema = dataSchema(Type.Object({ url: Type.String() }, { title: "BrowserAddress" }));

/** The parameters of a login in a browser. Refusals do not reveal which projects exist. */
const browserLogin = {
  project: required(text("URL name of the project")),
  redirectUrl: required(text("Where the browser goes with `access_token` and `id_token`")),
  errorRedirectUrl: text("Where the browser goes with `error` and `error_description`"),
  prompt: oneOfWords("`none`: without user interaction", ["none"]),
};

interface BrowserLoginQuery {
  readonly project: string;
  readonly redirectUrl: string;
  readonly errorRedirectUrl: string | undefined;
  readonly prompt: "none" | undefined;
}

const loginOptionsOf = ({ project, redirectUrl, errorRedirectUrl, prompt }: BrowserLoginQuery) => ({
  project: project.normalize("NFC"),
  redirectUrl,
  errorRedirectUrl,
  isSilent: prompt === "none",
});

const statusOf = ({ user, projectUrlName: project, projectId }: Caller) => ({
  user,
  loggedIn: true,
  project,
  projectId,
});

/** Returned with 200 without a valid credential (docs/reference/projects-and-login.md#login-status). */
const loggedOut = { user: "", loggedIn: false, project: "", projectId: -1 };

const callbackOf = (baseUrl: string) => `${baseUrl}/login/callback`;

/** Each pending login in a browser has its own cookie: a silent login may run in a frame beside another. */
const pendingCookie = (state: string) => `millrace_login_${state.slice(0, 16)}`;

function toProvider({ location, state, cookie }: BegunLogin, baseUrl: string): BrowserResponse {
  const pending = { value: cookie, maxAgeMs: limits.pendingLoginMsMax, sameSite: "Lax" } as const;
  return { location, cookies: [cookieHeader(baseUrl, pendingCookie(state), pending)] };
}

export const loginRoutes: readonly OpenRoute[] = [
  openRoute({
    method: "POST",
    path: "/login",
    audit: "sign-in",
    summary: "Check an API key",
    body: { kind: "json", schema: Type.Object({ apiKey: Type.String() }) },
    response: { schema: statusSchema },
    handle: async ({ authenticator }, { body, sender, audit }) => {
      const { caller, refusal } = await authenticator.authenticateKey(body.apiKey, sender.address);
      if (!caller) throw refusal;
      audit.known(caller);
      return dataResponse(statusOf(caller));
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/status",
    audit: none("it tells the caller about itself"),
    summary: "The caller of this request",
    response: { schema: statusSchema },
    handle: async ({ authenticator }, { sender }) => {
      const { caller } = await authenticator.authenticate(sender);
      return dataResponse(caller ? statusOf(caller) : loggedOut);
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/token",
    audit: none("it tells whether a token is valid, and begins nothing"),
    summary: "Whether a token is valid, and whether it has expired",
    query: { token: required(text("The token to check")) },
    response: { schema: tokenSchema },
    handle: async ({ authenticator }, { query: { token }, sender }) =>
      dataResponse({ token, ...(await authenticator.tokenStatus(token, sender.address)) }),
  }),
  openRoute({
    method: "GET",
    path: "/login/url",
    audit: none("the login is recorded when it ends"),
    summary: "The address that starts a login in a browser",
    query: browserLogin,
    response: { schema: urlSchema },
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender, search }) => {
      authenticator.throttle.countLogin(sender.address);
      await browserLogin.check(loginOptionsOf(query));
      return dataResponse({ url: `${baseUrl}/login/redirect${search}` });
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/redirect",
    audit: none("the login is recorded when it ends"),
    summary: "Send a browser to the project's identity provider; it returns to `/login/callback`",
    query: browserLogin,
    response: "redirect",
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender }) => {
      authenticator.throttle.countLogin(sender.address);
      const begun = await browserLogin.begin(loginOptionsOf(query), callbackOf(baseUrl));
      return toProvider(begun, baseUrl);
    },
  }),
  openRoute({
    method: "GET",
    path: "/session/login",
    audit: none("the login is recorded when it ends"),
    summary: "Sign in to the console: send a browser to the identity provider of the console's project",
    query: { page: text("The page of the console where the browser arrives; `/` when absent") },
    response: "redirect",
    handle: async ({ authenticator, browserLogin, consoleProject }, { query, baseUrl, sender }) => {
      authenticator.throttle.countLogin(sender.address);
      // The browser does not send this cookie when the provider, which is another site, redirects it back.
      const { session } = await authenticator.authenticateCookie(sender);
      const page = query.page ?? "/";
      const login = { project: consoleProject, baseUrl, page, former: session?.reference };
      return toProvider(await browserLogin.beginForConsole(login, callbackOf(baseUrl)), baseUrl);
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/callback",
    audit: "sign-in",
    summary: "The address to which the identity provider redirects; it redirects on with tokens or an error",
    query: { state: required(text("As sent to the provider")) },
    response: "redirect",
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender, search, audit }) => {
      authenticator.throttle.countLogin(sender.address);
      const pending = pendingCookie(query.state);
      const callback = new URL(callbackOf(baseUrl) + search);
      const cookie = cookieIn(sender.headers.cookie, cookieName(baseUrl, pending));
      const { location, session, isConsole, former, ...ended } = await browserLogin.finish(callback, cookie);
      if (ended.caller) audit.known(ended.caller);
      if (ended.refusal) audit.refused(ended.refusal);
      if (former) await authenticator.end(former);
      const sameSite = isConsole ? "Strict" : "Lax";
      const begun = session && ({ value: session, maxAgeMs: limits.loginMsMax, sameSite } as const);
      return {
        location,
        cookies: [
          cookieHeader(baseUrl, pending),
          ...(begun ? [cookieHeader(baseUrl, "millrace_session", begun)] : []),
        ],
      };
    },
  }),
  openRoute({
    method: "GET",
    path: "/logout/url",
    audit: none("the end of the session is recorded"),
    summary: "The address that ends the user's login with the identity provider",
    query: { redirectUrl: required(text("Where the browser goes afterwards")) },
    response: { schema: urlSchema },
    handle: async ({ authenticator, browserLogin }, { query: { redirectUrl }, sender }) => {
      const { project, refusal } = await authenticator.authenticate(sender);
      if (!project) throw refusal ?? fail("no-session", {});
      return dataResponse({ url: await browserLogin.logoutUrl(project, redirectUrl) });
    },
  }),
  ...(["GET", "POST"] as const).map((method) =>
    openRoute({
      method,
      path: "/logout",
      audit: "sign-in",
      summary: "End a session: its cookie and the tokens of the same login become invalid",
      response: { schema: statusSchema },
      handle: async ({ authenticator }, { sender, baseUrl, audit }): Promise<BrowserResponse> => {
        const { session, refusal, caller } = await authenticator.authenticate(sender);
        if (refusal?.failure === "foreign-origin") throw refusal;
        if (caller && session) audit.known(caller);
        await session?.end();
        const hasCookie = cookieIn(sender.headers.cookie, sessionCookieName(baseUrl)) !== undefined;
        const cookies = hasCookie ? [cookieHeader(baseUrl, "millrace_session")] : [];
        return { json: dataResponse(loggedOut), cookies };
      },
    }),
  ),
];
