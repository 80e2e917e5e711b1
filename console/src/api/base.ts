// The address of the server as the page knows it, and the nonce that the server's security policy requires.

/** The base URL of the server without a slash at its end; `index.html` has it as `<base href>`. */
export const baseUrl = (): string => document.baseURI.replace(/\/[^/]*$/, "");

/** The path of the base URL, "/" or longer: `/millrace`. */
export const basePath = (): string => new URL(`${baseUrl()}/`).pathname.replace(/(.)\/$/, "$1");

/** The nonce for style elements; empty when the server sets none. */
export const cspNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
