// Headers of every answer that tell browsers to be careful with it.
/**
 * Nothing here is a page: no script runs from an answer, uploaded files included, none is shown in a frame or
 * read as another type than its own, none is kept by a cache, and no address with a token in it is passed on.
 */
const always = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

const aYear = 365 * 24 * 3600;

/** `isSecure`: clients reach this server by https. Routes may answer with others of their own. */
export const securityHeaders = (isSecure: boolean): Readonly<Record<string, string>> => ({
  ...always,
  ...(isSecure && { "strict-transport-security": `max-age=${aYear}` }),
});
