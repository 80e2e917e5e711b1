// Sequences: tables of numbered rows with typed columns, such as the curve of a pump.

import { permittedRecords } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { refuseNotPermitted } from "../../access/refuse-not-permitted.ts";
import type { RequestContext } from "../../context.ts";
import { and, type Filter, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { TextSearch } from "../../query/text-search.ts";
import type { IdsNamed } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { insertPendingDeletions } from "../../storage/row-deletions.ts";
import { searchByText } from "../../storage/search-by-text.ts";
import { limitToVisibleSubtrees, refuseUnknownAssets, singleLinks } from "../assets/assets.ts";
import { type RecordName, recordsByName, refuseTakenExternalIds } from "../common/external-ids.ts";
import {
  type ColumnChange,
  changeRecord,
  type NewColumn,
  type SequenceChange,
  withColumns,
  withColumnsChanged,
  withoutColumns,
} from "./changes.ts";
import { existingSequences, inPath, sequenceType } from "./records.ts";
import { ownedSequenceRows, type Sequence, sequenceTable } from "./schema.ts";

export type { ColumnChange, NewColumn, SequenceChange } from "./changes.ts";
export type { Sequence, SequenceColumn } from "./schema.ts";

export type NewSequence = Omit<
  Sequence,
  "id" | "columns" | "slotsUsed" | "createdTime" | "lastUpdatedTime"
> & {
  readonly columns: readonly NewColumn[];
};

const permittedFor = (ctx: RequestContext, action: Action) =>
  permittedRecords(ctx.caller, "sequencesAcl", action);

/**
 * Creates all sequences or none, and returns them in the same order. Refuses external ids in use (409),
 * unknown assets, too many columns, and columns with the same external id (400).
 */
export async function createSequences(
  ctx: RequestContext,
  items: readonly NewSequence[],
): Promise<Sequence[]> {
  const permitted = permittedFor(ctx, "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const nowMs = ctx.system.nowMs();
    const nextId = () => ctx.ids.next();
    const rows = await mapInSlices(items, ({ columns, ...item }) => {
      const empty = { id: nextId(), columns: [], slotsUsed: 0, createdTime: nowMs, lastUpdatedTime: nowMs };
      return withColumns({ ...item, ...empty }, columns, { nextId, nowMs });
    });
    const links = singleLinks(rows.map((row) => row.assetId));
    await refuseUnknownAssets(ctx, tx, "sequencesAcl", links);
    await refuseTakenExternalIds(tx, sequenceType, rows);
    await tx.insert(sequenceTable, rows);
    await refuseNotPermitted(tx, sequenceTable, permitted, { acl: "sequencesAcl", rows });
    return rows;
  });
}

/** Returns one page of the sequences that the caller may see, by id. */
export async function listSequences(
  ctx: RequestContext,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuery },
): Promise<Page<Sequence>> {
  const permitted = permittedFor(ctx, "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const visible = and(permitted, await limitToVisibleSubtrees(ctx, tx, "sequencesAcl", filter));
    return readPage(tx, sequenceTable, { filter: visible, order: byId, page });
  });
}

/** Counts the matching sequences that the caller may see. */
export async function countSequences(ctx: RequestContext, filter: Filter): Promise<number> {
  const permitted = permittedFor(ctx, "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) =>
    tx.count(sequenceTable, and(permitted, await limitToVisibleSubtrees(ctx, tx, "sequencesAcl", filter))),
  );
}

/** Refuses (404) an unknown sequence. */
export async function getSequence(ctx: RequestContext, id: number): Promise<Sequence> {
  const permitted = permittedFor(ctx, "READ");
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) => existingSequences(tx, permitted, inPath(id)));
  return found!;
}

/** Reads sequences in the order of the names, in batches. Refuses (400) unknown and repeated names. */
export const getSequences = (ctx: RequestContext, names: readonly RecordName[]) =>
  recordsByName(
    ctx,
    { ...sequenceType, permitted: permittedFor(ctx, "READ") },
    names,
    async (_tx, rows) => rows,
  );

/** Best matches first. */
export async function searchSequences(ctx: RequestContext, query: TextSearch): Promise<Sequence[]> {
  const permitted = permittedFor(ctx, "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const filter = and(permitted, await limitToVisibleSubtrees(ctx, tx, "sequencesAcl", query.filter));
    return searchByText(tx, sequenceTable, { ...query, filter });
  });
}

/**
 * Changes all sequences or none, and returns them in the same order. Refuses (400) unknown and repeated ids
 * and unknown assets, and (409) external ids in use, even by a sequence that changes in the same request.
 */
export async function updateSequences(
  ctx: RequestContext,
  changes: readonly SequenceChange[],
): Promise<Sequence[]> {
  return update(ctx, { ids: changes.map(({ id }) => id), field: "items" }, (row, at, nowMs) =>
    changeRecord(row, changes[at]!, nowMs),
  );
}

/** Like `updateSequences` for a single sequence. Refuses (404) an unknown one. */
export async function updateSequence(ctx: RequestContext, change: SequenceChange): Promise<Sequence> {
  return updateOne(ctx, change.id, (row, nowMs) => changeRecord(row, change, nowMs));
}

/** Appends columns; existing rows have no values in them. Refuses like `createSequences`. */
export async function addColumns(
  ctx: RequestContext,
  id: number,
  columns: readonly NewColumn[],
): Promise<Sequence> {
  const nextId = () => ctx.ids.next();
  return updateOne(ctx, id, (row, nowMs) => withColumns(row, columns, { nextId, nowMs }));
}

/** Refuses (400) unknown and repeated columns, and columns with the same external id. */
export async function updateColumns(
  ctx: RequestContext,
  id: number,
  changes: readonly ColumnChange[],
): Promise<Sequence> {
  return updateOne(ctx, id, (row, nowMs) => withColumnsChanged(row, changes, nowMs));
}

/**
 * Removes columns. Refuses (400) unknown and repeated columns, and to remove all of them. Their values can
 * no longer be read, not even through a new column; they are deleted from disk when their row is written
 * again.
 */
export async function deleteColumns(
  ctx: RequestContext,
  id: number,
  columnIds: readonly number[],
): Promise<Sequence> {
  return updateOne(ctx, id, (row, nowMs) => withoutColumns(row, columnIds, nowMs));
}

async function updateOne(
  ctx: RequestContext,
  id: number,
  change: (row: Sequence, nowMs: number) => Sequence,
): Promise<Sequence> {
  const [changed] = await update(ctx, inPath(id), (row, _, nowMs) => change(row, nowMs));
  return changed!;
}

async function update(
  ctx: RequestContext,
  named: IdsNamed,
  change: (row: Sequence, index: number, nowMs: number) => Sequence,
): Promise<Sequence[]> {
  const permitted = permittedFor(ctx, "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const before = await existingSequences(tx, permitted, named);
    const after = await mapInSlices(before, (row, index) => change(row, index, ctx.system.nowMs()));
    const changed = after.filter((row, index) => row !== before[index]);
    const placeOf = (index: number) => (named.field === "items" ? `items[${index}].` : "");
    const newAssets = after.map(({ assetId }, index) =>
      assetId === before[index]!.assetId ? undefined : assetId,
    );
    await refuseUnknownAssets(ctx, tx, "sequencesAcl", singleLinks(newAssets, placeOf));
    await refuseTakenExternalIds(tx, sequenceType, changed);
    await tx.replace(sequenceTable, changed);
    await refuseNotPermitted(tx, sequenceTable, permitted, { acl: "sequencesAcl", rows: changed });
    return after;
  });
}

/** Deletes all sequences with their rows, or none. Refuses (400) unknown and repeated ids. */
export async function deleteSequences(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  return remove(ctx, { ids, field: "items" });
}

/** Like `deleteSequences` for a single sequence. Refuses (404) an unknown one. */
export async function deleteSequence(ctx: RequestContext, id: number): Promise<void> {
  return remove(ctx, inPath(id));
}

async function remove(ctx: RequestContext, named: IdsNamed): Promise<void> {
  const permitted = permittedFor(ctx, "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingSequences(tx, permitted, named);
    await tx.remove(sequenceTable, oneOf("id", named.ids));
    await insertPendingDeletions(tx, ownedSequenceRows, named.ids);
  });
  ctx.rowDeletions.start(ctx.projectId);
}
