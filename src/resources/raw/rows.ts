// Rows of raw tables: written and read by key or in pages, with columns always as the JSON that was sent.
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { and, between, equals, type Filter, oneOf } from "../../query/filter.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { type RowRecord, rawCommitTable, rawRowTable } from "./schema.ts";
import { byCommit, byKey, ensureDatabases, ensureTables, existingTable, type TableName } from "./tables.ts";

export interface NewRawRow {
  readonly key: string;
  /** A JSON object as a string. */
  readonly columns: string;
  /** In milliseconds since 1970; default: now. */
  readonly lastUpdatedTime?: number;
}

export interface RawRow extends Required<NewRawRow> {
  readonly commitNumber?: number;
}

/**
 * Writes all rows or none. Rows replace existing ones with the same key; of several rows with one key, the
 * last one counts. Refuses (404) an unknown database or table unless `ensureParent`, which creates both.
 */
export async function putRows(
  ctx: RequestContext,
  name: TableName,
  { rows, ensureParent }: { readonly rows: readonly NewRawRow[]; readonly ensureParent: boolean },
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const table = ensureParent ? await ensureTable(ctx, tx, name) : await existingTable(tx, permitted, name);
    await putRecords(ctx, tx, table.id, rows);
  });
}

/** Writes one row. Refuses (404) an unknown database or table, and (409) a key that exists. */
export async function createRow(ctx: RequestContext, name: TableName, row: NewRawRow): Promise<RawRow> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    const existing = await tx.count(rawRowTable, and(equals("tableId", id), equals("key", row.key)), "key");
    if (existing > 0) throw fail("entity-exists", { what: `row ${row.key} in ${name.table}` });
    const [record] = await putRecords(ctx, tx, id, [row]);
    return record!;
  });
}

async function putRecords(
  ctx: RequestContext,
  tx: CatalogWriter,
  tableId: number,
  rows: readonly NewRawRow[],
): Promise<RowRecord[]> {
  if (rows.length === 0) return [];
  const nowMs = ctx.system.nowMs();
  const commitNumber = await nextCommit(tx);
  const records = rows.map((row): RowRecord => ({ lastUpdatedTime: nowMs, ...row, tableId, commitNumber }));
  await tx.put(rawRowTable, records);
  return records;
}

async function nextCommit(tx: CatalogWriter): Promise<number> {
  const commitNumber = (await commitIn(tx)) + 1;
  await tx.put(rawCommitTable, [{ name: lastCommitName, commitNumber }]);
  return commitNumber;
}

const lastCommitName = "last";

async function commitIn(tx: CatalogReader): Promise<number> {
  const filter = equals("name", lastCommitName);
  const order = [{ field: "name", direction: "ascending" }] as const;
  const [last] = await tx.find(rawCommitTable, { filter, order, page: { limit: 1 } });
  return last?.commitNumber ?? 0;
}

/** The number of the last write of raw rows in the project; 0 if there was none. */
export async function lastRawCommit(ctx: RequestContext): Promise<number> {
  permittedRecords(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.projectId, (tx) => commitIn(tx));
}

async function ensureTable(ctx: RequestContext, tx: CatalogWriter, { database, table }: TableName) {
  const [parent] = await ensureDatabases(ctx, tx, [database], () => "database");
  const tables = [{ name: table }];
  const [found] = await ensureTables(ctx, tx, { databaseId: parent!.id, tables }, () => "table");
  return found!;
}

/**
 * Deletes the rows with these keys; unknown keys are ignored. Refuses (404) an unknown database or table.
 */
export async function deleteRows(
  ctx: RequestContext,
  name: TableName,
  keys: readonly string[],
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    await tx.remove(rawRowTable, and(equals("tableId", id), oneOf("key", keys)));
  });
}

/** Refuses (404) an unknown row, table or database. */
export async function getRow(ctx: RequestContext, name: TableName, key: string): Promise<RawRow> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    const filter = and(equals("tableId", id), equals("key", key));
    const [row] = await tx.find(rawRowTable, { filter, order: byKey, page: { limit: 1 } });
    if (!row) throw fail("raw-row-unknown", { key });
    return row;
  });
}

interface RowsQuery {
  readonly filter: Filter;
  /** Not together with a position of the page. */
  readonly startKey?: string | undefined;
  /** Whether the page leads to the page before `startKey`. */
  readonly hasPrevious?: boolean;
  readonly page: PageQuery;
}

/**
 * Returns one page of a table's rows, by key (code points). With `startKey` it starts at the first row with
 * this key or a later one. With `hasPrevious` the rows before are on the page before, which may be empty if
 * there is a filter. Refuses (404) an unknown database or table.
 */
export async function listRows(
  ctx: RequestContext,
  name: TableName,
  { filter, startKey, hasPrevious = false, page }: RowsQuery,
): Promise<Page<RawRow>> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    const fromKey =
      startKey === undefined ? [] : [between("key", { from: { value: startKey, inclusive: true } })];
    const all = and(equals("tableId", id), filter, ...fromKey);
    const found = await readPage(tx, rawRowTable, { filter: all, order: byKey, page });
    if (startKey === undefined || !hasPrevious) return found;
    // Without the filter: if no row before matches it, the query would read all of them.
    const before = and(equals("tableId", id), between("key", { to: { value: startKey, inclusive: false } }));
    const isFirst =
      (await tx.find(rawRowTable, { filter: before, order: byKey, page: { limit: 1 } })).length === 0;
    return isFirst ? found : { ...found, previous: [startKey] };
  });
}

/**
 * Returns one page of the rows that were written after a commit, in the order of commits. Refuses (404) an
 * unknown database or table.
 */
export async function listChangedRows(
  ctx: RequestContext,
  name: TableName,
  { afterCommit, page }: { readonly afterCommit: number; readonly page: PageQuery },
): Promise<Page<RawRow>> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    const later = between("commitNumber", { from: { value: afterCommit, inclusive: false } });
    const filter = and(equals("tableId", id), later);
    return readPage(tx, rawRowTable, { filter, order: byCommit, page });
  });
}

/** Counts the matching rows of a table. Refuses (404) an unknown database or table. */
export async function countRows(ctx: RequestContext, name: TableName, filter: Filter): Promise<number> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "READ");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const { id } = await existingTable(tx, permitted, name);
    return tx.count(rawRowTable, and(equals("tableId", id), filter), "key");
  });
}
