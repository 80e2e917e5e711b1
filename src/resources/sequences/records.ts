// Records of sequences in a transaction: those a caller may touch, and what must hold before a write.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { Reader } from "../../storage/catalog.ts";
import { unknownAssets } from "../assets/assets.ts";
import { type Sequence, sequenceTable } from "./schema.ts";

/** Which sequences, what the caller named them in, and how unknown ones are refused (400 when absent). */
export interface Named {
  readonly ids: readonly number[];
  readonly field: string;
  readonly status?: 404;
}

/** What a path names. */
export const inPath = (id: number): Named => ({ ids: [id], field: "sequenceId", status: 404 });

/** These sequences in the order asked. Refuses repeated ids (400), and ids outside of `scope` as unknown. */
export async function existingSequences(tx: Reader, scope: Filter, named: Named): Promise<Sequence[]> {
  const { ids, ...where } = named;
  const repeated = repeatedOf(ids);
  if (repeated.length > 0) throw fail("ids-repeated", { ...where, ids: repeated });
  const filter = and(scope, oneOf("id", ids));
  const rows = await tx.find(sequenceTable, { filter, order: byId, page: { limit: ids.length } });
  const found = new Map(rows.map((row) => [row.id, row]));
  const unknown = ids.filter((id) => !found.has(id));
  if (unknown.length > 0) throw fail("ids-unknown", { ...where, ids: unknown });
  return ids.map((id) => found.get(id)!);
}

/** Refuses (409) external ids that another sequence has, seen by the caller or not, or that occur twice. */
export async function refuseTakenExternalIds(
  tx: Reader,
  wanted: readonly (string | undefined)[],
): Promise<void> {
  const externalIds = wanted.filter((one) => one !== undefined);
  if (externalIds.length === 0) return;
  const filter = oneOf("externalId", [...new Set(externalIds)]);
  const held = await tx.find(sequenceTable, { filter, order: byId, page: { limit: externalIds.length } });
  const taken = new Set([...held.map((row) => row.externalId), ...repeatedOf(externalIds)]);
  if (taken.size === 0) return;
  const listed = [...new Set(externalIds)].filter((one) => taken.has(one));
  throw fail("external-ids-taken", { what: "sequence", externalIds: listed });
}

/** Refuses links to assets that do not exist or that the caller may not see (client-endpoints (b) 20). */
export async function refuseUnknownAssets(
  ctx: RequestContext,
  tx: Reader,
  links: readonly (number | undefined)[],
): Promise<void> {
  const assetIds = links.filter((id) => id !== undefined);
  const [unknown] = assetIds.length > 0 ? await unknownAssets(ctx, tx, "sequencesAcl", assetIds) : [];
  if (unknown === undefined) return;
  const expected = "the id of an existing asset";
  throw fail("field-invalid", { field: "assetId", expected, got: `${unknown}` });
}

/** The elements that occur more than once, each once. */
export function repeatedOf<Key>(keys: readonly Key[]): Key[] {
  const seen = new Set<Key>();
  return [...new Set(keys.filter((key) => seen.size === seen.add(key).size))];
}
