// The address that absolute links in answers begin with.
import { fail } from "../errors.ts";

/** The public address of the server, else the one by which the client of this request has reached it. */
export function baseUrlOf(
  { baseUrl }: { readonly baseUrl?: string },
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  if (baseUrl !== undefined) return baseUrl;
  const host = headers["host"];
  if (typeof host !== "string" || !/^[\w.:[\]-]+$/.test(host))
    throw fail("fields-missing", { fields: ["Host"] });
  return `http://${host}`;
}
