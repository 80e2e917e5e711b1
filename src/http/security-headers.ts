// The security headers of every response.

/**
 * No response is a web page, and uploaded files are no exception. Browsers run no script from it, show it in
 * no frame, guess no other content type, cache nothing, and send no `Referer`, which may contain a token.
 */
const always = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

const aYear = 365 * 24 * 3600;

/** `isSecure`: clients reach this server by https. Routes may override these headers. */
export const securityHeaders = (isSecure: boolean): Readonly<Record<string, string>> => ({
  ...always,
  ...(isSecure && { "strict-transport-security": `max-age=${aYear}` }),
});
