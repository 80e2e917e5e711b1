// Credentials of clients that can send a password only: the password is an API key or a token.
import type { RequestSource } from "../access/authenticator.ts";

/** The password of HTTP Basic; undefined for another scheme. */
export function basicPasswordOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return password;
}

/** The source with the password as its only credential. Two dots tell a token from a key. */
export function withPassword(source: RequestSource, password: string): RequestSource {
  const { authorization: _, ...headers } = source.headers;
  const isToken = /^[^.]+\.[^.]+\.[^.]+$/.test(password);
  const credential = isToken ? { authorization: `Bearer ${password}` } : { "api-key": password || "none" };
  return { ...source, headers: { ...headers, ...credential } };
}
