// What restoring an archive asks of a project beyond creating records: the times that they had.
import { requireCapability, scopeOf } from "../../access/caller.ts";
import type { Acl } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { existingRecords } from "../../query/existing.ts";
import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter, Stored, Table } from "../../storage/catalog.ts";
import { assetTable } from "../assets/schema.ts";
import { eventTable } from "../events/schema.ts";
import { fileTable } from "../files/schema.ts";
import { type NewRawRow, putRows } from "../raw/rows.ts";
import type { TableName } from "../raw/tables.ts";
import { relationshipTable } from "../relationships/schema.ts";
import { type SequenceColumn, sequenceTable } from "../sequences/schema.ts";
import { timeSeriesTable } from "../timeseries/schema.ts";
import { seriesScope } from "../timeseries/timeseries.ts";

interface TimedRecord extends Stored {
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** The records that carry times: their tables, and who may write them. */
const timedTables = {
  assets: { acl: "assetsAcl", table: assetTable },
  timeseries: { acl: "timeSeriesAcl", table: timeSeriesTable },
  events: { acl: "eventsAcl", table: eventTable },
  files: { acl: "filesAcl", table: fileTable },
  sequences: { acl: "sequencesAcl", table: sequenceTable },
  relationships: { acl: "relationshipsAcl", table: relationshipTable },
} as const satisfies Readonly<Record<string, { readonly acl: Acl; readonly table: unknown }>>;

export const timedResources = Object.keys(timedTables) as (keyof typeof timedTables)[];
export type TimedResource = keyof typeof timedTables;

/** Milliseconds since 1970. */
export interface RecordTimes {
  readonly id: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
  /** Of files alone: when their bytes had come. */
  readonly uploadedTime?: number | undefined;
  /** Of sequences alone: the times of their columns. */
  readonly columns?: readonly Omit<RecordTimes, "columns" | "uploadedTime">[] | undefined;
}

/**
 * Gives records the times that they had before they were restored, all of them or none. It is for those who
 * may change the project; refuses (400) unknown and repeated ids.
 */
export async function restoreTimes(
  ctx: RequestContext,
  resource: TimedResource,
  times: readonly RecordTimes[],
): Promise<void> {
  requireCapability(ctx.caller, "projectsAcl", "UPDATE");
  const { acl, table } = timedTables[resource];
  const scope = resource === "timeseries" ? seriesScope(ctx, "WRITE") : scopeOf(ctx.caller, acl, "WRITE");
  const named = { ids: times.map(({ id }) => id), field: "items" };
  await ctx.catalog.write(ctx.project, async (tx) => {
    const any: Table<TimedRecord> = table as unknown as Table<TimedRecord>;
    await existingRecords(tx, any, scope, named);
    await tx.setColumns(any, ["createdTime", "lastUpdatedTime"], times);
    if (resource === "files") await setUploaded(tx, times);
    if (resource === "sequences") await setColumnTimes(tx, scope, times);
  });
}

/** Writes raw rows with the times that they have, as `putRows` does; for those who may change the project. */
export async function restoreRawRows(
  ctx: RequestContext,
  table: TableName,
  rows: readonly NewRawRow[],
): Promise<void> {
  requireCapability(ctx.caller, "projectsAcl", "UPDATE");
  await putRows(ctx, table, { rows, ensureParent: true });
}

async function setUploaded(tx: CatalogWriter, times: readonly RecordTimes[]): Promise<void> {
  const uploaded = times.flatMap(({ id, uploadedTime }) =>
    uploadedTime === undefined ? [] : [{ id, uploadedTime }],
  );
  await tx.setColumns(fileTable, ["uploadedTime"], uploaded);
}

async function setColumnTimes(
  tx: CatalogWriter,
  scope: Filter,
  times: readonly RecordTimes[],
): Promise<void> {
  const named = { ids: times.map(({ id }) => id), field: "items" };
  const sequences = await existingRecords(tx, sequenceTable, scope, named);
  const changed = sequences.map(({ id, columns }, at) => ({
    id,
    columns: columnsWithTimes(columns, times[at]?.columns ?? [], at),
  }));
  await tx.setColumns(sequenceTable, ["columns"], changed);
}

function columnsWithTimes(
  columns: readonly SequenceColumn[],
  times: NonNullable<RecordTimes["columns"]>,
  item: number,
): SequenceColumn[] {
  const byId = new Map(times.map((one) => [one.id, one]));
  const stranger = times.findIndex(({ id }) => !columns.some((column) => column.id === id));
  if (stranger >= 0)
    throw fail("field-invalid", {
      field: `items[${item}].columns[${stranger}].id`,
      expected: "the id of a column of this sequence",
      got: `${times[stranger]!.id}`,
    });
  return columns.map((column) => ({ ...column, ...byId.get(column.id) }));
}
