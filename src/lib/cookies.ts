// Cookies as they are sent and set (RFC 6265); their values here need no quoting.

/** The value of a cookie that was sent; undefined when it was not. */
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
  /** 0 takes the cookie away. */
  readonly maxAgeSeconds: number;
  readonly isSecure: boolean;
}

/** Out of reach of scripts, and not sent along when another site makes a browser send a request. */
export const setCookie = ({ name, value, maxAgeSeconds, isSecure }: CookieToSet): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
