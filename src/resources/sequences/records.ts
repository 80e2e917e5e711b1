// Records of sequences in a transaction: those a caller may touch, and what must hold before a write.
import { fail } from "../../errors.ts";
import { repeatedOf } from "../../lib/repeated.ts";
import { existingRecords, type IdsNamed } from "../../query/existing.ts";
import { type Filter, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { Reader } from "../../storage/catalog.ts";
import { type Sequence, sequenceTable } from "./schema.ts";

/** What a path names. */
export const inPath = (id: number): IdsNamed => ({ ids: [id], field: "sequenceId", status: 404 });

/** These sequences in the order asked. Refuses repeated ids (400), and ids outside of `scope` as unknown. */
export const existingSequences = (tx: Reader, scope: Filter, named: IdsNamed): Promise<Sequence[]> =>
  existingRecords(tx, sequenceTable, scope, named);

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
