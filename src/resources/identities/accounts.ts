// Service accounts: requests with an API key run as an account, with the rights of its groups.

import { keepAdministered } from "../../access/administrators.ts";
import { permittedOrOwn, requireUnlimited } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { revokeKeys } from "../../access/credentials.ts";
import { liveIn } from "../../access/rights.ts";
import { type Account, accountTable, groupTable } from "../../access/schema.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { duplicatesIn } from "../../lib/duplicates.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, nothing, oneOf } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";

export type { Account } from "../../access/schema.ts";

export type NewAccount = Pick<Account, "uniqueName" | "groupIds">;

/** The accounts that the caller may access. */
function accountsFor({ caller, projectId }: RequestContext, action: Action): Filter {
  const own = caller.userId === undefined ? nothing : equals("id", caller.userId);
  return and(equals("projectId", projectId), permittedOrOwn(caller, ["usersAcl", action], own));
}

/**
 * Creates all accounts or none, in the order of the request. Refuses names in use (409), unknown groups and
 * groups whose members the caller may not change (400), and rights that the caller cannot grant (403). An
 * account in no group has the rights of the default group.
 */
export async function createAccounts(ctx: RequestContext, items: readonly NewAccount[]): Promise<Account[]> {
  requireUnlimited(ctx.caller, "usersAcl", "CREATE");
  for (const [index, { groupIds }] of items.entries())
    await ctx.rights.requireGrantableGroups(ctx.caller, { groupIds, field: `items[${index}].groups` });
  const createdTime = ctx.system.nowMs();
  return ctx.rights.change(async (tx) => {
    await refuseTakenNames(tx, ctx, items);
    for (const [index, { groupIds }] of items.entries())
      await requireGroups(tx, ctx, { ids: groupIds, field: `items[${index}].groups` });
    const accounts: Account[] = items.map((item) => ({
      ...item,
      id: ctx.ids.next(),
      projectId: ctx.projectId,
      createdTime,
    }));
    await tx.insert(accountTable, accounts);
    return accounts;
  });
}

export interface AccountsQuery {
  readonly includeDeleted?: boolean | undefined;
  readonly page: PageQuery;
}

/** Returns one page of the accounts that the caller may see, by id. */
export async function listAccounts(
  ctx: RequestContext,
  { includeDeleted, page }: AccountsQuery,
): Promise<Page<Account>> {
  const seen = accountsFor(ctx, "LIST");
  const filter = includeDeleted ? seen : and(seen, liveIn(ctx.projectId));
  return ctx.catalog.read("system", (tx) => readPage(tx, accountTable, { filter, order: byId, page }));
}

/** Refuses (404) an unknown or deleted account. */
export async function getAccount(ctx: RequestContext, id: number): Promise<Account> {
  const seen = and(accountsFor(ctx, "LIST"), liveIn(ctx.projectId));
  const [found] = await ctx.catalog.read("system", (tx) =>
    existingRecords(tx, accountTable, seen, { ids: [id], field: "userId", status: 404 }),
  );
  return found!;
}

/**
 * Deletes all accounts or none, with their keys and all keys created with those. Refuses (400) unknown and
 * repeated ids, and to leave the project without an administrator.
 */
export async function deleteAccounts(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const seen = and(accountsFor(ctx, "DELETE"), liveIn(ctx.projectId));
  const nowMs = ctx.system.nowMs();
  await ctx.rights.change(async (tx) => {
    await existingRecords(tx, accountTable, seen, { ids, field: "items" });
    await keepAdministered(tx, { projectId: ctx.projectId, nowMs }, async () => {
      const deleted = ids.map((id) => ({ id, groupIds: [], deletedTime: nowMs }));
      await tx.setColumns(accountTable, ["groupIds", "deletedTime"], deleted);
      await revokeKeys(tx, oneOf("accountId", ids), nowMs);
    });
  });
}

async function refuseTakenNames(
  tx: CatalogReader,
  { projectId }: RequestContext,
  items: readonly NewAccount[],
): Promise<void> {
  const names = items.map(({ uniqueName }) => uniqueName);
  const filter = and(liveIn(projectId), oneOf("uniqueName", [...new Set(names)]));
  const existing = await tx.find(accountTable, { filter, order: byId, page: { limit: names.length } });
  const taken = new Set([...existing.map(({ uniqueName }) => uniqueName), ...duplicatesIn(names)]);
  if (taken.size > 0) throw fail("names-taken", { what: "user", field: "uniqueName", names: [...taken] });
}

/** Membership grants rights, so it requires the right to change the members of each group. */
async function requireGroups(
  tx: CatalogReader,
  { caller, projectId }: RequestContext,
  named: { readonly ids: readonly number[]; readonly field: string },
): Promise<void> {
  const { ids, field } = named;
  if (ids.length === 0) return;
  if (ids.length > limits.accountGroupsMax)
    throw fail("too-many", { field, limit: limits.accountGroupsMax, got: ids.length });
  const changeable = permittedOrOwn(caller, ["groupsAcl", "UPDATE"], oneOf("id", caller.groupIds));
  await existingRecords(tx, groupTable, and(liveIn(projectId), changeable), named);
}
