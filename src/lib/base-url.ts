// The address that absolute links in answers begin with.

/** The public address configured, else the one by which the client of this request has reached the server. */
export function baseUrlOf(
  configured: string | undefined,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  if (configured !== undefined) return configured;
  const host = headers["host"];
  return typeof host === "string" && /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : undefined;
}
