// The address that absolute links in REST answers begin with.
import { fail } from "../errors.ts";
import { baseUrlOf as knownBaseUrl } from "../lib/base-url.ts";

/** The public address of the server, else the one by which the client of this request has reached it. */
export function baseUrlOf(
  { baseUrl }: { readonly baseUrl?: string },
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  const known = knownBaseUrl(baseUrl, headers);
  if (known === undefined) throw fail("fields-missing", { fields: ["Host"] });
  return known;
}
