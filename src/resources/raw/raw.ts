// Raw data: databases of tables of rows, stored exactly as they were sent.
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, everything, type Filter, hasOneOf, oneOf } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../storage/catalog.ts";
import { readPage } from "../../storage/read-page.ts";
import { insertPendingDeletions } from "../../storage/row-deletions.ts";
import { ownedRawRows, rawDatabaseTable, rawTableTable, type TableRecord } from "./schema.ts";
import {
  byName,
  ensureDatabases,
  ensureTables,
  existingDatabases,
  existingTables,
  refuseExistingDatabase,
  refuseExistingTable,
  type TableInput,
  type TableName,
} from "./tables.ts";

/** A database or table in a list. */
export interface NamedRecord {
  readonly name: string;
  /** Only for tables. */
  readonly assetIds?: readonly number[];
}

/** Matches the databases with a table that is linked to this asset. */
export async function withTablesOf(ctx: RequestContext, assetId: number): Promise<Filter> {
  const tables = hasOneOf("assetIds", [assetId]);
  const ids = await ctx.catalog.read(ctx.projectId, async (tx) =>
    (await tablesMeeting(tx, tables)).map(({ databaseId }) => databaseId),
  );
  return oneOf("id", [...new Set(ids)]);
}

/** Returns one page of the databases that the caller may see, by name (code points). */
export async function listDatabases(
  ctx: RequestContext,
  page: PageQuery,
  condition: Filter = everything,
): Promise<Page<NamedRecord>> {
  const filter = and(permittedRecords(ctx.caller, "rawAcl", "LIST"), condition);
  return ctx.catalog.read(ctx.projectId, (tx) =>
    readPage(tx, rawDatabaseTable, { filter, order: byName, page }),
  );
}

/** Counts the matching databases that the caller may see. */
export async function countDatabases(ctx: RequestContext, condition: Filter): Promise<number> {
  const filter = and(permittedRecords(ctx.caller, "rawAcl", "LIST"), condition);
  return ctx.catalog.read(ctx.projectId, (tx) => tx.count(rawDatabaseTable, filter));
}

/** Creates databases; existing ones do not change. */
export async function createDatabases(ctx: RequestContext, names: readonly string[]): Promise<void> {
  permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, (tx) => ensureDatabases(ctx, tx, names));
}

/** Creates a database. Refuses (409) one that exists. */
export async function createNewDatabase(ctx: RequestContext, name: string): Promise<void> {
  permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await refuseExistingDatabase(tx, name);
    await ensureDatabases(ctx, tx, [name]);
  });
}

/**
 * Deletes all databases or none. Refuses (404) unknown ones, and (400) databases with tables unless
 * `isRecursive`.
 */
export async function deleteDatabases(
  ctx: RequestContext,
  names: readonly string[],
  { isRecursive }: { readonly isRecursive: boolean },
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const databases = await existingDatabases(tx, permitted, names);
    const databaseIds = databases.map(({ id }) => id);
    const tables = await tablesMeeting(tx, oneOf("databaseId", databaseIds));
    if (tables.length > 0 && !isRecursive) {
      const holding = new Set(tables.map(({ databaseId }) => databaseId));
      const notEmpty = databases.filter(({ id }) => holding.has(id));
      throw fail("raw-databases-not-empty", { names: notEmpty.map(({ name }) => name) });
    }
    await removeTables(
      tx,
      tables.map(({ id }) => id),
    );
    await tx.remove(rawDatabaseTable, oneOf("id", databaseIds));
  });
  ctx.rowDeletions.start(ctx.projectId);
}

async function tablesMeeting(tx: CatalogReader, filter: Filter): Promise<TableRecord[]> {
  const found: TableRecord[] = [];
  const limit = limits.listItemsMax;
  for (let after: readonly number[] | undefined; ; after = [found.at(-1)!.id]) {
    const page = { limit, ...(after && { after }) };
    const tables = await tx.find(rawTableTable, { filter, order: byId, page });
    found.push(...tables);
    if (tables.length < limit) return found;
  }
}

/** Returns one page of a database's tables, by name (code points). Refuses (404) an unknown database. */
export async function listTables(
  ctx: RequestContext,
  database: string,
  page: PageQuery,
  condition: Filter = everything,
): Promise<Page<NamedRecord>> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "LIST");
  return ctx.catalog.read(ctx.projectId, async (tx) => {
    const [found] = await existingDatabases(tx, permitted, [database]);
    const filter = and(permitted, equals("databaseId", found!.id), condition);
    return readPage(tx, rawTableTable, { filter, order: byName, page });
  });
}

/**
 * Creates tables; for existing ones, sets the links to assets if they are given. Refuses (404) an unknown
 * database unless `ensureParent`, which creates it.
 */
export async function createTables(
  ctx: RequestContext,
  database: string,
  { tables, ensureParent }: { readonly tables: readonly TableInput[]; readonly ensureParent: boolean },
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const [found] = ensureParent
      ? await ensureDatabases(ctx, tx, [database], () => "database")
      : await existingDatabases(tx, permitted, [database]);
    await ensureTables(ctx, tx, { databaseId: found!.id, tables });
  });
}

/** Creates a table. Refuses (404) an unknown database and (409) a table that exists. */
export async function createNewTable(ctx: RequestContext, { database, table }: TableName): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const [parent] = await existingDatabases(tx, permitted, [database]);
    await refuseExistingTable(tx, parent!, table);
    await ensureTables(ctx, tx, { databaseId: parent!.id, tables: [{ name: table }] });
  });
}

/** Deletes the records of tables. Their rows can no longer be read, and are deleted in the background. */
async function removeTables(tx: CatalogWriter, ids: readonly number[]): Promise<void> {
  await tx.remove(rawTableTable, oneOf("id", ids));
  await insertPendingDeletions(tx, ownedRawRows, ids);
}

/** Deletes all tables with their rows, or none. Refuses (404) unknown ones. */
export async function deleteTables(
  ctx: RequestContext,
  database: string,
  tables: readonly TableName["table"][],
): Promise<void> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    const found = await existingTables(tx, permitted, { database, tables });
    await removeTables(
      tx,
      found.map(({ id }) => id),
    );
  });
  ctx.rowDeletions.start(ctx.projectId);
}
