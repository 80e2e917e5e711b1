// Groups, which grant rights to accounts and users.
import { keepAdministered } from "../../access/administrators.ts";
import { permittedOrOwn, requireCapability, requireUnlimited } from "../../access/caller.ts";
import type { Action } from "../../access/capabilities.ts";
import { capabilitiesIn, liveIn } from "../../access/rights.ts";
import { type Account, accountTable, type Group, groupTable } from "../../access/schema.ts";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { TimeSlice } from "../../lib/time-slice.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, hasOneOf, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { byId, type Page, type PageQuery } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter } from "../../storage/catalog.ts";
import { existingRecords, type IdsNamed } from "../../storage/existing-records.ts";
import { readPage } from "../../storage/read-page.ts";
import { defaultGroupOf, type Project, refuseDefaultGroup, setDefaultGroup } from "../projects/projects.ts";

export type { Account, Group } from "../../access/schema.ts";

export type NewGroup = Pick<Group, "name" | "source" | "sourceId" | "capabilities" | "permissions">;

/** The groups that the caller may access. */
const groupsFor = ({ caller, projectId }: RequestContext, action: Action): Filter =>
  and(
    equals("projectId", projectId),
    permittedOrOwn(caller, ["groupsAcl", action], oneOf("id", caller.groupIds)),
  );

/**
 * Creates all groups or none, in the order of the request. Names may repeat. Refuses (403) rights that the
 * caller cannot grant.
 */
export async function createGroups(ctx: RequestContext, items: readonly NewGroup[]): Promise<Group[]> {
  requireUnlimited(ctx.caller, "groupsAcl", "CREATE");
  const granted = await mapInSlices(items, (item, index) => {
    refuseLongRights(item, `items[${index}]`);
    const { capabilities, permissions } = item;
    return capabilitiesIn({ capabilities, ...(permissions && { permissions }) });
  });
  const slice = new TimeSlice(limits.timeSliceMs);
  for (const [index, capabilities] of granted.entries()) {
    if (slice.isOver()) await slice.next();
    await ctx.rights.requireGrantable(ctx.caller, { capabilities, field: `items[${index}]` });
  }
  const own = { projectId: ctx.projectId, createdTime: ctx.system.nowMs() };
  const groups: Group[] = items.map((item) => ({ ...item, ...own, id: ctx.ids.next() }));
  await ctx.rights.change((tx) => tx.insert(groupTable, groups));
  // Users whom an identity provider assigns to these groups are members at once.
  return groups;
}

function refuseLongRights(
  { capabilities, permissions }: Pick<Group, "capabilities" | "permissions">,
  field: string,
) {
  const { length } = JSON.stringify([capabilities, permissions]);
  const expected = `at most ${limits.groupRightsLengthMax} characters of rights as JSON`;
  if (length > limits.groupRightsLengthMax)
    throw fail("field-invalid", { field, expected, got: String(length) });
}

/** Values to set; `null` clears a member, an absent member leaves it. */
export interface GroupChange {
  readonly name?: string | undefined;
  readonly source?: string | null | undefined;
  readonly sourceId?: string | null | undefined;
  readonly permissions?: Group["permissions"] | null | undefined;
  readonly capabilities?: Group["capabilities"] | undefined;
}

/**
 * Changes a group and keeps its accounts. Refuses an unknown group (404), rights that the caller cannot
 * grant, including those that the group keeps and those of the default group for users that lose the group
 * (403), other rights for the administrators (400), and to leave the project without an administrator (400).
 */
export async function updateGroup(ctx: RequestContext, id: number, change: GroupChange): Promise<Group> {
  const [before] = await groupsNow(ctx, "UPDATE", inPath(id));
  const after = changedGroup(before!, change);
  const field = "capabilities";
  if (before!.grantsEverything && (change.capabilities || change.permissions)) {
    const expected = "none for the administrators, who have all rights,";
    throw fail("field-invalid", { field, expected, got: "others" });
  }
  refuseLongRights(after, field);
  await ctx.rights.requireGrantable(ctx.caller, { capabilities: capabilitiesIn(after), field });
  if (losesUsers(before!, after)) await refuseDefaultRights(ctx, [before!]);
  return changeRights(ctx, async (tx) => {
    const [now] = await live(tx, ctx, "UPDATE", inPath(id));
    const changed = changedGroup(now!, change);
    await tx.replace(groupTable, [changed]);
    return changed;
  });
}

/** Whether users whom an identity provider assigns to the group may be no members after the change. */
const losesUsers = (before: Group, after: Group): boolean =>
  before.sourceId !== undefined &&
  (after.sourceId !== before.sourceId || (after.source !== undefined && after.source !== before.source));

function changedGroup(group: Group, change: GroupChange): Group {
  const sent = Object.entries(change).filter(([, value]) => value !== undefined);
  const members = Object.entries({ ...group, ...Object.fromEntries(sent) });
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as unknown as Group;
}

export interface GroupsQuery {
  /** All groups that the caller may see, or only the caller's own groups. */
  readonly all: boolean;
  readonly includeDeleted?: boolean | undefined;
  readonly page: PageQuery;
}

/** Returns one page of groups, by id. */
export async function listGroups(
  ctx: RequestContext,
  { all, includeDeleted, page }: GroupsQuery,
): Promise<Page<Group>> {
  const own = all ? undefined : oneOf("id", ctx.caller.groupIds);
  const filter = and(groupsFor(ctx, "LIST"), own, includeDeleted ? undefined : liveIn(ctx.projectId));
  return ctx.catalog.read("system", (tx) => readPage(tx, groupTable, { filter, order: byId, page }));
}

/** Refuses (404) an unknown or deleted group. */
export async function getGroup(ctx: RequestContext, id: number): Promise<Group> {
  const [found] = await ctx.catalog.read("system", (tx) => live(tx, ctx, "READ", inPath(id)));
  return found!;
}

/**
 * Deletes all groups or none, with their memberships; a deleted default group leaves the project without
 * one. Refuses (400) unknown and repeated ids, and to leave the project without an administrator.
 */
export async function deleteGroups(ctx: RequestContext, ids: readonly number[]): Promise<void> {
  const deletedTime = ctx.system.nowMs();
  await refuseDefaultRights(ctx, await groupsNow(ctx, "DELETE", { ids, field: "items" }));
  await changeRights(ctx, async (tx) => {
    await live(tx, ctx, "DELETE", { ids, field: "items" });
    await tx.setColumns(
      groupTable,
      ["deletedTime"],
      ids.map((id) => ({ id, deletedTime })),
    );
    await removeFromGroups(tx, await membersOf(tx, ctx, ids), new Set(ids));
    const byDefault = await defaultGroupOf(tx, ctx.projectId);
    if (byDefault !== undefined && ids.includes(byDefault)) await setDefaultGroup(tx, ctx.projectId);
  });
}

/** The accounts in a group, by id. Refuses (404) an unknown group. */
export async function listMembers(ctx: RequestContext, id: number): Promise<Account[]> {
  return ctx.catalog.read("system", async (tx) => {
    await live(tx, ctx, "READ", inPath(id));
    return membersOf(tx, ctx, [id]);
  });
}

/**
 * Adds all accounts to a group or none. Refuses unknown accounts and members (400), an unknown group (404),
 * and a group whose rights the caller cannot grant (403).
 */
export async function addMembers(
  ctx: RequestContext,
  id: number,
  accountIds: readonly number[],
): Promise<void> {
  const [group] = await groupsNow(ctx, "UPDATE", inPath(id));
  await ctx.rights.requireGrantable(ctx.caller, { capabilities: capabilitiesIn(group!), field: "groupId" });
  await changeRights(ctx, async (tx) => {
    await live(tx, ctx, "UPDATE", inPath(id));
    const accounts = await existingRecords(tx, accountTable, liveIn(ctx.projectId), {
      ids: accountIds,
      field: "items",
    });
    const present = accounts.filter(({ groupIds }) => groupIds.includes(id));
    if (present.length > 0) throw fail("members-present", { ids: present.map((account) => account.id) });
    const after = accounts.map((account) => ({ id: account.id, groupIds: [...account.groupIds, id] }));
    const { groupIds = [] } = after.find((one) => one.groupIds.length > limits.accountGroupsMax) ?? {};
    if (groupIds.length > 0)
      throw fail("too-many", { field: "groups", limit: limits.accountGroupsMax, got: groupIds.length });
    await tx.setColumns(accountTable, ["groupIds"], after);
  });
}

/** Removes all accounts from a group or none. Refuses (400) accounts that are not members. */
export async function removeMembers(
  ctx: RequestContext,
  id: number,
  accountIds: readonly number[],
): Promise<void> {
  await refuseDefaultRights(ctx, await groupsNow(ctx, "UPDATE", inPath(id)));
  await changeRights(ctx, async (tx) => {
    await live(tx, ctx, "UPDATE", inPath(id));
    const members = and(liveIn(ctx.projectId), hasOneOf("groupIds", [id]));
    const named = { ids: accountIds, field: "items" };
    await removeFromGroups(tx, await existingRecords(tx, accountTable, members, named), new Set([id]));
  });
}

/**
 * Makes a group the default group, which applies to callers in no other group. Refuses (400) an unknown
 * group, and (403) a group whose rights the caller cannot grant.
 */
export async function makeDefault(ctx: RequestContext, id: number): Promise<Project> {
  requireCapability(ctx.caller, "projectsAcl", "UPDATE");
  await refuseDefaultGroup(ctx, { ids: [id], field: "items" });
  return changeRights(ctx, async (tx) => {
    await existingRecords(tx, groupTable, liveIn(ctx.projectId), { ids: [id], field: "items" });
    return setDefaultGroup(tx, ctx.projectId, id);
  });
}

/**
 * An account or user that loses its only group gets the rights of the default group. Refuses (403) to remove
 * members if the caller could not grant those rights.
 */
async function refuseDefaultRights(ctx: RequestContext, left: readonly Group[]): Promise<void> {
  const byDefault = await ctx.rights.grantsTo(ctx.projectId, { ids: [] });
  if (left.some(({ id }) => byDefault.groupIds.includes(id))) return;
  for (const group of left) {
    const change = { capabilities: byDefault.capabilities, before: capabilitiesIn(group) };
    await ctx.rights.requireGrantable(ctx.caller, { ...change, field: "the default group" });
  }
}

const groupsNow = (ctx: RequestContext, action: Action, named: IdsNamed): Promise<Group[]> =>
  ctx.catalog.read("system", (tx) => live(tx, ctx, action, named));

const inPath = (id: number): IdsNamed => ({ ids: [id], field: "groupId", status: 404 });

/** Groups that are not deleted; groups that the caller may not see count as unknown. */
const live = (tx: CatalogReader, ctx: RequestContext, action: Action, named: IdsNamed): Promise<Group[]> =>
  existingRecords(tx, groupTable, and(liveIn(ctx.projectId), groupsFor(ctx, action)), named);

/**
 * Runs a change of rights, which must leave the project an administrator and applies as soon as it returns.
 */
async function changeRights<Result>(
  ctx: RequestContext,
  change: (tx: CatalogWriter) => Promise<Result>,
): Promise<Result> {
  return ctx.rights.change((tx) =>
    keepAdministered(tx, { projectId: ctx.projectId, nowMs: ctx.system.nowMs() }, () => change(tx)),
  );
}

async function membersOf(
  tx: CatalogReader,
  { projectId }: RequestContext,
  groupIds: readonly number[],
): Promise<Account[]> {
  const filter = and(liveIn(projectId), hasOneOf("groupIds", groupIds));
  const limit = await tx.count(accountTable, filter);
  return tx.find(accountTable, { filter, order: byId, page: { limit } });
}

async function removeFromGroups(
  tx: CatalogWriter,
  accounts: readonly Account[],
  removed: ReadonlySet<number>,
): Promise<void> {
  const after = accounts.map(({ id, groupIds }) => ({
    id,
    groupIds: groupIds.filter((groupId) => !removed.has(groupId)),
  }));
  await tx.setColumns(accountTable, ["groupIds"], after);
}
