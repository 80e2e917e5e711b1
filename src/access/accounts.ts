// Accounts by their names, as the command line speaks of them.
import { limits } from "../limits.ts";
import { and, equals } from "../query/filter.ts";
import { byId } from "../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../storage/catalog.ts";
import type { Maker } from "./administrators.ts";
import { liveIn } from "./rights.ts";
import { type Account, accountTable } from "./schema.ts";

/** The account of this name, made without any group when there is none. */
export async function ensureAccount(
  tx: CatalogWriter,
  projectId: number,
  uniqueName: string,
  { ids, system }: Maker,
): Promise<Account> {
  const filter = and(liveIn(projectId), equals("uniqueName", uniqueName));
  const [known] = await tx.find(accountTable, { filter, order: byId, page: { limit: 1 } });
  if (known) return known;
  const account = { id: ids.next(), projectId, uniqueName, groupIds: [], createdTime: system.nowMs() };
  await tx.insert<Account>(accountTable, [account]);
  return account;
}

/** The names of the accounts of a project, by id. */
export async function accountsNamed(
  tx: CatalogReader,
  projectId: number,
): Promise<ReadonlyMap<number, string>> {
  const page = { limit: limits.listItemsMax };
  const accounts = await tx.find(accountTable, { filter: liveIn(projectId), order: byId, page });
  return new Map(accounts.map(({ id, uniqueName }) => [id, uniqueName]));
}
