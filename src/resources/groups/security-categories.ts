// Security categories: time series with categories are visible only to members.
import { memberCategories, permittedOrOwn, requireUnlimited } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { distinctIds } from "../../query/distinct-ids.ts";
import { and, type Filter, nothing, oneOf } from "../../query/filter.ts";
import { byId, type OrderBy, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { type SecurityCategory, securityCategoryTable } from "./schema.ts";

export type { SecurityCategory } from "./schema.ts";

const permittedCategories = ({ caller }: RequestContext, action: Action): Filter =>
  permittedOrOwn(caller, ["securityCategoriesAcl", action], nothing);

/** Creates a category for each name. Refuses (409) existing names. */
export async function createCategories(
  ctx: RequestContext,
  names: readonly string[],
): Promise<SecurityCategory[]> {
  requireUnlimited(ctx.caller, "securityCategoriesAcl", "CREATE");
  const distinct = [...new Set(names)];
  return ctx.catalog.write(ctx.projectId, async (tx) => {
    const page = { limit: distinct.length };
    const existing = await tx.find(securityCategoryTable, {
      filter: oneOf("name", distinct),
      order: byId,
      page,
    });
    const names = existing.map(({ name }) => name);
    if (names.length > 0) throw fail("names-taken", { what: "security category", field: "name", names });
    const categories = distinct.map((name) => ({ id: ctx.ids.next(), name }));
    await tx.insert(securityCategoryTable, categories);
    return categories;
  });
}

/** Returns one page of the categories that the caller may see, by id. */
export async function listCategories(
  ctx: RequestContext,
  { direction, page }: { readonly direction: OrderBy["direction"]; readonly page: PageQuery },
): Promise<Page<SecurityCategory>> {
  const query = { filter: permittedCategories(ctx, "LIST"), order: [{ field: "id", direction }], page };
  return ctx.catalog.read(ctx.projectId, (tx) => readPage(tx, securityCategoryTable, query));
}

/** Refuses (404) a category that is unknown or that the caller may not see. */
export async function getCategory(ctx: RequestContext, id: number): Promise<SecurityCategory> {
  const named = { ids: [id], field: "categoryId", status: 404 } as const;
  const [found] = await ctx.catalog.read(ctx.projectId, (tx) =>
    existingRecords(tx, securityCategoryTable, permittedCategories(ctx, "LIST"), named),
  );
  return found!;
}

/**
 * Returns the first id in these lists that names no category the caller is a member of. The caller cannot
 * tell whether such a category exists.
 */
export async function foreignCategory(
  ctx: RequestContext,
  tx: CatalogReader,
  lists: readonly (readonly number[])[],
): Promise<number | undefined> {
  for await (const ids of distinctIds(lists)) {
    const filter = and(memberCategories(ctx.caller), oneOf("id", ids));
    const found = await tx.find(securityCategoryTable, { filter, order: byId, page: { limit: ids.length } });
    const own = new Set(found.map(({ id }) => id));
    const foreign = ids.find((id) => !own.has(id));
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

/**
 * Deletes all categories or none. Refuses (400) unknown and repeated ids. Time series of a deleted category
 * stay visible only to members of all categories.
 */
export async function deleteCategories(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const permitted = permittedCategories(ctx, "DELETE");
  await ctx.catalog.write(ctx.projectId, async (tx) => {
    await existingRecords(tx, securityCategoryTable, permitted, { ids, field: "items" });
    await tx.remove(securityCategoryTable, oneOf("id", ids));
  });
}
