// Reads and writes cookie headers (RFC 6265) whose values need no quotes.

/** The value of a cookie in a request; undefined when it has none. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const equals = pair.indexOf("=");
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}

interface CookieToSet {
  readonly name: string;
  /** Letters, digits and `-._`. */
  readonly value: string;
  /** 0 removes the cookie. */
  readonly maxAgeSeconds: number;
  readonly path: string;
  readonly sameSite: "Lax" | "Strict";
  readonly isSecure: boolean;
}

/** Scripts cannot read the cookie, and browsers do not send it with requests that another site starts. */
export function setCookie({ name, value, path, maxAgeSeconds, sameSite, isSecure }: CookieToSet): string {
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, "HttpOnly", `SameSite=${sameSite}`];
  return [`${name}=${value}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; ");
}
