// Serves `/oauth2/token`: a program exchanges an API key for a short-lived token by client credentials
// (RFC 6749, 4.4; docs/reference/projects-and-login.md#tokens-for-programs).
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Authenticator, RequestSource } from "../access/authenticator.ts";
import type { ProgramTokens } from "../access/program-tokens.ts";
import { type Failure, fail } from "../errors.ts";
import { limits } from "../limits.ts";
import type { RequestAudit } from "./auditing.ts";
import { basicCredentialsOf } from "./passwords.ts";
import { addEndpoint, type Kernel } from "./pipeline.ts";
import { sourceOf } from "./project-access.ts";
import type { Protocol } from "./protocol.ts";

export const oauthProtocol: Protocol = {
  roots: ["/oauth2/"],
  sourceOf,
  errorOf: (failure) => ({ headers: headersOf(failure), body: errorBodyOf(failure) }),
};

/** Tokens and their refusals are never stored by caches (RFC 6749, 5.1). */
const noStore = { "Cache-Control": "no-store" } as const;

const headersOf = ({ status }: Failure): Readonly<Record<string, string>> => ({
  ...noStore,
  ...(status === 401 && { "WWW-Authenticate": 'Basic realm="Millrace"' }),
});

/** RFC 6749, 5.2. Refusals that it does not name are server errors or requests that came too often. */
const errorBodyOf = ({ status, message, members }: Failure) => ({
  error: members["error"] ?? otherErrors[status] ?? (status < 500 ? "invalid_request" : "server_error"),
  error_description: message,
});

const otherErrors: Readonly<Record<number, string>> = { 401: "invalid_client", 429: "slow_down" };

interface OAuthKernel extends Kernel {
  readonly authenticator: Authenticator;
  readonly programTokens: ProgramTokens;
}

export function addOAuth(http: FastifyInstance, kernel: OAuthKernel): void {
  const { authenticator } = kernel;
  addEndpoint<TokenClient, undefined, URLSearchParams, object>(http, kernel, {
    method: "POST",
    url: "/oauth2/token",
    audit: () => ({ kind: "sign-in", action: "POST /oauth2/token", resource: "session" }),
    admit(request) {
      const source = sourceOf(request);
      return { source, client: source.address };
    },
    effect: "read",
    decode: () => undefined,
    readBody({ request, admitted }, receive) {
      authenticator.throttle.refuseAddress(admitted.source.address);
      requireForm(request);
      return receive(limits.openBodyBytesMax, async (bytes) => new URLSearchParams(bytes.toString()));
    },
    handle: ({ admitted, audit }, form) => respond(kernel, form, { source: admitted.source, audit }),
    send: ({ reply }, token) => reply.headers(noStore).send(token),
  });
}

interface TokenClient {
  readonly source: RequestSource;
  readonly client: string;
}

const formType = "application/x-www-form-urlencoded";

function requireForm({ headers }: FastifyRequest): void {
  const got = headers["content-type"] ?? "none";
  if (!got.startsWith(formType)) throw invalid({ field: "Content-Type", expected: formType, got });
}

async function respond(
  { authenticator, programTokens }: OAuthKernel,
  form: URLSearchParams,
  { source, audit }: { readonly source: RequestSource; readonly audit: Pick<RequestAudit, "known"> },
): Promise<object> {
  const grant = parameterOf(form, "grant_type");
  if (grant !== "client_credentials")
    throw invalid({
      error: "unsupported_grant_type",
      ...{ field: "grant_type", expected: "client_credentials", got: grant ?? "none" },
    });
  const { id, secret } = clientOf(form, source.headers.authorization);
  const { caller } = await authenticator.authenticateKey(secret, source.address);
  const isOfAccount = caller && (id === caller.user || id === String(caller.userId));
  const issued = isOfAccount ? await programTokens.issue(caller) : undefined;
  if (!caller || !issued) throw fail("client-unknown", {});
  audit.known(caller);
  return {
    access_token: issued.token,
    token_type: "Bearer",
    expires_in: Math.floor(issued.validMs / 1000),
    // All rights of the account, whatever scope was requested.
    scope: "account",
  };
}

interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** From HTTP Basic or from the form, and not from both (RFC 6749, 2.3). */
function clientOf(form: URLSearchParams, authorization: string | undefined): ClientCredentials {
  const basic = basicOf(authorization);
  const [id, secret] = [parameterOf(form, "client_id"), parameterOf(form, "client_secret")];
  if (basic && secret !== undefined)
    throw invalid({ field: "client_secret", expected: "one way of authentication", got: "two" });
  if (basic) return basic;
  if (id === undefined) throw invalid({ field: "client_id", expected: "a service account", got: "none" });
  if (secret === undefined) throw invalid({ field: "client_secret", expected: "an API key", got: "none" });
  return { id, secret };
}

/** Both parts of HTTP Basic are encoded as values of a form (RFC 6749, 2.3.1). */
function basicOf(authorization: string | undefined): ClientCredentials | undefined {
  const { user, password } = basicCredentialsOf(authorization) ?? {};
  if (user === undefined) return undefined;
  if (password === undefined)
    throw invalid({ field: "Authorization", expected: "an account and a key with a colon", got: "no colon" });
  return { id: formDecoded(user), secret: formDecoded(password) };
}

/** A value that is not encoded well is taken as it is: many programs do not encode. */
function formDecoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

/** Refuses (400) a parameter that is sent twice. An empty one counts as absent (RFC 6749, 3.1). */
function parameterOf(form: URLSearchParams, field: string): string | undefined {
  const values = form.getAll(field);
  if (values.length > 1) throw invalid({ field, expected: "one value", got: `${values.length} values` });
  return values[0] || undefined;
}

const invalid = (details: {
  readonly error?: "invalid_request" | "unsupported_grant_type";
  readonly field: string;
  readonly expected: string;
  readonly got: string;
}): Failure => fail("token-request-invalid", { error: "invalid_request", ...details });
