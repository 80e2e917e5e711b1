// Raw data: databases of tables of rows, kept exactly as extracted (platform-api What the service does 3).
import { scopeOf } from "../../access/caller.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, everything, type Filter, oneOf } from "../../query/filter.ts";
import { byId, type Page, type PageQuestion } from "../../query/page.ts";
import { readPage } from "../../query/read-page.ts";
import type { Reader, Writer } from "../../storage/catalog.ts";
import { noteErasures } from "../../storage/erasures.ts";
import {
  byName,
  ensureDatabases,
  ensureTables,
  existingDatabases,
  existingTables,
  type TableName,
} from "./places.ts";
import { ownedRawRows, rawDatabaseTable, rawTableTable } from "./schema.ts";

/** What a list of databases or tables shows of each. */
export interface Named {
  readonly name: string;
}

/** One page of the databases the caller may see, by name (code points). */
export async function listDatabases(
  ctx: RequestContext,
  page: PageQuestion,
  wanted: Filter = everything,
): Promise<Page<Named>> {
  const filter = and(scopeOf(ctx.caller, "rawAcl", "LIST"), wanted);
  return ctx.catalog.read(ctx.project, (tx) =>
    readPage(tx, rawDatabaseTable, { filter, order: byName, page }),
  );
}

/** How many of the databases that the caller may see meet the filter. */
export async function countDatabases(ctx: RequestContext, wanted: Filter): Promise<number> {
  const filter = and(scopeOf(ctx.caller, "rawAcl", "LIST"), wanted);
  return ctx.catalog.read(ctx.project, (tx) => tx.count(rawDatabaseTable, filter));
}

/** Makes these databases; those that exist stay as they are ((b) 23). */
export async function createDatabases(ctx: RequestContext, names: readonly string[]): Promise<void> {
  scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, (tx) => ensureDatabases(ctx, tx, names));
}

/**
 * Deletes all of these databases or none. Refuses (404) unknown ones, and (400) those that hold tables unless
 * `isRecursive`.
 */
export async function deleteDatabases(
  ctx: RequestContext,
  names: readonly string[],
  { isRecursive }: { readonly isRecursive: boolean },
): Promise<void> {
  const scope = scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, async (tx) => {
    const databases = await existingDatabases(tx, scope, names);
    const ids = await tableIdsIn(
      tx,
      databases.map(({ id }) => id),
    );
    if (ids.length > 0 && !isRecursive) throw fail("raw-databases-not-empty", { names });
    await removeTables(tx, ids);
    await tx.remove(
      rawDatabaseTable,
      oneOf(
        "id",
        databases.map(({ id }) => id),
      ),
    );
  });
  ctx.erasures.begin(ctx.project);
}

async function tableIdsIn(tx: Reader, databaseIds: readonly number[]): Promise<number[]> {
  const ids: number[] = [];
  const limit = limits.listItemsMax;
  for (let after: readonly number[] | undefined; ; after = [ids.at(-1)!]) {
    const page = { limit, ...(after && { after }) };
    const tables = await tx.find(rawTableTable, {
      filter: oneOf("databaseId", databaseIds),
      order: byId,
      page,
    });
    ids.push(...tables.map(({ id }) => id));
    if (tables.length < limit) return ids;
  }
}

/** One page of a database's tables, by name (code points); refuses (404) an unknown database. */
export async function listTables(
  ctx: RequestContext,
  database: string,
  page: PageQuestion,
  wanted: Filter = everything,
): Promise<Page<Named>> {
  const scope = scopeOf(ctx.caller, "rawAcl", "LIST");
  return ctx.catalog.read(ctx.project, async (tx) => {
    const [found] = await existingDatabases(tx, scope, [database]);
    const filter = and(scope, equals("databaseId", found!.id), wanted);
    return readPage(tx, rawTableTable, { filter, order: byName, page });
  });
}

/**
 * Makes these tables; those that exist stay as they are. Refuses (404) an unknown database unless
 * `ensureParent`, which makes it.
 */
export async function createTables(
  ctx: RequestContext,
  database: string,
  { tables, ensureParent }: { readonly tables: readonly string[]; readonly ensureParent: boolean },
): Promise<void> {
  const scope = scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, async (tx) => {
    const [found] = ensureParent
      ? await ensureDatabases(ctx, tx, [database])
      : await existingDatabases(tx, scope, [database]);
    await ensureTables(ctx, tx, { databaseId: found!.id, names: tables });
  });
}

/** Takes the tables' records away; their rows can be reached no more and follow when there is time. */
async function removeTables(tx: Writer, ids: readonly number[]): Promise<void> {
  await tx.remove(rawTableTable, oneOf("id", ids));
  await noteErasures(tx, ownedRawRows, ids);
}

/** Deletes all of these tables with their rows, or none; refuses (404) unknown ones. */
export async function deleteTables(
  ctx: RequestContext,
  database: string,
  tables: readonly TableName["table"][],
): Promise<void> {
  const scope = scopeOf(ctx.caller, "rawAcl", "WRITE");
  await ctx.catalog.write(ctx.project, async (tx) => {
    const found = await existingTables(tx, scope, { database, tables });
    await removeTables(
      tx,
      found.map(({ id }) => id),
    );
  });
  ctx.erasures.begin(ctx.project);
}
