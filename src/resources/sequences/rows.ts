// Rows of sequences: written by row number, and read in the order of row numbers.
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { OrderBy, Page, PageQuery } from "../../query/page.ts";
import { readPage } from "../../storage/read-page.ts";
import { type Cell, cellOf, expectedBy, longMax } from "./cells.ts";
import { existingSequences, inPath } from "./records.ts";
import { type Sequence, type SequenceColumn, type StoredRow, sequenceRowTable } from "./schema.ts";

export interface NewSequenceRow {
  /** From 0 to 2^63 - 1. */
  readonly rowNumber: bigint;
  /** `null` leaves the cell empty. */
  readonly values: readonly { readonly columnId: number; readonly value: string | number | null }[];
  /** The field of the row in refusals. */
  readonly field: string;
}

/** A column, by id or external id. */
export interface ColumnQuery {
  readonly id?: number | undefined;
  readonly externalId?: string | undefined;
  /** The field of the column in refusals. */
  readonly field: string;
}

export interface SequenceRowsQuery {
  readonly sequenceId: number;
  /** Bounds of the row numbers, both inclusive. */
  readonly from: bigint;
  readonly to: bigint;
  /** An empty list means all columns. */
  readonly columns: readonly ColumnQuery[];
  readonly page: PageQuery;
}

export interface SequenceRow {
  readonly rowNumber: bigint;
  /** One for each column; undefined if the row has no value. */
  readonly cells: readonly (Cell | undefined)[];
}

export interface SequenceRows {
  readonly columns: readonly SequenceColumn[];
  readonly page: Page<SequenceRow>;
}

const byRowNumber: readonly OrderBy[] = [{ field: "rowNumber", direction: "ascending" }];

const stored = (rowNumber: bigint) => `${rowNumber}`.padStart(`${longMax}`.length, "0");

/**
 * Writes all rows or none. A row replaces an existing one with the same number completely; of several rows
 * with one number, the last one counts. Refuses (404) an unknown sequence, and (400) unknown and repeated
 * columns, values of the wrong type, and more than the limits.
 */
export async function writeRows(
  ctx: RequestContext,
  sequenceId: number,
  rows: readonly NewSequenceRow[],
): Promise<void> {
  const limit = limits.sequenceRowsPerWriteMax;
  if (rows.length > limit) throw fail("too-many", { field: "rows", limit, got: rows.length });
  const permitted = permittedRecords(ctx.caller, "sequencesAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const [sequence] = await existingSequences(tx, permitted, inPath(sequenceId));
    const columns = new Map(sequence!.columns.map((column) => [column.id, column]));
    const records = await mapInSlices(
      rows,
      (row): StoredRow => ({ sequenceId, rowNumber: stored(row.rowNumber), cells: cellsOf(row, columns) }),
    );
    await tx.put(sequenceRowTable, records);
  });
}

function cellsOf(
  { values, field }: NewSequenceRow,
  columns: ReadonlyMap<number, SequenceColumn>,
): Readonly<Record<string, Cell>> {
  const cells: Record<string, Cell> = {};
  const seen = new Set<number>();
  for (const [at, { columnId, value }] of values.entries()) {
    const refused = (member: string, expected: string, got: unknown) =>
      fail("field-invalid", { field: `${field}.values[${at}].${member}`, expected, got: shown(got) });
    const column = columns.get(columnId);
    if (!column) throw refused("columnId", "the id of a column of this sequence", columnId);
    if (seen.has(columnId)) throw refused("columnId", "each column once in a row", columnId);
    seen.add(columnId);
    if (value === null) continue;
    const cell = cellOf(column.valueType, value);
    if (cell === undefined) throw refused("value", expectedBy[column.valueType], value);
    cells[column.slot] = cell;
  }
  const length = JSON.stringify(cells).length;
  const limit = limits.sequenceRowLengthMax;
  if (length > limit) {
    const expected = `values of at most ${limit} characters in all`;
    throw fail("field-invalid", { field: `${field}.values`, expected, got: `${length}` });
  }
  return cells;
}

const shownCharacters = 100;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}...` : text;
}

/**
 * Deletes the rows with these numbers; unknown numbers are ignored. Refuses (404) an unknown sequence.
 */
export async function deleteRows(
  ctx: RequestContext,
  sequenceId: number,
  rowNumbers: readonly bigint[],
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "sequencesAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingSequences(tx, permitted, inPath(sequenceId));
    await tx.remove(sequenceRowTable, ofNumbers(sequenceId, rowNumbers));
  });
}

/** The rows with these numbers, by number. Refuses (404) an unknown sequence. */
export async function rowsNumbered(
  ctx: RequestContext,
  sequenceId: number,
  rowNumbers: readonly bigint[],
): Promise<readonly StoredRow[]> {
  const permitted = permittedRecords(ctx.caller, "sequencesAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    await existingSequences(tx, permitted, inPath(sequenceId));
    const filter = ofNumbers(sequenceId, rowNumbers);
    return tx.find(sequenceRowTable, { filter, order: byRowNumber, page: { limit: rowNumbers.length } });
  });
}

const ofNumbers = (sequenceId: number, rowNumbers: readonly bigint[]) =>
  and(equals("sequenceId", sequenceId), oneOf("rowNumber", rowNumbers.map(stored)));

/** Returns one page of rows, by number. Refuses (404) an unknown sequence, and (400) unknown columns. */
export async function readRows(ctx: RequestContext, query: SequenceRowsQuery): Promise<SequenceRows> {
  const { sequenceId, from, to, page } = query;
  const permitted = permittedRecords(ctx.caller, "sequencesAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const [sequence] = await existingSequences(tx, permitted, inPath(sequenceId));
    const columns = columnsOf(sequence!, query.columns);
    const range = {
      from: { value: stored(from), inclusive: true },
      to: { value: stored(to), inclusive: true },
    };
    const filter = and(equals("sequenceId", sequenceId), between("rowNumber", range));
    const rowQuery = { filter, order: byRowNumber, page };
    const found = to < from ? { items: [] } : await readPage(tx, sequenceRowTable, rowQuery);
    const rowOf = ({ rowNumber, cells }: StoredRow) => ({
      rowNumber: BigInt(rowNumber),
      cells: columns.map(({ slot }) => cells[slot]),
    });
    return { columns, page: { ...found, items: found.items.map(rowOf) } };
  });
}

const otherExternalId = ({ id, externalId }: SequenceColumn, sent: string, field: string) =>
  fail("field-invalid", {
    field: `${field}.externalId`,
    expected: `${externalId === undefined ? "none" : shown(externalId)}, as column ${id} has,`,
    got: shown(sent),
  });

function columnsOf({ columns }: Sequence, requested: readonly ColumnQuery[]): readonly SequenceColumn[] {
  if (requested.length === 0) return columns;
  const found = requested.map(({ id, externalId, field }) => {
    const column = columns.find((one) => (id === undefined ? one.externalId === externalId : one.id === id));
    const isOther = id !== undefined && externalId !== undefined && column?.externalId !== externalId;
    if (column && isOther) throw otherExternalId(column, externalId, field);
    if (column) return column;
    throw fail("field-invalid", {
      field,
      expected: "a column of this sequence",
      got: shown(id ?? externalId),
    });
  });
  return [...new Set(found)];
}
