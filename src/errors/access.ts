// The part of the catalogue of failures about who may come in: credentials, logins, rights.
import { entry } from "./entry.ts";

/**
 * Each message describes only the credential in the request, so it helps no attacker to guess another one.
 */
const whyUnauthenticated = {
  "no-credentials":
    "the request has no credentials; send a bearer token or a key (header api-key, in OData also Basic)",
  "unknown-key": "the API key is unknown or revoked",
  "expired-key": "the API key has expired",
  "bad-token": "the token is not valid for this server; an API key belongs in the header api-key",
  "expired-token": "the token has expired",
  "bad-session": "the session of the cookie has ended; log in again",
  "bad-link":
    "the link was used already or has expired; for a new one: millrace login-link on the server's machine",
  "no-session": "the request has no session cookie; sign in first (POST /session)",
} as const;

export const accessFailures = {
  "token-request-invalid": entry<{
    error: "invalid_request" | "unsupported_grant_type";
    field: string;
    expected: string;
    got: string;
  }>({
    status: 400,
    when: "A request for a token at `/oauth2/token` is not as RFC 6749 defines it. `error` names the kind.",
    message: ({ field, expected, got }) => `Invalid field - ${field} - expected ${expected}, but got ${got}`,
    members: ({ error }) => ({ error }),
  }),
  "client-unknown": entry<Record<string, never>>({
    status: 401,
    when: "`client_id` and `client_secret` of a request for a token are not an account and one of its keys.",
    message: () =>
      "client_id must be the name or the id of a service account, and client_secret one of its API keys",
    members: () => ({ error: "invalid_client" }),
  }),
  unauthenticated: entry<{ reason: keyof typeof whyUnauthenticated }>({
    status: 401,
    when: "The request has no valid API key, token or session; the message names the reason.",
    // Published clients read the beginning (docs/reference/common.md#error-messages-that-clients-read).
    message: ({ reason }) => `HTTP 401 Unauthorized: ${whyUnauthenticated[reason]}`,
  }),
  "no-identity-provider": entry<{ project: string }>({
    status: 400,
    when: "A browser requests a login, and the project has no identity provider or does not exist.",
    message: ({ project }) =>
      `The project ${project} has no identity provider to log in with; use an API key in the header api-key`,
  }),
  "no-session": entry<Record<string, never>>({
    status: 400,
    when: "A browser requests the logout address, and the project has no identity provider.",
    message: () =>
      "There is no identity provider to log out from; an API key needs no logout and is valid until revoked",
  }),
  "redirect-not-allowed": entry<{ field: string }>({
    status: 400,
    when: "A login names a redirect address that is not on the project's list.",
    message: ({ field }) =>
      `Invalid field - ${field} - expected an address on the project's list openIdConfiguration.redirectUrls`,
  }),
  "login-unknown": entry<Record<string, never>>({
    status: 400,
    when: "A browser returns from an identity provider without a recent login request.",
    message: () => "This login was not started in this browser, or too long ago; start it again",
  }),
  "login-refused": entry<{ error: string }>({
    status: 403,
    when: "The identity provider refused a login, and the login has no address for errors.",
    message: ({ error }) => `The identity provider refused the login: ${error}`,
  }),
  "login-failed": entry<Record<string, never>>({
    status: 502,
    when: "A login in a browser failed between this server and the identity provider; the log says why.",
    message: () => "The login failed between this server and the identity provider; its log says why",
  }),
  "domain-excluded": entry<Record<string, never>>({
    status: 403,
    when: "The e-mail address of a user is in no domain that the project admits.",
    message: () => "Your e-mail address is in no domain that may log in to this project",
  }),
  "identity-provider-away": entry<{ retryAfterSeconds: number }>({
    status: 503,
    when: "A token cannot be verified, or a login not started: the identity provider does not respond.",
    message: ({ retryAfterSeconds }) =>
      `The project's identity provider does not respond; try again in ${retryAfterSeconds} s`,
  }),
  "foreign-origin": entry<Record<string, never>>({
    status: 403,
    when: "A page signs in or uses a session cookie, and its origin is not allowed to.",
    message: () => "Pages of this origin cannot use the session cookie",
  }),
  "too-many-attempts": entry<{ retryAfterSeconds: number }>({
    status: 429,
    when: "An address or a credential has failed too often; the header `Retry-After` says when to try again.",
    message: ({ retryAfterSeconds }) => `Too many attempts; try again in ${retryAfterSeconds} s`,
  }),
  forbidden: entry<{ acl: string; action: string }>({
    status: 403,
    when: "The caller lacks the capability that the route needs.",
    message: ({ acl, action }) => `This needs the capability ${acl} with the action ${action}`,
  }),
  "administrators-only": entry<{ purpose: string }>({
    status: 403,
    when: "A caller that does not administer groups reads as a group, or requests an explanation of access.",
    message: ({ purpose }) =>
      `Only an account that administers groups (all actions of groupsAcl, for all groups) can ${purpose}`,
  }),
  "see-as-read-only": entry<Record<string, never>>({
    status: 403,
    when: "An operation that changes data or runs code has the header `X-See-As-Group`.",
    message: () => "The header X-See-As-Group permits reads only; send this request without the header",
  }),
  "outside-scope": entry<{ acl: string; action: string }>({
    status: 403,
    when: "A change would move a record or an asset out of or into a scope that the caller may not write.",
    message: ({ acl, action }) => `This is outside the scope of your capability ${acl} with ${action}`,
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
    when: "The code of a model requests an API key or a session with the key of its run.",
    message: () => "The key of a model's run cannot create keys or sign in; use an API key or a token",
  }),
  "key-over-limit": entry<{ unit: string; perSecond: number; retryAfterSeconds: number }>({
    status: 429,
    when: "The API key has used up one of its limits; the header `Retry-After` says when to try again.",
    message: ({ unit, perSecond, retryAfterSeconds }) =>
      `The limit of this API key is ${perSecond} ${unit} a second; try again in ${retryAfterSeconds} s`,
  }),
  "limited-key": entry<Record<string, never>>({
    status: 403,
    when: "A request whose API key has limits creates keys or changes limits.",
    message: () => "An API key with limits cannot create keys or change limits; use a key without limits",
  }),
  "key-chain-too-long": entry<{ limit: number }>({
    status: 400,
    when: "Each key of a chain was created with the one before, and a further key exceeds its limit.",
    message: ({ limit }) =>
      `A chain of keys that create each other has at most ${limit} keys; use an earlier key`,
  }),
  "audit-not-stored": entry<{ waiting: number }>({
    status: 503,
    when: "An operation is to be recorded in the audit log, and too many earlier records wait to be stored.",
    message: ({ waiting }) =>
      `The audit log cannot be written: ${waiting} records wait; free disk space or repeat the request later`,
  }),
  "foreign-project": entry<{ project: string }>({
    status: 403,
    when: "The project in the path does not exist or is not the caller's.",
    message: ({ project }) =>
      `The project ${project} does not exist, or your credentials are for another one`,
  }),
} as const;
