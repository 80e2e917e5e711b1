// Inserts one entity into a set, or into the collection of another entity
// (docs/reference/odata.md#inserts).
import type { RequestContext } from "../context.ts";
import { fail } from "../errors.ts";
import { type EntityModel, type EntityRecord, isOpenComplex } from "./model.ts";
import type { RequestHeaders } from "./negotiate.ts";
import type { EntityCollection } from "./resolve-path.ts";

/** Whether entities can be inserted into this collection. */
export const isInsertable = ({ set, isWholeSet, container }: EntityCollection): boolean =>
  set.insert !== undefined && (isWholeSet || container !== undefined);

/**
 * Reads the JSON body. The member at the path `keptText` stays as it was sent (`JsonText`), so that numbers
 * keep their digits.
 */
export type ReadJsonBody = (keptText?: readonly string[]) => Promise<unknown>;

/** The members of the entity in the body; open objects stay as they were sent. */
export async function readEntityBody(
  { type }: EntityCollection,
  headers: RequestHeaders,
  readJsonBody: ReadJsonBody,
): Promise<Readonly<Record<string, unknown>>> {
  const sent = String(headers["content-type"] ?? "none");
  if (!/^application\/json\s*(;|$)/i.test(sent)) throw fail("content-type-unsupported", { type: sent });
  const open = type.properties.find((one) => isOpenComplex(one.type));
  const body = await readJsonBody(open && [open.name]);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw fail("body-not-json", { problem: "expected one entity: an object" });
  return body as Readonly<Record<string, unknown>>;
}

/** Inserts the entity. Refuses (409) an existing entity and (501) an entity with nested entities. */
export async function insertEntity(
  { ctx, model }: { readonly ctx: RequestContext; readonly model: EntityModel },
  of: EntityCollection,
  body: Readonly<Record<string, unknown>>,
): Promise<EntityRecord> {
  for (const name of model.navigationsOf(of.type).keys())
    if (name in body)
      throw fail("feature-not-supported", { feature: `The insertion of ${name} inside of another entity` });
  return of.set.insert!(ctx, { body, ...(of.container && { container: of.container }) });
}
