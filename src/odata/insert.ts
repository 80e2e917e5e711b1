// Inserts: one entity in a body, into a set or into what another entity contains (odata.md 2.11).
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { parseJson } from "../lib/json.ts";
import { isDeeperThan } from "../lib/json-text.ts";
import { limits } from "../limits.ts";
import type { Model, Row } from "./model.ts";
import type { Headers } from "./negotiate.ts";
import type { Collection } from "./place.ts";

/** Whether entities can be inserted where the request leads. */
export const takesInserts = ({ set, isWholeSet, container }: Collection): boolean =>
  set.insert !== undefined && (isWholeSet || container !== undefined);

/** Makes the entity of the body; refuses (409) one that exists, and (501) one with others inside of it. */
export async function insertInto(
  { ctx, model }: { readonly ctx: RequestContext; readonly model: Model },
  of: Collection,
  { bytes, headers }: { readonly bytes: Buffer; readonly headers: Headers },
): Promise<Row> {
  const type = String(headers["content-type"] ?? "none");
  if (!/^application\/json\s*(;|$)/i.test(type)) throw fail("content-type-unsupported", { type });
  const text = bytes.toString();
  const body = readObject(text);
  for (const name of model.navigationsOf(of.type).keys())
    if (name in body)
      throw fail("feature-not-supported", { feature: `The insertion of ${name} inside of another entity` });
  return of.set.insert!(ctx, { body, text, ...(of.container && { container: of.container }) });
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  if (isDeeperThan(text, limits.jsonDepthMax))
    throw fail("body-not-json", { problem: `it is nested more than ${limits.jsonDepthMax} levels deep` });
  let body: unknown;
  try {
    body = parseJson(text);
  } catch (problem) {
    throw fail("body-not-json", { problem: (problem as Error).message });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw fail("body-not-json", { problem: "expected one entity: an object" });
  return body as Readonly<Record<string, unknown>>;
}
