// API keys of the project's accounts, as those manage them who hold the capability (client-endpoints 14.2).
import { keepAdministered } from "../../access/administrators.ts";
import { scopeOrOwn } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { liveIn } from "../../access/rights.ts";
import { type ApiKey, accountTable, apiKeyTable } from "../../access/schema.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { existingRecords } from "../../query/existing.ts";
import { and, equals, everything, type Filter, nothing } from "../../query/filter.ts";
import { byId, type Page, type PageQuestion } from "../../query/page.ts";
import { readPage } from "../../query/read-page.ts";

export type { ApiKey } from "../../access/schema.ts";

export interface NewApiKey {
  readonly accountId: number;
  /** After this it is refused like an unknown one. */
  readonly expiresTime?: number | undefined;
}

/** What the caller may touch, where `column` tells whose it is. */
function ownedBy({ caller }: RequestContext, action: Action, column: "id" | "accountId"): Filter {
  const own = caller.userId === undefined ? nothing : equals(column, caller.userId);
  return scopeOrOwn(caller, ["apikeysAcl", action], own);
}

/** Creates all of these or none, in the order sent. The keys are in this answer and nowhere else. */
export async function createApiKeys(
  ctx: RequestContext,
  items: readonly NewApiKey[],
): Promise<{ record: ApiKey; key: string }[]> {
  const accounts = and(liveIn(ctx.project), ownedBy(ctx, "CREATE", "id"));
  const nowMs = ctx.world.nowMs();
  for (const [index, { expiresTime = Number.POSITIVE_INFINITY }] of items.entries())
    if (expiresTime <= nowMs)
      throw fail("field-invalid", {
        field: `items[${index}].expiresTime`,
        expected: `a time after now, ${nowMs},`,
        got: String(expiresTime),
      });
  const project = { id: ctx.project, urlName: ctx.caller.project };
  return ctx.catalog.write("system", async (tx) => {
    const ids = [...new Set(items.map(({ accountId }) => accountId))];
    await existingRecords(tx, accountTable, accounts, { ids, field: "items" });
    const made = items.map(({ accountId, expiresTime }) =>
      ctx.keys.draft(project, {
        name: "made over the API",
        accountId,
        ...(expiresTime !== undefined && { expiresTime }),
      }),
    );
    await tx.insert(
      apiKeyTable,
      made.map(({ record }) => record),
    );
    return made;
  });
}

export interface ApiKeysWanted {
  /** Of all accounts, of this one, or of the caller. */
  readonly of: "all" | "caller" | number;
  readonly includeDeleted?: boolean | undefined;
  readonly page: PageQuestion;
}

/** One page of the keys that the caller may see, by id. */
export async function listApiKeys(
  ctx: RequestContext,
  { of, includeDeleted, page }: ApiKeysWanted,
): Promise<Page<ApiKey>> {
  const owner = of === "caller" ? ctx.caller.userId : of;
  const wanted = owner === "all" ? everything : owner === undefined ? nothing : equals("accountId", owner);
  const inProject = includeDeleted ? equals("projectId", ctx.project) : liveIn(ctx.project);
  const filter = and(inProject, ownedBy(ctx, "LIST", "accountId"), wanted);
  return ctx.catalog.read("system", (tx) => readPage(tx, apiKeyTable, { filter, order: byId, page }));
}

/** Refuses (404) one that is unknown or deleted. */
export async function getApiKey(ctx: RequestContext, id: number): Promise<ApiKey> {
  const seen = and(liveIn(ctx.project), ownedBy(ctx, "LIST", "accountId"));
  const [found] = await ctx.catalog.read("system", (tx) =>
    existingRecords(tx, apiKeyTable, seen, { ids: [id], field: "keyId", status: 404 }),
  );
  return found!;
}

/** Revokes all of these or none; refuses (400) unknown and repeated ids, and the last administrator's. */
export async function deleteApiKeys(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const seen = and(liveIn(ctx.project), ownedBy(ctx, "DELETE", "accountId"));
  const nowMs = ctx.world.nowMs();
  await ctx.catalog.write("system", async (tx) => {
    await existingRecords(tx, apiKeyTable, seen, { ids, field: "items" });
    await keepAdministered(tx, { projectId: ctx.project, nowMs }, () =>
      tx.setColumns(
        apiKeyTable,
        ["deletedTime"],
        ids.map((id) => ({ id, deletedTime: nowMs })),
      ),
    );
  });
  ctx.rights.changed();
}
