// The base URL of absolute links in responses.

/** The configured public address, else the address that the client used for this request. */
export function baseUrlOf(
  configured: string | undefined,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  if (configured !== undefined) return configured;
  const host = headers["host"];
  return typeof host === "string" && /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : undefined;
}
