// Headers of every answer that tell browsers to be careful with it.
import type { ServerResponse } from "node:http";

/**
 * Nothing here is a page: no script runs from an answer, uploaded files included, none is shown in a frame or
 * read as another type than its own, none is kept by a cache, and no address with a token in it is passed on.
 */
const always = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
} as const;

const aYear = 365 * 24 * 3600;

/** `isSecure`: clients reach this server by https. Routes may answer with others of their own. */
export function securityHeaders(isSecure: boolean): (response: ServerResponse) => void {
  const headers = {
    ...always,
    ...(isSecure && { "Strict-Transport-Security": `max-age=${aYear}` }),
  };
  const pairs = Object.entries(headers);
  return (response) => {
    for (const [name, value] of pairs) response.setHeader(name, value);
  };
}
