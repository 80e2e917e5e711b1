// Lists, creates and deletes API keys of the accounts of a project.
import { keepAdministered } from "../../access/administrators.ts";
import { isEnded } from "../../access/api-keys.ts";
import { permittedOrOwn } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { type Credential, originsOf, revokeKeys } from "../../access/credentials.ts";
import type { KeyLimits } from "../../access/key-limits.ts";
import { liveIn } from "../../access/rights.ts";
import { type Account, type ApiKey, accountTable, apiKeyTable } from "../../access/schema.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { limits } from "../../limits.ts";
import { and, equals, everything, type Filter, nothing, oneOf } from "../../query/filter.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader } from "../../storage/catalog.ts";
import { existingRecords } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";

export type { ApiKey } from "../../access/schema.ts";

import { mapInSlices } from "../../query/map-in-slices.ts";

export interface NewApiKey {
  readonly accountId: number;
  /** The key expires at this time. */
  readonly expiresTime?: number | undefined;
  readonly limits?: KeyLimits | undefined;
}

/** The records that the caller may access, if `column` has the account's id. */
function ownedBy({ caller }: RequestContext, action: Action, column: "id" | "accountId"): Filter {
  const own = caller.userId === undefined ? nothing : equals(column, caller.userId);
  return permittedOrOwn(caller, ["apikeysAcl", action], own);
}

/**
 * Creates all keys or none, in the order of the request. Only this result contains the keys. They expire no
 * later than the credential of the request, and are revoked with it. Refuses (403) keys of accounts whose
 * rights the caller cannot grant.
 */
export async function createApiKeys(
  ctx: RequestContext,
  items: readonly NewApiKey[],
): Promise<{ record: ApiKey; key: string }[]> {
  const { credential, projectUrlName: urlName } = ctx.caller;
  invariant(credential !== undefined, "only requests with a credential make keys");
  if (credential.kind === "run") throw fail("run-makes-keys", {});
  if (ctx.caller.keyLimits) throw fail("limited-key", {});
  const madeBy = originsOf(credential);
  if (madeBy.length > limits.keyChainMax) throw fail("key-chain-too-long", { limit: limits.keyChainMax });
  const ends = endsOf(items, credential, ctx.system.nowMs());
  const accounts = and(liveIn(ctx.projectId), ownedBy(ctx, "CREATE", "id"));
  const ids = [...new Set(items.map(({ accountId }) => accountId))];
  const named = { ids, field: "items" };
  await refuseStronger(
    ctx,
    await ctx.catalog.read("system", (tx) => existingRecords(tx, accountTable, accounts, named)),
  );
  return ctx.rights.change(async (tx) => {
    if (await isEnded(tx, credential)) throw fail("unauthenticated", { reason: "unknown-key" });
    await existingRecords(tx, accountTable, accounts, named);
    const made = await mapInSlices(items, ({ accountId, limits: keyLimits }, index) => {
      const expiresTime = ends[index];
      const byOwner = { name: "made over the API", accountId, madeBy };
      return ctx.keys.draft(
        { id: ctx.projectId, urlName },
        {
          ...byOwner,
          ...(expiresTime !== undefined && { expiresTime }),
          ...(keyLimits && { limits: keyLimits }),
        },
      );
    });
    await tx.insert(
      apiKeyTable,
      made.map(({ record }) => record),
    );
    return made;
  });
}

/** The expiry of each key; undefined for none. */
function endsOf(items: readonly NewApiKey[], { untilMs }: Credential, nowMs: number): (number | undefined)[] {
  return items.map(({ expiresTime = untilMs }, index) => {
    const refusal = (expected: string) =>
      fail("field-invalid", { field: `items[${index}].expiresTime`, expected, got: String(expiresTime) });
    if (expiresTime === undefined) return undefined;
    if (expiresTime <= nowMs) throw refusal(`a time after now, ${nowMs},`);
    if (untilMs !== undefined && expiresTime > untilMs)
      throw refusal(`a time up to ${untilMs}, when your own credential ends,`);
    return expiresTime;
  });
}

/** A key has all rights of its account. Keys of the caller's own account need no check. */
async function refuseStronger(ctx: RequestContext, accounts: readonly Account[]): Promise<void> {
  for (const { id, groupIds } of accounts.filter((one) => one.id !== ctx.caller.userId))
    await ctx.rights.requireGrantableGroups(ctx.caller, { groupIds, field: `A key of the user ${id}` });
}

export interface ApiKeysQuery {
  /** Keys of all accounts, of the caller, or of one account. */
  readonly of: "all" | "caller" | number;
  readonly includeDeleted?: boolean | undefined;
  readonly page: PageQuery;
}

/** Returns one page of the keys that the caller may see, by id. */
export async function listApiKeys(
  ctx: RequestContext,
  { of, includeDeleted, page }: ApiKeysQuery,
): Promise<Page<ApiKey>> {
  const owner = of === "caller" ? ctx.caller.userId : of;
  const byOwner = owner === "all" ? everything : owner === undefined ? nothing : equals("accountId", owner);
  const inProject = includeDeleted ? equals("projectId", ctx.projectId) : liveIn(ctx.projectId);
  const filter = and(inProject, ownedBy(ctx, "LIST", "accountId"), byOwner);
  return ctx.catalog.read("system", (tx) => readPage(tx, apiKeyTable, { filter, order: byId, page }));
}

/** Refuses (404) an unknown or deleted key. */
export async function getApiKey(ctx: RequestContext, id: number): Promise<ApiKey> {
  const seen = and(liveIn(ctx.projectId), ownedBy(ctx, "LIST", "accountId"));
  const [found] = await ctx.catalog.read("system", (tx) =>
    existingRecords(tx, apiKeyTable, seen, { ids: [id], field: "keyId", status: 404 }),
  );
  return found!;
}

/**
 * Replaces the limits of a key; without any, the key has none from then on. Refuses (404) an unknown key,
 * (403) a request whose own key has limits and a key of an account whose rights the caller cannot grant, and
 * (400) to limit the key of the last administrator.
 */
export async function setKeyLimits(ctx: RequestContext, id: number, keyLimits: KeyLimits): Promise<ApiKey> {
  if (ctx.caller.keyLimits) throw fail("limited-key", {});
  const seen = and(liveIn(ctx.projectId), ownedBy(ctx, "CREATE", "accountId"));
  const hasLimits = Object.values(keyLimits).some((perSecond) => perSecond !== undefined);
  const named = { field: "keyId", status: 404 } as const;
  const keyNow = async (tx: CatalogReader) =>
    (await existingRecords(tx, apiKeyTable, seen, { ids: [id], ...named }))[0]!;
  const owner = await ctx.catalog.read("system", async (tx) => {
    const ids = [(await keyNow(tx)).accountId!];
    return existingRecords(tx, accountTable, liveIn(ctx.projectId), { ids, ...named });
  });
  await refuseStronger(ctx, owner);
  const project = { projectId: ctx.projectId, nowMs: ctx.system.nowMs() };
  return ctx.rights.change((tx) =>
    keepAdministered(tx, project, async () => {
      const { limits: _, ...key } = await keyNow(tx);
      const changed: ApiKey = { ...key, ...(hasLimits && { limits: keyLimits }) };
      await tx.setColumns(apiKeyTable, ["limits"], [changed]);
      return changed;
    }),
  );
}

/**
 * Revokes all keys or none, and all keys created with them. Refuses (400) unknown and repeated ids, and the
 * key of the last administrator.
 */
export async function deleteApiKeys(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const seen = and(liveIn(ctx.projectId), ownedBy(ctx, "DELETE", "accountId"));
  const nowMs = ctx.system.nowMs();
  await ctx.rights.change(async (tx) => {
    await existingRecords(tx, apiKeyTable, seen, { ids, field: "items" });
    await keepAdministered(tx, { projectId: ctx.projectId, nowMs }, () =>
      revokeKeys(tx, oneOf("id", ids), nowMs),
    );
  });
}
