// Databases and tables by name, in a transaction: finds, refuses or creates them.
import { permittedRecords } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { isStorable, isWithinLength, shortened } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, oneOf } from "../../query/filter.ts";
import type { OrderBy } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../storage/catalog.ts";
import { refuseUnknownAssets } from "../assets/assets.ts";
import { type DatabaseRecord, rawDatabaseTable, rawTableTable, type TableRecord } from "./schema.ts";

/** The names of a database and a table. */
export interface TableName {
  readonly database: string;
  readonly table: string;
}

export const byName: readonly OrderBy[] = [{ field: "name", direction: "ascending" }];
export const byKey: readonly OrderBy[] = [{ field: "key", direction: "ascending" }];
export const byCommit: readonly OrderBy[] = [{ field: "commitNumber", direction: "ascending" }, ...byKey];

/** The databases with these names. Refuses (404) unknown ones. */
export async function existingDatabases(
  tx: CatalogReader,
  permitted: Filter,
  names: readonly string[],
): Promise<DatabaseRecord[]> {
  const found = await databasesNamed(tx, permitted, names);
  const unknown = missingNames(names, found);
  if (unknown.length > 0) throw fail("raw-databases-unknown", { names: unknown });
  return found;
}

/** The tables of a database with these names. Refuses (404) an unknown database or table. */
export async function existingTables(
  tx: CatalogReader,
  permitted: Filter,
  query: { readonly database: string; readonly tables: readonly string[] },
): Promise<TableRecord[]> {
  const [database] = await existingDatabases(tx, permitted, [query.database]);
  const found = await tablesNamed(tx, database!.id, query.tables);
  const unknown = missingNames(query.tables, found);
  if (unknown.length > 0) throw fail("raw-tables-unknown", { names: unknown });
  return found;
}

/** The record of a table. Refuses like `existingTables`. */
export async function existingTable(
  tx: CatalogReader,
  permitted: Filter,
  { database, table }: TableName,
): Promise<TableRecord> {
  const [found] = await existingTables(tx, permitted, { database, tables: [table] });
  return found!;
}

/** The id of a table: another table of the same name has another one. Refuses like `existingTables`. */
export async function rawTableId(ctx: RequestContext, name: TableName): Promise<number> {
  const permitted = permittedRecords(ctx.caller, "rawAcl", "READ");
  return (await ctx.catalog.read(ctx.projectId, (tx) => existingTable(tx, permitted, name))).id;
}

/** The field of a request that has the name with this index. */
type FieldOf = (index: number) => string;

/** Creates missing databases; existing ones do not change. Refuses (400) invalid names. */
export async function ensureDatabases(
  ctx: RequestContext,
  tx: CatalogWriter,
  names: readonly string[],
  fieldOf: FieldOf = (index) => `items[${index}].dbName`,
): Promise<DatabaseRecord[]> {
  const found = await databasesNamed(tx, undefined, names);
  const createdTime = ctx.system.nowMs();
  const made = newNames(names, found, fieldOf).map((name) => ({ id: ctx.ids.next(), name, createdTime }));
  await tx.insert(rawDatabaseTable, made);
  return [...found, ...made];
}

/** Clients remove `.` and `..` from paths, also percent-encoded, so no path could name such a record. */
const unreachableNames: ReadonlySet<string> = new Set([".", ".."]);

/** The names that do not exist yet, checked: names in paths have passed no schema. */
function newNames(
  names: readonly string[],
  found: readonly { readonly name: string }[],
  fieldOf: FieldOf,
): readonly string[] {
  const missing = missingNames(names, found);
  for (const name of missing) refuseInvalidName(name, () => fieldOf(names.indexOf(name)));
  return missing;
}

/** Refuses (400) a string that is no name of a database or a table. */
export function refuseInvalidName(name: string, fieldOf: () => string): void {
  const expected = expectedInsteadOf(name);
  if (expected === undefined) return;
  throw fail("field-invalid", { field: fieldOf(), expected, got: shortened(name) });
}

function expectedInsteadOf(name: string): string | undefined {
  if (unreachableNames.has(name)) return "a name that paths can contain, so not . or ..,";
  if (name !== "" && isWithinLength(name, limits.nameLengthMax) && isStorable(name)) return undefined;
  return `1 to ${limits.nameLengthMax} characters, without U+0000 and halves of characters,`;
}

/** A table to create, or to link to other assets if it exists and `assetIds` are given. */
export interface TableInput {
  readonly name: string;
  readonly assetIds?: readonly number[] | undefined;
}

/**
 * Like `ensureDatabases` for the tables of a database; for existing tables, sets the given links. Refuses
 * (400) new links to assets that the caller may not see.
 */
export async function ensureTables(
  ctx: RequestContext,
  tx: CatalogWriter,
  { databaseId, tables }: { readonly databaseId: number; readonly tables: readonly TableInput[] },
  fieldOf: FieldOf = (index) => `items[${index}].tableName`,
): Promise<TableRecord[]> {
  const names = tables.map(({ name }) => name);
  const found = await tablesNamed(tx, databaseId, names);
  const createdTime = ctx.system.nowMs();
  const made: TableRecord[] = newNames(names, found, fieldOf).map((name) => ({
    ...{ id: ctx.ids.next(), databaseId, name, createdTime },
  }));
  await tx.insert(rawTableTable, made);
  return linkTables(ctx, tx, [...found, ...made], tables);
}

async function linkTables(
  ctx: RequestContext,
  tx: CatalogWriter,
  records: readonly TableRecord[],
  tables: readonly TableInput[],
): Promise<TableRecord[]> {
  const given = new Map(tables.flatMap(({ name, assetIds }) => (assetIds ? [[name, assetIds]] : [])));
  const after = records.map(({ assetIds: existing, ...record }): TableRecord => {
    const assetIds = [...new Set(given.get(record.name) ?? existing)];
    return { ...record, ...(assetIds.length > 0 && { assetIds }) };
  });
  const links = after.map(({ assetIds = [] }, index) => {
    const existing = new Set(records[index]!.assetIds);
    return { field: "assetIds", assetIds: assetIds.filter((id) => !existing.has(id)) };
  });
  await refuseUnknownAssets(ctx, tx, "rawAcl", links);
  await tx.replace(
    rawTableTable,
    after.filter(({ name }) => given.has(name)),
  );
  return after;
}

/** Refuses (409) a database that exists, visible to the caller or not. */
export async function refuseExistingDatabase(tx: CatalogReader, name: string): Promise<void> {
  const found = await databasesNamed(tx, undefined, [name]);
  if (found.length > 0) throw fail("entity-exists", { what: `database ${name}` });
}

/** Refuses (409) a table that exists in the database. */
export async function refuseExistingTable(
  tx: CatalogReader,
  { id, name }: DatabaseRecord,
  table: string,
): Promise<void> {
  const found = await tablesNamed(tx, id, [table]);
  if (found.length > 0) throw fail("entity-exists", { what: `table ${table} in ${name}` });
}

function databasesNamed(tx: CatalogReader, permitted: Filter | undefined, names: readonly string[]) {
  const filter = and(permitted, oneOf("name", names));
  return tx.find(rawDatabaseTable, { filter, order: byName, page: { limit: names.length } });
}

function tablesNamed(tx: CatalogReader, databaseId: number, names: readonly string[]) {
  const filter = and(equals("databaseId", databaseId), oneOf("name", names));
  return tx.find(rawTableTable, { filter, order: byName, page: { limit: names.length } });
}

function missingNames(names: readonly string[], found: readonly { readonly name: string }[]): string[] {
  const existing = new Set(found.map(({ name }) => name));
  return [...new Set(names)].filter((name) => !existing.has(name));
}
