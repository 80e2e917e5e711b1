// One-time links to the console, and the address that they begin with.
import type { Settings } from "../config.ts";

/** The token is in the fragment, which browsers send to no server. */
export const signInLink = (baseUrl: string, token: string): string => `${baseUrl}/sign-in#token=${token}`;

/**
 * The address that the server prints when it starts with these settings; undefined when it takes any port.
 */
export function addressOf({ baseUrl, host, port }: Settings): string | undefined {
  if (baseUrl !== undefined) return baseUrl;
  if (port === 0) return undefined;
  const isEveryAddress = host === "0.0.0.0" || host === "::";
  const name = host.includes(":") ? `[${host}]` : host;
  return `http://${isEveryAddress ? "127.0.0.1" : name}:${port}`;
}
