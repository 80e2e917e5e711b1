// Restores data of archives that no other route can write: times of records, and raw rows with their times.
import { requireCapability } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import type { RecordTimes, TimedRecords } from "../common/restored-times.ts";
import { type NewRawRow, putRows } from "../raw/rows.ts";
import type { TableName } from "../raw/tables.ts";

/**
 * Sets the times of restored records, all or none. Requires the right to change the project. Refuses (400)
 * unknown and repeated ids.
 */
export async function restoreTimes(
  ctx: RequestContext,
  { table, permitted: filterOf, restoreMore }: TimedRecords,
  times: readonly RecordTimes[],
): Promise<void> {
  requireCapability(ctx.caller, "projectsAcl", "UPDATE");
  const permitted = filterOf(ctx, "WRITE");
  const named = { ids: times.map(({ id }) => id), field: "items" };
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingRecords(tx, table, permitted, named);
    await tx.setColumns(table, ["createdTime", "lastUpdatedTime"], times);
    await restoreMore?.(tx, permitted, times);
  });
}

/**
 * Writes raw rows like `putRows`, with the times of the archive. Requires the right to change the project.
 */
export async function restoreRawRows(
  ctx: RequestContext,
  table: TableName,
  rows: readonly NewRawRow[],
): Promise<void> {
  requireCapability(ctx.caller, "projectsAcl", "UPDATE");
  await putRows(ctx, table, { rows, ensureParent: true });
}
