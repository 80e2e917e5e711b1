// Rows of versions and their artifacts, in a transaction.
import type { Action } from "../../../access/capabilities.ts";
import type { RequestContext } from "../../../context.ts";
import { fail } from "../../../errors.ts";
import { equals, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../../storage/catalog.ts";
import { deleteAttachments } from "../../files/attachments/attachments.ts";
import { requireRecord } from "../records.ts";
import { type Artifact, artifactTable, type Version, type VersionState, versionTable } from "../schema.ts";

/** A version and its model. */
export interface VersionKey {
  readonly modelId: number;
  readonly id: number;
}

export const versionNamed = ({ modelId, id }: VersionKey) => ({
  ...{ id, field: "versionId" },
  within: equals("modelId", modelId),
});

/** Refuses (404) a version that the model does not have. */
export const requireVersion = (
  tx: CatalogReader,
  ctx: RequestContext,
  key: VersionKey,
  action: Action,
): Promise<Version> => requireRecord(tx, ctx, { table: versionTable, action }, versionNamed(key));

/** Refuses (409) a version in another state. */
export function requireState({ name, status }: Version, states: readonly VersionState[]): void {
  if (!states.includes(status)) throw fail("version-state", { name, state: status, needed: states });
}

/** The artifacts of these versions, by id, including those not uploaded yet. */
export async function artifactsOf(tx: CatalogReader, versionIds: readonly number[]): Promise<Artifact[]> {
  const filter = oneOf("versionId", versionIds);
  const limit = await tx.count(artifactTable, filter);
  return tx.find(artifactTable, { filter, order: byId, page: { limit } });
}

/** Deletes the artifacts of these versions. Returns the blobs to remove after the transaction. */
export async function deleteArtifactsOf(tx: CatalogWriter, versionIds: readonly number[]): Promise<number[]> {
  const ids = (await artifactsOf(tx, versionIds)).map(({ id }) => id);
  const blobs = await deleteAttachments(tx, ids);
  await tx.remove(artifactTable, oneOf("versionId", versionIds));
  return blobs;
}
