// The part of the catalogue of failures about who may come in: credentials, logins, rights.
import { entry } from "./entry.ts";

/** Each names only the state of the exact credential that was sent, so that it helps nobody to guess one. */
const whyUnauthenticated = {
  "no-credentials": "the request has no credentials; send an API key (header api-key) or a bearer token",
  "unknown-key": "the API key is unknown or revoked",
  "expired-key": "the API key has expired",
  "bad-token": "the token is not valid for this server; an API key belongs in the header api-key",
  "expired-token": "the token has expired",
  "bad-session": "the session of the cookie has ended; log in again",
} as const;

export const accessFailures = {
  unauthenticated: entry<{ reason: keyof typeof whyUnauthenticated }>({
    status: 401,
    when: "The request has no valid API key, token or session; the message names the reason.",
    // Published clients read the beginning (docs/reference/common.md#error-texts-that-clients-read).
    message: ({ reason }) => `HTTP 401 Unauthorized: ${whyUnauthenticated[reason]}`,
  }),
  "no-identity-provider": entry<{ project: string }>({
    status: 400,
    when: "A login in a browser is asked for, and the project has no identity provider, or does not exist.",
    message: ({ project }) =>
      `The project ${project} has no identity provider to log in with; use an API key in the header api-key`,
  }),
  "no-session": entry<Record<string, never>>({
    status: 400,
    when: "The address that ends a login in a browser is asked for, and no identity provider has begun one.",
    message: () =>
      "There is no identity provider to log out from; an API key needs no logout, it is good until revoked",
  }),
  "redirect-not-allowed": entry<{ field: string }>({
    status: 400,
    when: "A browser is to be sent to an address that is not on the project's list.",
    message: ({ field }) =>
      `Invalid field - ${field} - expected an address on the project's list openIdConfiguration.redirectUrls`,
  }),
  "login-unknown": entry<Record<string, never>>({
    status: 400,
    when: "A browser comes back from an identity provider without having been sent there lately.",
    message: () => "This login was not begun in this browser, or too long ago; begin it again",
  }),
  "login-refused": entry<{ error: string }>({
    status: 403,
    when: "The identity provider refused a login in a browser, and there is no address for errors to go to.",
    message: ({ error }) => `The identity provider refused the login: ${error}`,
  }),
  "login-failed": entry<Record<string, never>>({
    status: 502,
    when: "A login in a browser failed between this server and the identity provider; the log says why.",
    message: () => "The login failed between this server and the identity provider; its log says why",
  }),
  "domain-excluded": entry<Record<string, never>>({
    status: 403,
    when: "The e-mail address of a user is in none of the domains that the project lets in.",
    message: () => "Your e-mail address is in no domain that may log in to this project",
  }),
  "identity-provider-away": entry<{ retryAfterSeconds: number }>({
    status: 503,
    when: "A token cannot be judged, or a login not begun, as the identity provider has not answered yet.",
    message: ({ retryAfterSeconds }) =>
      `The project's identity provider does not answer; try again in ${retryAfterSeconds} s`,
  }),
  "foreign-origin": entry<Record<string, never>>({
    status: 403,
    when: "A page of an origin that the project does not allow uses the cookie of a session.",
    message: () => "The session's cookie does not count for pages of this origin",
  }),
  "too-many-attempts": entry<{ retryAfterSeconds: number }>({
    status: 429,
    when: "An address or a credential has failed too often; the header `Retry-After` says when to come back.",
    message: ({ retryAfterSeconds }) => `Too many attempts; try again in ${retryAfterSeconds} s`,
  }),
  forbidden: entry<{ acl: string; action: string }>({
    status: 403,
    when: "The caller lacks the capability that the route needs.",
    message: ({ acl, action }) => `This needs the capability ${acl} with the action ${action}`,
  }),
  "outside-scope": entry<{ acl: string; action: string }>({
    status: 403,
    when: "A change would put a record where the caller may not write, or take an asset from such a place.",
    message: ({ acl, action }) => `This lies outside of what your capability ${acl} with ${action} reaches`,
  }),
  "right-not-held": entry<{ field: string; acl: string; actions: readonly string[] }>({
    status: 403,
    when: "A change would grant a right that the caller neither holds nor may grant by administering groups.",
    message: ({ field, acl, actions }) =>
      `${field} would grant ${acl} with ${actions.join(", ")} beyond what you hold; only an account that ` +
      "administers groups (all actions of groupsAcl, for all groups) can grant more than it holds",
  }),
  "provider-administration": entry<Record<string, never>>({
    status: 403,
    when: "The identity provider of a project is changed by a caller that does not administer groups.",
    message: () =>
      "The identity provider decides who holds the rights of groups; only an account that administers " +
      "groups (all actions of groupsAcl, for all groups) can change it",
  }),
  "run-makes-keys": entry<Record<string, never>>({
    status: 403,
    when: "The code of a model asks for an API key with the key that it runs with.",
    message: () => "The key of a model's run makes no keys; make them with an API key or a token",
  }),
  "key-chain-too-long": entry<{ limit: number }>({
    status: 400,
    when: "A key is made with a key that was made with a key, and so on, too many in a row.",
    message: ({ limit }) =>
      `At most ${limit} keys in a row can be made with each other; make this one with an earlier key`,
  }),
  "foreign-project": entry<{ project: string }>({
    status: 403,
    when: "The project in the path does not exist or is not the caller's.",
    message: ({ project }) =>
      `The project ${project} does not exist, or your credentials are for another one`,
  }),
} as const;
