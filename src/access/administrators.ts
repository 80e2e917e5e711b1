// Administrators of a project: the account and the group that hold all rights, and that some key always does.
import { fail } from "../errors.ts";
import type { IdSource } from "../lib/ids.ts";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";
import { and, between, equals, everything, type Filter, hasOneOf, oneOf, or } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import { grantedScopes } from "./capabilities.ts";
import { administersGroups } from "./compare-capabilities.ts";
import { capabilitiesIn, liveGroups, liveIn } from "./rights.ts";
import { type Account, accountTable, apiKeyTable, type Group, groupTable } from "./schema.ts";

export interface Maker {
  readonly ids: IdSource;
  readonly system: System;
}

/** The account that holds all rights of a project; it and its group are made where they are missing. */
export async function ensureAdministrator(
  tx: CatalogWriter,
  projectId: number,
  maker: Maker,
): Promise<Account> {
  const group = await ensureAdministrators(tx, projectId, maker);
  const [known] = await accountsIn(tx, projectId, equals("isAdministrator", true));
  if (known?.groupIds.includes(group.id)) return known;
  if (known) {
    const back = { ...known, groupIds: [...known.groupIds, group.id] };
    await tx.setColumns(accountTable, ["groupIds"], [back]);
    return back;
  }
  const id = maker.ids.next();
  // Skips an account that another caller created under this name: that caller may have its keys.
  const taken = await tx.count(accountTable, and(liveIn(projectId), equals("uniqueName", "administrator")));
  const account: Account = {
    id,
    projectId,
    uniqueName: taken === 0 ? "administrator" : `administrator ${id}`,
    groupIds: [group.id],
    isAdministrator: true,
    createdTime: maker.system.nowMs(),
  };
  await tx.insert(accountTable, [account]);
  return account;
}

async function ensureAdministrators(tx: CatalogWriter, projectId: number, maker: Maker): Promise<Group> {
  const [known] = await liveGroups(tx, projectId, equals("grantsEverything", true));
  if (known) return known;
  const group: Group = {
    id: maker.ids.next(),
    projectId,
    name: "administrators",
    capabilities: [],
    grantsEverything: true,
    createdTime: maker.system.nowMs(),
  };
  await tx.insert(groupTable, [group]);
  return group;
}

/**
 * Assigns keys without an account to the project's administrator. An early version wrote such keys, and each
 * had all rights.
 */
export async function adoptKeys(tx: CatalogWriter, maker: Maker): Promise<void> {
  const filter = equals("accountId", null);
  const keys = await tx.find(apiKeyTable, { filter, order: byId, page: { limit: limits.listItemsMax } });
  for (const [projectId, own] of Map.groupBy(keys, (key) => key.projectId)) {
    const { id: accountId } = await ensureAdministrator(tx, projectId, maker);
    await tx.setColumns(
      apiKeyTable,
      ["accountId"],
      own.map(({ id }) => ({ id, accountId })),
    );
  }
}

/** Refuses (400) a change after which no key could administer the groups of the project and create keys. */
export async function keepAdministered<Result>(
  tx: CatalogWriter,
  { projectId, nowMs }: { readonly projectId: number; readonly nowMs: number },
  change: () => Promise<Result>,
): Promise<Result> {
  const before = await isAdministered(tx, projectId, nowMs);
  const answer = await change();
  if (before && !(await isAdministered(tx, projectId, nowMs))) throw fail("last-administrator", {});
  return answer;
}

async function isAdministered(tx: CatalogReader, projectId: number, nowMs: number): Promise<boolean> {
  const groups = (await liveGroups(tx, projectId, everything)).filter(isForAdministrators);
  const members = hasOneOf(
    "groupIds",
    groups.map(({ id }) => id),
  );
  const accounts = await accountsIn(tx, projectId, members);
  const owned = oneOf(
    "accountId",
    accounts.map(({ id }) => id),
  );
  // A key with limits cannot create keys.
  const isUnlimited = equals("limits", null);
  return (await tx.count(apiKeyTable, and(liveIn(projectId), owned, unexpiredAt(nowMs), isUnlimited))) > 0;
}

/** The members of such a group can grant every right, and make the keys to use it. */
const isForAdministrators = (group: Group): boolean => {
  const capabilities = capabilitiesIn(group);
  const makesKeys = grantedScopes(capabilities, "apikeysAcl", "CREATE").some(({ kind }) => kind === "all");
  return makesKeys && administersGroups(capabilities);
};

/** Keys that have no end, or have not come to it. */
const unexpiredAt = (nowMs: number): Filter =>
  or(equals("expiresTime", null), between("expiresTime", { from: { value: nowMs, inclusive: false } }));

const accountsIn = (tx: CatalogReader, projectId: number, filter: Filter): Promise<Account[]> =>
  tx.find(accountTable, {
    filter: and(liveIn(projectId), filter),
    order: byId,
    page: { limit: limits.listItemsMax },
  });
