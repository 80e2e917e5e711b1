// The login endpoints, which belong to no version and no project (client-endpoints 2).
import { Type } from "typebox";
import type { Caller } from "../access/caller.ts";
import { fail } from "../errors.ts";
import { parseJson } from "../lib/json.ts";
import { dataAnswer, dataOf } from "../rest/envelope.ts";
import { required, text } from "../rest/parameters.ts";
import { type OpenRoute, openRoute } from "../rest/route.ts";

const statusShape = dataOf(
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

const tokenShape = dataOf(
  Type.Object(
    { token: Type.String(), valid: Type.Boolean(), expired: Type.Boolean() },
    { title: "TokenStatus" },
  ),
);

const urlShape = dataOf(Type.Object({ url: Type.String() }, { title: "BrowserAddress" }));

/** What a login in a browser is asked with; its refusal tells strangers nothing about projects. */
const browserLogin = {
  project: required(text("URL name of the project")),
  redirectUrl: required(text("Where the browser goes with its tokens")),
  errorRedirectUrl: text("Where the browser goes when the login fails"),
  prompt: text("`none`: without asking the user"),
};

const noProvider = async ({ query }: { readonly query: { readonly project: string } }) => {
  throw fail("no-identity-provider", { project: query.project });
};

const statusOf = ({ user, project, projectId }: Caller) => ({ user, loggedIn: true, project, projectId });

/** What strangers get from the status, with 200 (client-endpoints C1). */
const loggedOut = { user: "", loggedIn: false, project: "", projectId: -1 };

export const loginRoutes: readonly OpenRoute[] = [
  openRoute({
    method: "POST",
    path: "/login",
    summary: "Check an API key",
    source: "platform-api Login and session",
    body: { kind: "json", schema: Type.Object({ apiKey: Type.String() }) },
    answer: { schema: statusShape },
    handle: async ({ body, callerOf }) => {
      const caller = await callerOf(body.apiKey);
      if (!caller) throw fail("unauthenticated", {});
      return dataAnswer(statusOf(caller));
    },
  }),
  openRoute({
    method: "GET",
    path: "/login/status",
    summary: "Whom the credentials of this request stand for",
    source: "client-endpoints 2, C1",
    answer: { schema: statusShape },
    handle: async ({ caller }) => dataAnswer(caller ? statusOf(caller) : loggedOut),
  }),
  openRoute({
    method: "GET",
    path: "/login/token",
    summary: "Whether a token is valid; none is, while no identity provider is configured",
    source: "platform-api Login and session",
    query: { token: required(text("The token to check")) },
    answer: { schema: tokenShape },
    handle: async ({ query: { token }, nowMs }) =>
      dataAnswer({ token, valid: false, expired: isExpired(token, nowMs) }),
  }),
  openRoute({
    method: "GET",
    path: "/login/url",
    summary: "The address of a login in a browser; refused, as projects have no identity provider yet",
    source: "client-endpoints 2",
    query: browserLogin,
    answer: { schema: urlShape },
    handle: noProvider,
  }),
  openRoute({
    method: "GET",
    path: "/login/redirect",
    summary: "Begin a login in a browser; refused, as projects have no identity provider yet",
    source: "client-endpoints 2",
    query: browserLogin,
    answer: { schema: urlShape },
    handle: noProvider,
  }),
  openRoute({
    method: "GET",
    path: "/logout/url",
    summary: "The address that ends a login in a browser; refused, as none can begin yet",
    source: "client-endpoints 2",
    query: { redirectUrl: required(text("Where the browser goes afterwards")) },
    answer: { schema: urlShape },
    handle: async () => {
      throw fail("no-session", {});
    },
  }),
  openRoute({
    method: "GET",
    path: "/logout",
    summary: "End a session",
    source: "client-endpoints 2, C25",
    answer: { schema: statusShape },
    handle: async () => dataAnswer(loggedOut),
  }),
  openRoute({
    method: "POST",
    path: "/logout",
    summary: "End a session",
    source: "client-endpoints C25",
    answer: { schema: statusShape },
    handle: async () => dataAnswer(loggedOut),
  }),
];

/** By the token's own word, unverified: whether its `exp` (seconds since 1970) lies in the past. */
function isExpired(token: string, nowMs: number): boolean {
  try {
    const claims: unknown = parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const { exp } = claims as { exp?: unknown };
    return typeof exp === "number" && exp * 1000 <= nowMs;
  } catch {
    return false;
  }
}
