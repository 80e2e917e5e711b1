// Removes blobs that no record names any more, even if the process crashes in between.
//
// The transaction that clears a record's reference also records a pending removal of the blob. The pending
// removal is deleted with the blob; the next start completes those that a crash left.
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import { projectIds } from "../projects/projects.ts";
import { removalTable, uploadTable } from "./schema.ts";

export type BlobStores = Pick<Services, "catalog" | "blobs" | "uploads">;

/** Records pending removals of blobs, and ends their uploads. */
export async function recordRemovals(tx: CatalogWriter, blobs: readonly number[]): Promise<void> {
  await tx.remove(uploadTable, oneOf("id", blobs));
  await tx.insert(
    removalTable,
    blobs.map((id) => ({ id })),
  );
}

/** Removes blobs with pending removals, after cancelling requests that still write to them. */
export async function removeBlobs(
  stores: BlobStores,
  projectId: ProjectId,
  blobs: readonly number[],
): Promise<void> {
  if (blobs.length === 0) return;
  for (const id of blobs) await stores.uploads.run(id, () => stores.blobs.remove({ project: projectId, id }));
  await stores.catalog.write(projectId, (tx) => tx.remove(removalTable, oneOf("id", blobs)));
}

/** Completes the removals that a crash interrupted; runs before requests are served. */
export async function finishRemovals(stores: BlobStores): Promise<void> {
  for (const projectId of await projectIds(stores)) {
    for (let ids = await hasMore(stores, projectId); ids.length > 0; ids = await hasMore(stores, projectId))
      await removeBlobs(stores, projectId, ids);
  }
}

async function hasMore({ catalog }: BlobStores, projectId: ProjectId): Promise<number[]> {
  const page = { limit: limits.itemsPerWriteMax };
  const found = await catalog.read(projectId, (tx) =>
    tx.find(removalTable, { filter: everything, order: byId, page }),
  );
  return found.map(({ id }) => id);
}
