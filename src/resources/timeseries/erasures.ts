// Takes the datapoints of deleted series away, also when a crash comes in between.
//
// The record of a series goes in one catalog transaction with a note that its datapoints have to go too. The
// note is taken back when they are gone; what a crash leaves is finished at the next start. Until then nobody
// can reach those datapoints, because ids are never used again.
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import type { SeriesId } from "../../storage/points.ts";
import { projectIds } from "../projects/projects.ts";
import { erasureTable, timeSeriesTable } from "./schema.ts";

type Stores = Pick<Services, "catalog" | "points">;

/** Takes the records away and notes what has to follow. */
export async function removeRecords(tx: CatalogWriter, ids: readonly SeriesId[]): Promise<void> {
  await tx.remove(timeSeriesTable, oneOf("id", ids));
  await tx.insert(
    erasureTable,
    ids.map((id) => ({ id })),
  );
}

/** Takes away the datapoints of series whose records are gone. */
export async function erase(stores: Stores, project: ProjectId, series: readonly SeriesId[]): Promise<void> {
  for (let at = 0; at < series.length; at += limits.erasuresAtOnce) {
    const ids = series.slice(at, at + limits.erasuresAtOnce);
    await Promise.all(ids.map((id) => stores.points.delete(id)));
    await stores.catalog.write(project, (tx) => tx.remove(erasureTable, oneOf("id", ids)));
  }
}

/** Finishes, before requests are served, the deletes that a crash interrupted. */
export async function finishErasures(stores: Stores): Promise<void> {
  for (const project of await projectIds(stores)) {
    for (let ids = await someLeft(stores, project); ids.length > 0; ids = await someLeft(stores, project))
      await erase(stores, project, ids);
  }
}

async function someLeft({ catalog }: Stores, project: ProjectId): Promise<SeriesId[]> {
  const found = await catalog.read(project, (tx) =>
    tx.find(erasureTable, {
      filter: everything,
      order: byId,
      page: { limit: limits.erasuresAtOnce },
    }),
  );
  return found.map(({ id }) => id);
}
