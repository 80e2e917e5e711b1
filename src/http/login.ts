// The login endpoints, which belong to no version and no project (docs/reference/projects-and-login.md).
import { Type } from "typebox";
import { sessionCookieName } from "../access/authenticator.ts";
import type { Caller } from "../access/caller.ts";
import { fail } from "../errors.ts";
import { cookieIn, setCookie } from "../lib/cookies.ts";
import { limits } from "../limits.ts";
import { dataResponse, dataSchema } from "../rest/envelope.ts";
import { oneOfWords, required, text } from "../rest/parameters.ts";
import { type BrowserResponse, type OpenRoute, openRoute } from "../rest/route.ts";

const statusShape = dataSchema(
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

const tokenShape = dataSchema(
  Type.Object(
    { token: Type.String(), valid: Type.Boolean(), expired: Type.Boolean() },
    { title: "TokenStatus" },
  ),
);

const urlShape = dataSchema(Type.Object({ url: Type.String() }, { title: "BrowserAddress" }));

/** What a login in a browser is asked with; its refusal tells strangers nothing about projects. */
const browserLogin = {
  project: required(text("URL name of the project")),
  redirectUrl: required(text("Where the browser goes with `access_token` and `id_token`")),
  errorRedirectUrl: text("Where the browser goes with `error` and `error_description`"),
  prompt: oneOfWords("`none`: without asking the user", ["none"]),
};

interface BrowserLoginQuery {
  readonly project: string;
  readonly redirectUrl: string;
  readonly errorRedirectUrl: string | undefined;
  readonly prompt: "none" | undefined;
}

const wishOf = ({ project, redirectUrl, errorRedirectUrl, prompt }: BrowserLoginQuery) => ({
  project: project.normalize("NFC"),
  redirectUrl,
  errorRedirectUrl,
  isSilent: prompt === "none",
});

const statusOf = ({ user, project, projectId }: Caller) => ({ user, loggedIn: true, project, projectId });

/** Returned with 200 without a valid credential (docs/reference/projects-and-login.md#login-status). */
const loggedOut = { user: "", loggedIn: false, project: "", projectId: -1 };

const callbackOf = (baseUrl: string) => `${baseUrl}/login/callback`;

/** One for each login under way in a browser, such as a silent one in a frame beside another. */
const errandCookieName = (baseUrl: string, state: string) =>
  `${isSecure(baseUrl) ? "__Host-" : ""}millrace_login_${state.slice(0, 16)}`;

const isSecure = (baseUrl: string) => baseUrl.startsWith("https:");

const cookie = (baseUrl: string, name: string, { value = "", maxAgeMs = 0 } = {}) =>
  setCookie({ name, value, maxAgeSeconds: maxAgeMs / 1000, isSecure: isSecure(baseUrl) });

export const loginRoutes: readonly OpenRoute[] = [
  openRoute({
    method: "POST",
    path: "/login",
    summary: "Check an API key",
    body: { kind: "json", schema: Type.Object({ apiKey: Type.String() }) },
    response: { schema: statusShape },
    handle: async ({ authenticator }, { body, sender }) => {
      const { caller, refusal } = await authenticator.authenticateKey(body.apiKey, sender.address);
      if (!caller) throw refusal;
      return dataResponse(statusOf(caller));
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/status",
    summary: "Whom the credentials of this request stand for",
    response: { schema: statusShape },
    handle: async ({ authenticator }, { sender }) => {
      const { caller } = await authenticator.authenticate(sender);
      return dataResponse(caller ? statusOf(caller) : loggedOut);
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/token",
    summary: "Whether a token is valid, and whether it has expired",
    query: { token: required(text("The token to check")) },
    response: { schema: tokenShape },
    handle: async ({ authenticator }, { query: { token }, sender }) =>
      dataResponse({ token, ...(await authenticator.tokenStatus(token, sender.address)) }),
  }),
  openRoute({
    method: "GET",
    path: "/login/url",
    summary: "The address that begins a login in a browser",
    query: browserLogin,
    response: { schema: urlShape },
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender, search }) => {
      authenticator.throttle.countLogin(sender.address);
      await browserLogin.check(wishOf(query));
      return dataResponse({ url: `${baseUrl}/login/redirect${search}` });
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/redirect",
    summary: "Send a browser to the project's identity provider; it comes back to `/login/callback`",
    query: browserLogin,
    response: "redirect",
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender }) => {
      authenticator.throttle.countLogin(sender.address);
      const { location, state, kept } = await browserLogin.begin(wishOf(query), callbackOf(baseUrl));
      const errand = { value: kept, maxAgeMs: limits.pendingLoginMsMax };
      return { location, cookies: [cookie(baseUrl, errandCookieName(baseUrl, state), errand)] };
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/callback",
    summary:
      "Where the identity provider sends the browser back to; it goes on with tokens, or with an error",
    query: { state: required(text("As sent to the provider")) },
    response: "redirect",
    handle: async ({ authenticator, browserLogin }, { query, baseUrl, sender, search }) => {
      authenticator.throttle.countLogin(sender.address);
      const errand = errandCookieName(baseUrl, query.state);
      const answer = new URL(callbackOf(baseUrl) + search);
      const { location, session } = await browserLogin.finish(
        answer,
        cookieIn(sender.headers.cookie, errand),
      );
      const opened = { value: session, maxAgeMs: limits.loginMsMax };
      const name = sessionCookieName(isSecure(baseUrl));
      const begun = session === undefined ? [] : [cookie(baseUrl, name, opened)];
      return { location, cookies: [cookie(baseUrl, errand), ...begun] };
    },
  }),
  openRoute({
    method: "GET",
    path: "/logout/url",
    summary: "The address that ends the user's login with the identity provider",
    query: { redirectUrl: required(text("Where the browser goes afterwards")) },
    response: { schema: urlShape },
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
      summary: "End a session: its cookie and the tokens of the same login are void from now on",
      response: { schema: statusShape },
      handle: async ({ authenticator, browserLogin }, { sender, baseUrl }): Promise<BrowserResponse> => {
        const { login, refusal } = await authenticator.authenticate(sender);
        if (refusal?.failure === "foreign-origin") throw refusal;
        if (login) await browserLogin.end(login);
        const name = sessionCookieName(isSecure(baseUrl));
        const isSent = cookieIn(sender.headers.cookie, name) !== undefined;
        return { json: dataResponse(loggedOut), cookies: isSent ? [cookie(baseUrl, name)] : [] };
      },
    }),
  ),
];
