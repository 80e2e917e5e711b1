// Addresses are percent-encoded UTF-8 (RFC 3986). Anything else is refused before a router or decoder reads
// it.
import { type Failure, fail } from "../errors.ts";
import { notUtf8At } from "../lib/utf8.ts";

/** The refusal (400) of a path and query that do not decode to UTF-8; undefined when they do. */
export function addressRefusal(address: string): Failure | undefined {
  if (!address.includes("%") || decoded(address) !== undefined) return undefined;
  return fail("request-malformed", { problem: problemOf(address) });
}

/**
 * The refusal (400) of a DELETE whose path ends with `/`. Clients remove the segments `.` and `..` from a
 * path: the address of the row `.` arrives as that of its table, with a `/`. It must not delete the table.
 */
export function emptyNameRefusal(method: string, address: string): Failure | undefined {
  if (method !== "DELETE") return undefined;
  const path = address.split("?", 1)[0]!;
  return path.endsWith("/") ? fail("name-empty", { path }) : undefined;
}

/** Returns the string, because the bundler removes a call of `decodeURIComponent` whose value is not used. */
function decoded(address: string): string | undefined {
  try {
    return decodeURIComponent(address);
  } catch {
    return undefined;
  }
}

function problemOf(address: string): string {
  const incomplete = address.search(/%(?![\da-f]{2})/i);
  if (incomplete >= 0)
    return `its address has a "%" without two hexadecimal digits at character ${incomplete}; send "%25"`;
  const starts: number[] = [];
  const bytes = address.replaceAll(/%([\da-f]{2})|./gis, (found, hex: string | undefined, at: number) => {
    starts.push(at);
    return String.fromCharCode(hex === undefined ? found.charCodeAt(0) : Number.parseInt(hex, 16));
  });
  const at = starts[notUtf8At(Buffer.from(bytes, "latin1"))!]!;
  return `its address has ${address.slice(at, at + 3)} at character ${at}, which is not UTF-8`;
}
