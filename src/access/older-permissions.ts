// The older form of rights of a group, without capabilities, and the capabilities that it means.
import {
  type Acl,
  type Action,
  aclRules,
  administrator,
  type Capability,
  type CapabilityScope,
} from "./capabilities.ts";

export const accessTypes = ["READ", "WRITE", "ADMIN", "RAW_READ"] as const;
type AccessType = (typeof accessTypes)[number];

/** The older form of rights (docs/access.md#older-permissions). */
export interface Permissions {
  readonly accessTypes?: readonly AccessType[];
  /** Roots of the subtrees that READ and WRITE are limited to; none or an empty list is no limit. */
  readonly assetIds?: readonly number[];
  /** The security categories that one is a member of. */
  readonly securityCategoryIds?: readonly number[];
}

/** Whether READ and WRITE grant a resource: those with data, but none of the administration. */
const isData: Readonly<Record<Acl, boolean>> = {
  groupsAcl: false,
  usersAcl: false,
  apikeysAcl: false,
  securityCategoriesAcl: false,
  auditAcl: false,
  projectsAcl: false,
  assetsAcl: true,
  timeSeriesAcl: true,
  eventsAcl: true,
  filesAcl: true,
  sequencesAcl: true,
  relationshipsAcl: true,
  rawAcl: true,
  suggestionsAcl: true,
  trendsAcl: true,
  connectorsAcl: true,
  transformationsAcl: true,
  modelHostingAcl: true,
  threedAcl: true,
  analyticsAcl: true,
};

/** The actions of each access type on resources with data. `capabilitiesOf` handles ADMIN and RAW_READ. */
const meaning: Readonly<Partial<Record<AccessType, readonly Action[]>>> = {
  READ: ["READ", "LIST"],
  WRITE: ["WRITE", "CREATE", "UPDATE", "DELETE", "EXECUTE"],
};

/**
 * Returns the capabilities that the permissions mean. Those that are limited to assets grant nothing on
 * resources without links to assets.
 */
export function capabilitiesOf(permissions: Permissions): Capability[] {
  const { accessTypes: types = [], assetIds = [], securityCategoryIds: ids = [] } = permissions;
  if (types.includes("ADMIN")) return [...administrator];
  const scope: CapabilityScope = assetIds.length > 0 ? { kind: "subtrees", assetIds } : { kind: "all" };
  const wanted = types.flatMap((type) => meaning[type] ?? []);
  const resources = (Object.keys(aclRules) as Acl[]).filter((acl) => isData[acl]);
  const granted = resources.flatMap((acl): Capability[] => {
    const rule: { readonly actions: readonly Action[]; readonly scopes: readonly string[] } = aclRules[acl];
    const isRaw = acl === "rawAcl";
    const actions = rule.actions.filter(
      (action) => wanted.includes(action) && (!isRaw || action === "WRITE"),
    );
    return actions.length > 0 && rule.scopes.includes(scope.kind) ? [{ acl, actions, scope }] : [];
  });
  if (types.includes("RAW_READ"))
    granted.push({ acl: "rawAcl", actions: ["READ", "LIST"], scope: { kind: "all" } });
  if (ids.length > 0)
    granted.push({ acl: "securityCategoriesAcl", actions: ["MEMBEROF"], scope: { kind: "ids", ids } });
  return granted;
}
