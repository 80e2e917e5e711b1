// Turns an account, a key or some groups into the caller that a request with them would have.
import type { Caller } from "../../access/caller.ts";
import { liveGroups } from "../../access/rights.ts";
import type { Group } from "../../access/schema.ts";
import { memberOf } from "../../access/see-as.ts";
import type { RequestContext } from "../../context.ts";
import { invariant } from "../../lib/invariant.ts";
import { oneOf } from "../../query/filter.ts";
import { type Account, getAccount } from "../identities/accounts.ts";
import { getApiKey } from "../identities/api-keys.ts";

/** Names the caller of a query. */
export type SubjectName =
  | { readonly userId: number }
  | { readonly apiKeyId: number }
  | { readonly groupIds: readonly number[] };

export interface AccessSubject {
  readonly caller: Caller;
  /** The groups whose capabilities count. */
  readonly groups: readonly Group[];
  /** Whether the account is in no group, so that the default group counts. */
  readonly isByDefault: boolean;
  /** Whether the key has expired. */
  readonly hasExpired: boolean;
}

/**
 * Refuses unknown accounts and keys (404) and unknown groups (400), and a caller that may not list the
 * accounts or keys (403).
 */
export async function subjectOf(ctx: RequestContext, name: SubjectName): Promise<AccessSubject> {
  if ("groupIds" in name) {
    const ids = [...new Set(name.groupIds)];
    const caller = await memberOf(ctx.rights, ctx.caller, { ids, field: "groupIds" });
    return subjectAs(ctx, caller, { groupIds: ids });
  }
  if ("userId" in name) return subjectOfAccount(ctx, await getAccount(ctx, name.userId));
  const { accountId, expiresTime } = await getApiKey(ctx, name.apiKeyId);
  invariant(accountId !== undefined, "a key has an account since the start of the server");
  const hasExpired = expiresTime !== undefined && expiresTime <= ctx.system.nowMs();
  return { ...(await subjectOfAccount(ctx, await getAccount(ctx, accountId))), hasExpired };
}

async function subjectOfAccount(ctx: RequestContext, account: Account): Promise<AccessSubject> {
  const { projectId, projectUrlName } = ctx.caller;
  const caller = await ctx.keys.callerAs(account.id, { projectId, projectUrlName });
  // The account was deleted since it was read; the next read refuses it.
  if (!caller) return subjectOfAccount(ctx, await getAccount(ctx, account.id));
  return subjectAs(ctx, caller, account);
}

async function subjectAs(
  ctx: RequestContext,
  caller: Caller,
  { groupIds }: Pick<Account, "groupIds">,
): Promise<AccessSubject> {
  const named = oneOf("id", caller.groupIds);
  const groups = await ctx.catalog.read("system", (tx) => liveGroups(tx, ctx.projectId, named));
  const isByDefault = groups.some(({ id }) => !groupIds.includes(id));
  return { caller, groups, isByDefault, hasExpired: false };
}
