// The rows of raw tables: put by key, read by key or in pages, their columns always the text that was sent.
import { scopeOf } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, oneOf } from "../../query/filter.ts";
import type { Page, PageQuestion } from "../../query/page.ts";
import { readPage } from "../../query/read-page.ts";
import type { Reader, Writer } from "../../storage/catalog.ts";
import { byKey, ensureDatabases, ensureTables, existingTable, type TableName } from "./places.ts";
import { type RowRecord, rawRowTable } from "./schema.ts";

export interface NewRow {
  readonly key: string;
  /** The JSON text of an object. */
  readonly columns: string;
  /** Milliseconds since 1970; now when absent. */
  readonly lastUpdatedTime?: number;
}

export type RawRow = Required<NewRow>;

/**
 * Writes all of these rows or none; a row whose key exists is replaced, of several with one key the last one
 * stays. Refuses (404) an unknown database or table unless `ensureParent`, which makes both.
 */
export async function putRows(
  ctx: RequestContext,
  name: TableName,
  { rows, ensureParent }: { readonly rows: readonly NewRow[]; readonly ensureParent: boolean },
): Promise<void> {
  const scope = scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, async (tx) => {
    const table = ensureParent ? await ensureTable(ctx, tx, name) : await existingTable(tx, scope, name);
    const nowMs = ctx.world.nowMs();
    const records = rows.map((row): RowRecord => ({ lastUpdatedTime: nowMs, ...row, tableId: table.id }));
    await tx.put(rawRowTable, records);
  });
}

async function ensureTable(ctx: RequestContext, tx: Writer, { database, table }: TableName) {
  const [parent] = await ensureDatabases(ctx, tx, [database]);
  const [found] = await ensureTables(ctx, tx, { databaseId: parent!.id, names: [table] });
  return found!;
}

/** Deletes the rows with these keys, as far as they exist; refuses (404) an unknown database or table. */
export async function deleteRows(
  ctx: RequestContext,
  name: TableName,
  keys: readonly string[],
): Promise<void> {
  const scope = scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, async (tx) => {
    const { id } = await existingTable(tx, scope, name);
    await tx.remove(rawRowTable, and(equals("tableId", id), oneOf("key", keys)));
  });
}

/** Refuses (404) an unknown row, table or database. */
export async function getRow(ctx: RequestContext, name: TableName, key: string): Promise<RawRow> {
  const scope = scopeOf(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.project, async (tx) => {
    const { id } = await existingTable(tx, scope, name);
    const filter = and(equals("tableId", id), equals("key", key));
    const [row] = await tx.find(rawRowTable, { filter, order: byKey, page: { limit: 1 } });
    if (!row) throw fail("raw-row-unknown", { key });
    return row;
  });
}

/**
 * One page of a table's rows, by key (code points); refuses (404) an unknown database or table. The page ends
 * early, with a position to go on from, when its columns are longer than an answer should be.
 */
export async function listRows(
  ctx: RequestContext,
  name: TableName,
  { filter, page }: { readonly filter: Filter; readonly page: PageQuestion },
): Promise<Page<RawRow>> {
  const scope = scopeOf(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.project, async (tx) => {
    const { id } = await existingTable(tx, scope, name);
    return boundedPage(tx, and(equals("tableId", id), filter), page);
  });
}

/** How many rows of a table meet the filter; refuses (404) an unknown database or table. */
export async function countRows(ctx: RequestContext, name: TableName, filter: Filter): Promise<number> {
  const scope = scopeOf(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.project, async (tx) => {
    const { id } = await existingTable(tx, scope, name);
    return tx.count(rawRowTable, and(equals("tableId", id), filter));
  });
}

/** Reads the page in pieces, nearest first, so that not all of a page of long rows is in memory at once. */
async function boundedPage(tx: Reader, filter: Filter, page: PageQuestion): Promise<Page<RowRecord>> {
  const isBackwards = page.before !== undefined;
  const read = (limit: number, position: PageQuestion) =>
    readPage(tx, rawRowTable, { filter, order: byKey, page: { ...position, limit } });
  let whole = await read(Math.min(page.limit, rowsAtFirst), page);
  let length = lengthOf(whole);
  for (;;) {
    const left = page.limit - whole.items.length;
    const further = isBackwards ? whole.previous : whole.next;
    if (!further || left === 0 || length >= limits.rawPageLengthMax) return whole;
    const { after: _, before: __, ...rest } = page;
    const position = isBackwards ? { ...rest, before: further } : { ...rest, after: further };
    const piece = await read(Math.min(left, rowsNext(whole.items.length, length)), position);
    length += lengthOf(piece);
    whole = isBackwards ? joined(piece, whole) : joined(whole, piece);
  }
}

/** Few enough to be held however long they are: as many of the longest as fill a page. */
const rowsAtFirst = Math.ceil(limits.rawPageLengthMax / limits.rawColumnsLengthMax);

/** Enough to cost no time. */
const rowsAtOnceMax = 256;

/** Twice as many as so far, as far as they fit into the page if they are as long as those were. */
function rowsNext(rowsHeld: number, length: number): number {
  const fitting = Math.ceil(((limits.rawPageLengthMax - length) * rowsHeld) / length);
  return Math.min(rowsHeld, fitting, rowsAtOnceMax);
}

const lengthOf = ({ items }: Page<RowRecord>): number =>
  items.reduce((sum, { key, columns }) => sum + key.length + columns.length, 0);

const joined = (first: Page<RowRecord>, second: Page<RowRecord>): Page<RowRecord> => ({
  items: [...first.items, ...second.items],
  ...(second.next && { next: second.next }),
  ...(first.previous && { previous: first.previous }),
});
