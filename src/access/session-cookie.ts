// Cookies of this server: their names and attributes follow from the address that clients use.
import { setCookie } from "../lib/cookies.ts";

/** The part of an address that cookies depend on. */
interface CookieScope {
  readonly isSecure: boolean;
  /** The path of the base URL: other servers of the same host do not get the cookie. */
  readonly path: string;
  /** Empty for the usual port of the protocol. */
  readonly port: string;
}

function cookieScope(baseUrl: string | undefined): CookieScope {
  const { protocol, pathname, port } = URL.parse(baseUrl ?? "") ?? new URL("http://-");
  return { isSecure: protocol === "https:", path: pathname.replace(/(?<=.)\/$/, ""), port };
}

/**
 * The name ends with the port of the address. A browser sends the cookies of a host to every port of it
 * (RFC 6265, 8.5), and the cookies of two servers would replace each other.
 *
 * Under https the name has a prefix with which browsers refuse a cookie from another host of the domain
 * (`__Host-`, without a base path), or from plain http (`__Secure-`) (RFC 6265bis, 4.1.3).
 */
export function cookieName(baseUrl: string | undefined, name: string): string {
  const { isSecure, path, port } = cookieScope(baseUrl);
  const ownName = port === "" ? name : `${name}_${port}`;
  if (!isSecure) return ownName;
  return path === "/" ? `__Host-${ownName}` : `__Secure-${ownName}`;
}

export const sessionCookieName = (baseUrl: string | undefined): string =>
  cookieName(baseUrl, "millrace_session");

interface CookieValue {
  /** Letters, digits and `-._`. */
  readonly value: string;
  readonly maxAgeMs: number;
  /** `Strict`: also not with a navigation that another site starts. */
  readonly sameSite: "Lax" | "Strict";
}

/** A `Set-Cookie` header; `cookie` without a value removes the cookie. */
export function cookieHeader(baseUrl: string, name: string, cookie?: CookieValue): string {
  const { value = "", maxAgeMs = 0, sameSite = "Lax" } = cookie ?? {};
  const maxAgeSeconds = Math.floor(maxAgeMs / 1000);
  const { isSecure, path } = cookieScope(baseUrl);
  return setCookie({ name: cookieName(baseUrl, name), value, maxAgeSeconds, sameSite, isSecure, path });
}
