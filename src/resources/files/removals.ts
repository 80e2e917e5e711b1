// Takes blobs away once no record names them, also when a crash comes in between.
//
// A record lets go of its blob in one catalog transaction with a note that the blob has to go. The note is
// taken back when the blob is gone; what a crash leaves is finished at the next start.
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import { projectIds } from "../projects/projects.ts";
import { removalTable, uploadTable } from "./schema.ts";

export type BlobStores = Pick<Services, "catalog" | "blobs" | "uploads">;

/** Notes that these blobs have to go, and ends the uploads among them. */
export async function recordRemovals(tx: CatalogWriter, blobs: readonly number[]): Promise<void> {
  await tx.remove(uploadTable, oneOf("id", blobs));
  await tx.insert(
    removalTable,
    blobs.map((id) => ({ id })),
  );
}

/** Takes away blobs that are noted; requests that still write to one are ended first. */
export async function removeBlobs(
  stores: BlobStores,
  project: ProjectId,
  blobs: readonly number[],
): Promise<void> {
  if (blobs.length === 0) return;
  for (const id of blobs) await stores.uploads.run(id, () => stores.blobs.remove({ project, id }));
  await stores.catalog.write(project, (tx) => tx.remove(removalTable, oneOf("id", blobs)));
}

/** Finishes, before requests are served, the removals that a crash interrupted. */
export async function finishRemovals(stores: BlobStores): Promise<void> {
  for (const project of await projectIds(stores)) {
    for (let ids = await hasMore(stores, project); ids.length > 0; ids = await hasMore(stores, project))
      await removeBlobs(stores, project, ids);
  }
}

async function hasMore({ catalog }: BlobStores, project: ProjectId): Promise<number[]> {
  const page = { limit: limits.itemsPerWriteMax };
  const found = await catalog.read(project, (tx) =>
    tx.find(removalTable, { filter: everything, order: byId, page }),
  );
  return found.map(({ id }) => id);
}
