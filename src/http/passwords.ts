// Credentials of clients that can send a password only: the password is an API key or a token.
import type { RequestSource } from "../access/authenticator.ts";

interface BasicCredentials {
  readonly user: string;
  /** Undefined without a colon after the user. */
  readonly password: string | undefined;
}

/** The user and the password of HTTP Basic; undefined for another scheme. */
export function basicCredentialsOf(authorization: string | undefined): BasicCredentials | undefined {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const [, user = "", password] =
    /^([^:]*)(?::(.*))?$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return { user, password };
}

/** The password of HTTP Basic, empty if there is none; undefined for another scheme. */
export function basicPasswordOf(authorization: string | undefined): string | undefined {
  const credentials = basicCredentialsOf(authorization);
  return credentials && (credentials.password ?? "");
}

/** The source with the password as its only credential. Two dots tell a token from a key. */
export function withPassword(source: RequestSource, password: string): RequestSource {
  const { authorization: _, ...headers } = source.headers;
  const isToken = /^[^.]+\.[^.]+\.[^.]+$/.test(password);
  const credential = isToken ? { authorization: `Bearer ${password}` } : { "api-key": password || "none" };
  return { ...source, headers: { ...headers, ...credential } };
}
