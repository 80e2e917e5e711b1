// The session of the console: sign-in, sign-out, and who is signed in
// (docs/reference/projects-and-login.md#session-of-the-console).
import { type Static, Type } from "typebox";
import type { Caller } from "../access/caller.ts";
import { administersGroups } from "../access/compare-capabilities.ts";
import { cookieHeader } from "../access/session-cookie.ts";
import type { BegunSession } from "../access/sessions.ts";
import { fail } from "../errors.ts";
import { none } from "../lib/not-covered.ts";
import { limits } from "../limits.ts";
import { capabilityOf, capabilitySchema } from "../rest/capabilities.ts";
import { type Authenticators, type BrowserResponse, type OpenRoute, openRoute } from "../rest/route.ts";

const infoSchema = Type.Object(
  {
    account: Type.Object({
      id: Type.Optional(Type.Integer({ description: "Absent for a user of an identity provider" })),
      name: Type.String(),
    }),
    project: Type.String({ description: "URL name of the project" }),
    capabilities: Type.Array(capabilitySchema),
    isAdministrator: Type.Boolean({ description: "Whether the session administers groups" }),
    expiresTime: Type.Integer({ description: "When the session ends, in ms since 1970" }),
  },
  { title: "Session" },
);

const optionsSchema = Type.Object(
  {
    project: Type.String({ description: "URL name of the project that the console shows" }),
    identityProviders: Type.Array(
      Type.Object({
        name: Type.String(),
        loginUrl: Type.String({ description: "A page that signs in with the identity provider" }),
      }),
    ),
  },
  { title: "SessionOptions" },
);

const signInSchema = Type.Object(
  {
    apiKey: Type.Optional(Type.String()),
    token: Type.Optional(Type.String({ description: "Of a one-time link. Either this or `apiKey`" })),
  },
  { title: "SignIn" },
);

const infoOf = ({ userId, user, projectUrlName: project, capabilities }: Caller, expiresTime: number) => ({
  account: { ...(userId !== undefined && { id: userId }), name: user },
  project,
  capabilities: capabilities.map(capabilityOf),
  isAdministrator: administersGroups(capabilities),
  expiresTime,
});

export const sessionRoutes: readonly OpenRoute[] = [
  openRoute({
    method: "GET",
    path: "/session/options",
    audit: none("the same for everyone"),
    summary: "How people can sign in to the console",
    response: { schema: optionsSchema },
    handle: async ({ browserLogin, consoleProject }, { baseUrl }) => {
      const name = await browserLogin.providerName(consoleProject);
      const identityProviders = name === undefined ? [] : [{ name, loginUrl: `${baseUrl}/session/login` }];
      return { project: consoleProject, identityProviders };
    },
  }),
  openRoute({
    method: "POST",
    path: "/session",
    audit: "sign-in",
    summary: "Sign in: begin a session, whose cookie is a credential for all requests",
    body: { kind: "json", schema: signInSchema },
    response: { schema: infoSchema },
    handle: async (authenticators, { body, sender, baseUrl, audit }): Promise<BrowserResponse> => {
      const { authenticator } = authenticators;
      authenticator.refuseForeign(sender);
      const { session: before } = await authenticator.authenticateCookie(sender);
      const { caller, cookie, expiresTime } = await signIn(authenticators, body, sender.address);
      audit.known(caller);
      await before?.end();
      const sent = { value: cookie, maxAgeMs: limits.sessionMsMax, sameSite: "Strict" } as const;
      const cookies = [cookieHeader(baseUrl, "millrace_session", sent)];
      return { cookies, json: infoOf(caller, expiresTime) };
    },
  }),
  openRoute({
    method: "GET",
    path: "/session",
    audit: none("it tells the caller about itself"),
    summary: "Who is signed in by the session cookie of this request, and what they may do",
    response: { schema: infoSchema },
    handle: async ({ authenticator }, { sender }) => {
      const { caller, session, refusal } = await authenticator.authenticateCookie(sender);
      if (!caller || !session) throw refusal ?? fail("unauthenticated", { reason: "no-session" });
      return infoOf(caller, session.expiresTime);
    },
  }),
  openRoute({
    method: "DELETE",
    path: "/session",
    audit: "sign-in",
    summary: "Sign out: end the session of the cookie",
    response: "empty",
    handle: async ({ authenticator }, { sender, baseUrl, audit }): Promise<BrowserResponse> => {
      const { session, refusal, caller } = await authenticator.authenticateCookie(sender);
      if (refusal?.failure === "foreign-origin") throw refusal;
      if (caller) audit.known(caller);
      await session?.end();
      return { cookies: [cookieHeader(baseUrl, "millrace_session")] };
    },
  }),
];

/** Refuses (401) an unknown key or token, and (429) too many of them. */
async function signIn(
  authenticators: Authenticators,
  { apiKey, token }: Static<typeof signInSchema>,
  address: string,
): Promise<BegunSession> {
  if (token !== undefined) return authenticators.authenticator.authenticateLink(token, address);
  if (apiKey !== undefined) return signInWithKey(authenticators, apiKey, address);
  throw fail("fields-missing", { fields: ["apiKey"] });
}

async function signInWithKey(
  { authenticator, sessions }: Authenticators,
  apiKey: string,
  address: string,
): Promise<BegunSession> {
  const { caller, refusal } = await authenticator.authenticateKey(apiKey, address);
  if (!caller) throw refusal;
  if (caller.credential?.kind !== "key") throw fail("run-makes-keys", {});
  const begun = await sessions.beginWithKey(caller.credential.id);
  if (!begun) throw fail("unauthenticated", { reason: "unknown-key" });
  return begun;
}
