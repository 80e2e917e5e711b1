// Projects: all other records belong to a project. The first start of the server creates one.
import { type Caller, permittedRecords } from "../../access/caller.ts";
import { administersGroups } from "../../access/compare-capabilities.ts";
import { madeWith, originOf, revokeKeys } from "../../access/credentials.ts";
import type { LoginProject } from "../../access/login-directory.ts";
import {
  type Authentication,
  checkAuthentication,
  type Provider,
  providerOf,
} from "../../access/provider.ts";
import { capabilitiesIn, liveIn } from "../../access/rights.ts";
import { groupTable } from "../../access/schema.ts";
import type { RequestContext, Services } from "../../context.ts";
import { fail } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { and, equals, everything } from "../../query/filter.ts";
import { byId } from "../../query/page.ts";
import type { CatalogReader, CatalogWriter, ProjectId } from "../../storage/catalog.ts";
import { existingRecords, type IdsNamed } from "../../storage/existing-records.ts";
import { type Project, projectTable } from "./schema.ts";

export type { Project } from "./schema.ts";

/** The members of a project that a caller can set. Absent members are cleared, except secrets. */
export interface ProjectContent {
  readonly name: string;
  readonly urlName?: string;
  readonly defaultGroupId?: number;
  readonly authentication?: Authentication;
}

/** Reads the project of the request. */
export function readProject(ctx: RequestContext): Promise<Project> {
  return ctx.catalog.read("system", (tx) => projectWith(tx, ctx.projectId));
}

/**
 * Overwrites the project of the request; its `urlName` cannot change. Refuses (400) an unknown default
 * group, and (403) a default group whose rights the caller cannot grant. The identity provider decides
 * about group memberships, so only a caller that administers groups can change it (403).
 */
export async function replaceProject(ctx: RequestContext, content: ProjectContent): Promise<Project> {
  permittedRecords(ctx.caller, "projectsAcl", "UPDATE");
  const { urlName, ...rest } = content;
  if (urlName !== undefined && urlName !== ctx.caller.projectUrlName)
    throw fail("field-invalid", {
      field: "items[0].urlName",
      expected: `${ctx.caller.projectUrlName}, which cannot change,`,
      got: urlName,
    });
  if (rest.authentication) checkAuthentication(rest.authentication, "items[0].authentication");
  const { defaultGroupId } = rest;
  if (defaultGroupId !== undefined)
    await refuseDefaultGroup(ctx, { ids: [defaultGroupId], field: "items[0].defaultGroupId" });
  const nowMs = ctx.system.nowMs();
  return ctx.rights.change(async (tx) => {
    const { authentication: old, ...before } = await projectWith(tx, ctx.projectId);
    const after: Project = {
      id: before.id,
      urlName: before.urlName,
      createdTime: before.createdTime,
      lastUpdatedTime: nowMs,
      ...rest,
      ...(rest.authentication && { authentication: withSecretsOf(old, rest.authentication) }),
    };
    refuseProvider(ctx.caller, providerOf(old), providerOf(after.authentication));
    await tx.replace(projectTable, [after]);
    await revokeKeysOf(tx, { id: after.id, old, next: after.authentication }, nowMs);
    return after;
  });
}

function refuseProvider({ capabilities }: Caller, old: Provider | undefined, next: Provider | undefined) {
  const isAnother = next !== undefined && JSON.stringify(next) !== JSON.stringify(old);
  if (isAnother && !administersGroups(capabilities)) throw fail("provider-administration", {});
}

/**
 * Refuses (400) an unknown default group, and (403) one whose rights the caller cannot grant. The current
 * default group is always allowed.
 */
export async function refuseDefaultGroup(ctx: RequestContext, named: IdsNamed): Promise<void> {
  const [group] = await ctx.catalog.read("system", (tx) =>
    existingRecords(tx, groupTable, liveIn(ctx.projectId), named),
  );
  const { groupIds } = await ctx.rights.grantsTo(ctx.projectId, { ids: [] });
  if (groupIds.includes(group!.id)) return;
  const { field } = named;
  await ctx.rights.requireGrantable(ctx.caller, { capabilities: capabilitiesIn(group!), field });
}

/** Sets or clears the default group. */
export async function setDefaultGroup(
  tx: CatalogWriter,
  projectId: ProjectId,
  groupId?: number,
): Promise<Project> {
  const { defaultGroupId: _, ...rest } = await projectWith(tx, projectId);
  const after = { ...rest, ...(groupId !== undefined && { defaultGroupId: groupId }) };
  await tx.setColumns(projectTable, ["defaultGroupId"], [after]);
  return after;
}

/** The default group, which applies to callers in no other group. */
export const defaultGroupOf = async (tx: CatalogReader, projectId: ProjectId): Promise<number | undefined> =>
  (await tx.get(projectTable, [projectId]))[0]?.defaultGroupId;

/** Sets who may log in to a project, including secrets. */
export async function setAuthentication(
  { rights, system }: Pick<Services, "rights" | "system">,
  projectId: ProjectId,
  authentication: Authentication,
): Promise<void> {
  const nowMs = system.nowMs();
  const changed = { id: projectId, authentication, lastUpdatedTime: nowMs };
  await rights.change(async (tx) => {
    const { authentication: old } = await projectWith(tx, projectId);
    await tx.setColumns(projectTable, ["authentication", "lastUpdatedTime"], [changed]);
    await revokeKeysOf(tx, { id: projectId, old, next: authentication }, nowMs);
  });
}

interface ProviderChange {
  readonly id: ProjectId;
  readonly old: Authentication | undefined;
  readonly next: Authentication | undefined;
}

/**
 * Revokes the keys that were created with tokens of the old provider if a project changes its provider.
 */
async function revokeKeysOf(
  tx: CatalogWriter,
  { id, old, next }: ProviderChange,
  nowMs: number,
): Promise<void> {
  const issuer = providerOf(old)?.issuer;
  if (issuer === undefined || issuer === providerOf(next)?.issuer) return;
  const made = and(equals("projectId", id), madeWith([originOf.provider(issuer)]));
  await revokeKeys(tx, made, nowMs);
}

/** The project with this URL name, created if it does not exist; `isNew` tells whether it was. */
export async function ensureProject(
  services: Pick<Services, "rights" | "ids" | "system">,
  urlName: string,
): Promise<{ project: Project; isNew: boolean }> {
  const { rights, ids, system } = services;
  return rights.change(async (tx) => {
    const known = await byUrlName(tx, urlName);
    if (known) return { project: known, isNew: false };
    const nowMs = system.nowMs();
    const project: Project = {
      id: ids.next(),
      name: urlName,
      urlName,
      createdTime: nowMs,
      lastUpdatedTime: nowMs,
    };
    await tx.insert(projectTable, [project]);
    return { project, isNew: true };
  });
}

/** The project with this URL name, or undefined. */
export async function byUrlName(tx: CatalogReader, urlName: string): Promise<Project | undefined> {
  const [found] = await tx.find(projectTable, {
    filter: equals("urlName", urlName),
    order: byId,
    page: { limit: 1 },
  });
  return found;
}

/** All projects of the installation, oldest first. */
export async function allProjects(tx: CatalogReader): Promise<Project[]> {
  const limit = await tx.count(projectTable, everything);
  return tx.find(projectTable, { filter: everything, order: byId, page: { limit } });
}

/** The ids of all projects. */
export async function projectIds({ catalog }: Pick<Services, "catalog">): Promise<ProjectId[]> {
  return (await catalog.read("system", allProjects)).map(({ id }) => id);
}

/** All projects with their identity providers, oldest first. */
export async function loginProjects({ catalog }: Pick<Services, "catalog">): Promise<LoginProject[]> {
  return (await catalog.read("system", allProjects)).map(({ id, urlName, authentication }) => ({
    id,
    urlName,
    provider: providerOf(authentication),
  }));
}

async function projectWith(tx: CatalogReader, id: number): Promise<Project> {
  const [found] = await tx.get(projectTable, [id]);
  invariant(found !== undefined, "the project of a caller exists");
  return found;
}

/** Members that are never returned, so a client that overwrites the record that it read cannot send them. */
const secrets = [
  ["azureADConfiguration", "appSecret"],
  ["oAuth2Configuration", "clientSecret"],
] as const;

/** Secrets stay only with the same provider: another issuer must not receive them. */
function withSecretsOf(old: Authentication | undefined, content: Authentication): Authentication {
  if (providerOf(old)?.issuer !== providerOf(content)?.issuer) return content;
  const merged: Record<string, unknown> = { ...content };
  for (const [part, secret] of secrets) {
    const oldSecret = old?.[part]?.[secret];
    if (content[part] && oldSecret !== undefined) merged[part] = { [secret]: oldSecret, ...content[part] };
  }
  return merged;
}

/** Who may log in, without secrets. */
export function withoutSecrets(authentication: Authentication): Authentication {
  const shown: Record<string, unknown> = { ...authentication };
  for (const [part, secret] of secrets) {
    if (!authentication[part]) continue;
    const { [secret]: _, ...rest } = authentication[part];
    shown[part] = rest;
  }
  return shown;
}
