// Deletes the datapoints of deleted series, also after a crash.
//
// One catalog transaction deletes the record of a series and inserts a pending deletion. The datapoints
// follow, then the pending deletion is removed. The next start finishes a deletion that a crash interrupts.
// In the meantime no request can read those datapoints, because ids are never used again.
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import type { SeriesId } from "../../storage/points.ts";
import { projectIds } from "../projects/projects.ts";
import { pendingDeletionTable, timeSeriesTable } from "./schema.ts";

type Stores = Pick<Services, "catalog" | "points">;

/** Deletes the records, and inserts a pending deletion for each. */
export async function removeRecords(tx: CatalogWriter, ids: readonly SeriesId[]): Promise<void> {
  await tx.remove(timeSeriesTable, oneOf("id", ids));
  await tx.insert(
    pendingDeletionTable,
    ids.map((id) => ({ id })),
  );
}

/** Deletes the datapoints of series whose records are deleted. */
export async function deleteDatapoints(
  stores: Stores,
  projectId: ProjectId,
  series: readonly SeriesId[],
): Promise<void> {
  for (let at = 0; at < series.length; at += limits.seriesDeletionsAtOnce) {
    const ids = series.slice(at, at + limits.seriesDeletionsAtOnce);
    await Promise.all(ids.map((id) => stores.points.delete(id)));
    await stores.catalog.write(projectId, (tx) => tx.remove(pendingDeletionTable, oneOf("id", ids)));
  }
}

/** Finishes the deletions that a crash interrupted. Runs before requests are served. */
export async function finishDeletions(stores: Stores): Promise<void> {
  for (const projectId of await projectIds(stores)) {
    for (let ids = await someLeft(stores, projectId); ids.length > 0; ids = await someLeft(stores, projectId))
      await deleteDatapoints(stores, projectId, ids);
  }
}

async function someLeft({ catalog }: Stores, projectId: ProjectId): Promise<SeriesId[]> {
  const found = await catalog.read(projectId, (tx) =>
    tx.find(pendingDeletionTable, {
      filter: everything,
      order: byId,
      page: { limit: limits.seriesDeletionsAtOnce },
    }),
  );
  return found.map(({ id }) => id);
}
