// Takes the rows of deleted tables away, a piece at a time, also when a crash comes in between.
//
// The record of a table goes in one transaction with a note that its rows have to go too. Nobody can reach
// those rows any more, because ids are never used again; so they may go in pieces between which other writes
// have their turn (a million rows at once would hold them up for seconds). What a crash leaves is finished
// after the next start.
import type { Services } from "../../context.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, everything, oneOf } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { ProjectId, Writer } from "../../storage/catalog.ts";
import { projectIds } from "../projects/projects.ts";
import { byKey } from "./places.ts";
import { rawErasureTable, rawRowTable, rawTableTable } from "./schema.ts";

type Stores = Pick<Services, "catalog">;

/** Takes the tables' records away and notes that their rows have to follow. */
export async function removeTables(tx: Writer, tableIds: readonly number[]): Promise<void> {
  await tx.remove(rawTableTable, oneOf("id", tableIds));
  await tx.insert(
    rawErasureTable,
    tableIds.map((id) => ({ id })),
  );
}

/** Takes away the rows of tables whose records are gone, until all are or `signal` is aborted. */
export async function eraseRows(
  { catalog }: Stores,
  project: ProjectId,
  tableIds: readonly number[],
  signal?: AbortSignal,
): Promise<void> {
  for (const tableId of tableIds) {
    let isDone = false;
    while (!isDone && !signal?.aborted)
      isDone = await catalog.write(project, (tx) => erasePiece(tx, tableId));
  }
}

/** Whether these were the last rows. */
async function erasePiece(tx: Writer, tableId: number): Promise<boolean> {
  const ofTable = equals("tableId", tableId);
  const offset = limits.rawRowsErasedAtOnce - 1;
  const [last] = await tx.search(rawRowTable, { filter: ofTable, rank: [], order: byKey, limit: 1, offset });
  const piece = last && between("key", { to: { value: last.key, inclusive: true } });
  await tx.remove(rawRowTable, and(ofTable, piece));
  if (!last) await tx.remove(rawErasureTable, equals("id", tableId));
  return !last;
}

/** Finishes, while requests are served already, the deletes that a crash interrupted. */
export async function finishRawErasures(stores: Stores, signal: AbortSignal): Promise<void> {
  for (const project of await projectIds(stores)) {
    const left = await stores.catalog.read(project, (tx) =>
      tx.find(rawErasureTable, { filter: everything, order: byId, page: { limit: limits.listItemsMax } }),
    );
    const tableIds = left.map(({ id }) => id);
    await eraseRows(stores, project, tableIds, signal);
  }
}
