// Removes blobs that no record names any more, even if the process crashes in between.
//
// The transaction that clears a record's reference also records a pending removal of the blob. The pending
// removal is deleted with the blob. The sweep and the next start complete those that a crash, or a store that
// was away, left.
import type { Services } from "../../context.ts";
import { Failure } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { between, everything, oneOf } from "../../query/filter.ts";
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

/**
 * Removes blobs with pending removals, after cancelling requests that still write to them. While the store of
 * blobs is away, leaves them to `finishRemovals`: the records are gone, so the request has succeeded.
 */
export const removeBlobs = (
  stores: BlobStores,
  projectId: ProjectId,
  blobs: readonly number[],
): Promise<void> => unlessAway(() => removeNow(stores, projectId, blobs));

/** Like `removeBlobs`, for a request that writes to one of the blobs itself. */
export const removeBlobsOfRequest = (
  stores: BlobStores,
  projectId: ProjectId,
  blobs: readonly number[],
): Promise<void> =>
  unlessAway(async () => {
    for (const id of blobs) await stores.blobs.remove({ project: projectId, id });
    await forgetRemovals(stores, projectId, blobs);
  });

/** Does work that may as well be done later, unless the store of blobs is away. */
export async function unlessAway(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (problem) {
    if (!(problem instanceof Failure) || problem.failure !== "file-store-away") throw problem;
  }
}

async function removeNow(stores: BlobStores, projectId: ProjectId, blobs: readonly number[]): Promise<void> {
  if (blobs.length === 0) return;
  for (const id of blobs) await stores.uploads.run(id, () => stores.blobs.remove({ project: projectId, id }));
  await forgetRemovals(stores, projectId, blobs);
}

const forgetRemovals = ({ catalog }: BlobStores, projectId: ProjectId, blobs: readonly number[]) =>
  catalog.write(projectId, (tx) => tx.remove(removalTable, oneOf("id", blobs)));

/** Completes pending removals. */
export async function finishRemovals(stores: BlobStores): Promise<void> {
  for (const projectId of await projectIds(stores)) {
    for (let ids = await hasMore(stores, projectId); ids.length > 0; ids = await hasMore(stores, projectId))
      await removeNow(stores, projectId, ids);
  }
}

async function hasMore({ catalog }: BlobStores, projectId: ProjectId): Promise<number[]> {
  const page = { limit: limits.itemsPerWriteMax };
  const found = await catalog.read(projectId, (tx) =>
    tx.find(removalTable, { filter: everything, order: byId, page }),
  );
  return found.map(({ id }) => id);
}

/**
 * Deletes uploads whose links expired two sweeps ago, except uploads with a request under way. The sweep of
 * the server that has the request sets the expiry to now, so that no other server deletes the upload.
 */
export async function deleteExpiredUploads(stores: BlobStores & Pick<Services, "system">): Promise<void> {
  const nowMs = stores.system.nowMs();
  const filter = between("expiresTime", { to: { value: nowMs, inclusive: true } });
  const page = { limit: limits.itemsPerWriteMax };
  for (const projectId of await projectIds(stores)) {
    const ids = await stores.catalog.write(projectId, async (tx) => {
      const expired = await tx.find(uploadTable, { filter, order: byId, page });
      const [busy, idle] = [true, false].map((is) =>
        expired.filter(({ id }) => stores.uploads.has(id) === is),
      );
      await tx.setColumns(
        uploadTable,
        ["expiresTime"],
        busy!.map(({ id }) => ({ id, expiresTime: nowMs })),
      );
      const untilMs = nowMs - 2 * limits.uploadSweepMs;
      const obsolete = idle!.filter(({ expiresTime }) => expiresTime <= untilMs).map(({ id }) => id);
      await recordRemovals(tx, obsolete);
      return obsolete;
    });
    await removeBlobs(stores, projectId, ids);
  }
}
