// Addresses of the server as the browser reaches it.

/**
 * A link of the server, at the origin of this page. The server may know itself by another host or scheme,
 * behind a proxy, and the page may connect to its own origin only.
 */
export const addressHere = (url: string): string => new URL(new URL(url).pathname, location.origin).href;
