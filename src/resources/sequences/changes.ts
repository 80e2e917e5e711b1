// Applies updates and restored times to sequences and their columns.
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { limits } from "../../limits.ts";
import type { Filter } from "../../query/filter.ts";
import type { CatalogWriter } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { changeValues } from "../common/changes.ts";
import { type RecordTimes, timedRecords } from "../common/restored-times.ts";
import { type Sequence, type SequenceColumn, sequenceTable } from "./schema.ts";

export type MetadataPairs = Readonly<Record<string, string>>;

/** Replaces the pairs with `set`, then adds pairs, then removes keys. */
export interface PairsChange {
  readonly set?: MetadataPairs | undefined;
  readonly add?: MetadataPairs | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** Values to set; `null` clears a member, an absent member leaves it. */
interface TextChange {
  readonly name?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: PairsChange | undefined;
}

export interface SequenceChange extends TextChange {
  readonly id: number;
  readonly assetId?: number | null | undefined;
  readonly dataSetId?: number | null | undefined;
}

/** The type and the position of a column never change. */
export interface ColumnChange extends TextChange {
  readonly id: number;
}

export type NewColumn = Omit<SequenceColumn, "id" | "slot" | "createdTime" | "lastUpdatedTime">;

interface Changeable {
  readonly metadata: MetadataPairs;
  readonly lastUpdatedTime: number;
}

/** Applies the change. Returns the same object if nothing changes. */
export function changeRecord<Row extends Changeable>(
  row: Row,
  { metadata, ...change }: TextChange,
  nowMs: number,
): Row {
  const pairs = metadata && changePairs(row.metadata, metadata);
  return changeValues(row, { ...change, metadata: pairs }, nowMs);
}

function changePairs(existing: MetadataPairs, { set, add, remove }: PairsChange): MetadataPairs {
  const removed = new Set(remove);
  const pairs = new Map([...Object.entries(set ?? existing), ...Object.entries(add ?? {})]);
  const left = [...pairs].filter(([key]) => !removed.has(key));
  const limit = limits.metadataPairsMax;
  if (left.length > limit) throw fail("too-many", { field: "metadata", limit, got: left.length });
  const length = left.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (length > limits.metadataLengthMax) throw tooLong("metadata", limits.metadataLengthMax, length);
  return Object.fromEntries(left);
}

interface CreationContext {
  readonly nextId: () => number;
  readonly nowMs: number;
}

/** Appends columns to the sequence. Refuses (400) too many columns, and repeated external ids. */
export function withColumns(
  sequence: Sequence,
  added: readonly NewColumn[],
  birth: CreationContext,
): Sequence {
  const { nextId, nowMs } = birth;
  const columns = added.map((column, at) => ({
    ...column,
    id: nextId(),
    slot: sequence.slotsUsed + at,
    createdTime: nowMs,
    lastUpdatedTime: nowMs,
  }));
  return checked({
    ...sequence,
    columns: [...sequence.columns, ...columns],
    slotsUsed: sequence.slotsUsed + columns.length,
    lastUpdatedTime: nowMs,
  });
}

/** Changes columns of the sequence. Refuses (400) unknown and repeated columns. */
export function withColumnsChanged(
  sequence: Sequence,
  changes: readonly ColumnChange[],
  nowMs: number,
): Sequence {
  refuseUnknown(
    sequence,
    changes.map(({ id }) => id),
  );
  const byId = new Map(changes.map((change) => [change.id, change]));
  const columns = sequence.columns.map((column) => {
    const change = byId.get(column.id);
    return change ? changeRecord(column, change, nowMs) : column;
  });
  if (columns.every((column, at) => column === sequence.columns[at])) return sequence;
  return checked({ ...sequence, columns, lastUpdatedTime: nowMs });
}

/**
 * Removes columns from the sequence. Refuses (400) unknown and repeated columns, and to remove all of them.
 */
export function withoutColumns(sequence: Sequence, ids: readonly number[], nowMs: number): Sequence {
  refuseUnknown(sequence, ids);
  const columns = sequence.columns.filter(({ id }) => !ids.includes(id));
  if (columns.length === 0) {
    const expected = "fewer columns, as a sequence keeps at least one,";
    throw fail("field-invalid", { field: "items", expected, got: "all of them" });
  }
  return { ...sequence, columns, lastUpdatedTime: nowMs };
}

function refuseUnknown({ columns }: Sequence, ids: readonly number[]): void {
  const repeated = duplicatesIn(ids);
  if (repeated.length > 0) throw fail("ids-repeated", { field: "items", ids: repeated });
  const existing = new Set(columns.map(({ id }) => id));
  const unknown = ids.filter((id) => !existing.has(id));
  if (unknown.length > 0) throw fail("ids-unknown", { field: "items", ids: unknown });
}

function checked(sequence: Sequence): Sequence {
  const { columns } = sequence;
  const limit = limits.sequenceColumnsMax;
  if (columns.length > limit) throw fail("too-many", { field: "columns", limit, got: columns.length });
  const { length } = JSON.stringify(columns);
  const lengthMax = limits.sequenceColumnsLengthMax;
  if (length > lengthMax) throw tooLong("columns", lengthMax, length);
  // A column without an externalId has its id as the name in OData.
  const [repeated] = duplicatesIn(columns.map(({ id, externalId }) => externalId ?? `${id}`));
  if (repeated === undefined) return sequence;
  const expected = "an externalId that no other column has as its externalId or id";
  throw fail("field-invalid", { field: "columns", expected, got: JSON.stringify(repeated) });
}

const tooLong = (field: string, most: number, length: number) =>
  fail("field-invalid", { field, expected: `at most ${most} characters in all`, got: `${length}` });

export const timedSequences = timedRecords(sequenceTable, {
  acl: "sequencesAcl",
  restoreMore: restoreColumnTimes,
});

async function restoreColumnTimes(
  tx: CatalogWriter,
  permitted: Filter,
  times: readonly RecordTimes[],
): Promise<void> {
  const named = { ids: times.map(({ id }) => id), field: "items" };
  const sequences = await existingRecords(tx, sequenceTable, permitted, named);
  const changed = sequences.map(({ id, columns }, at) => ({
    id,
    columns: columnsWith(columns, times[at]?.columns ?? [], at),
  }));
  await tx.setColumns(sequenceTable, ["columns"], changed);
}

function columnsWith(
  columns: readonly SequenceColumn[],
  times: NonNullable<RecordTimes["columns"]>,
  item: number,
): SequenceColumn[] {
  const byId = new Map(times.map((one) => [one.id, one]));
  const unknown = times.findIndex(({ id }) => !columns.some((column) => column.id === id));
  if (unknown >= 0)
    throw fail("field-invalid", {
      field: `items[${item}].columns[${unknown}].id`,
      expected: "the id of a column of this sequence",
      got: `${times[unknown]!.id}`,
    });
  return columns.map((column) => ({ ...column, ...byId.get(column.id) }));
}
