// The base address of absolute links in REST responses.
import { fail } from "../errors.ts";
import { baseUrlOf as knownBaseUrl } from "../lib/base-url.ts";

/** The public address of the server, or else the address that this request was sent to. */
export function baseUrlOf(
  { baseUrl }: { readonly baseUrl?: string },
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  const url = knownBaseUrl(baseUrl, headers);
  if (url === undefined) throw fail("fields-missing", { fields: ["Host"] });
  return url;
}
