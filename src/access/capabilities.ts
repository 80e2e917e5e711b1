// The closed table of rights: the actions and scopes of each type of capability
// (docs/access.md#capabilities).

/** The actions and scopes that one kind of capability can grant. */
interface AclRule {
  readonly actions: readonly string[];
  readonly scopes: readonly ScopeKind[];
}

type ScopeKind = CapabilityScope["kind"];

/** The records that a capability covers. */
export type CapabilityScope =
  | { readonly kind: "all" }
  /** The records of the caller: own groups, own account, own keys. */
  | { readonly kind: "own" }
  /** Assets in these subtrees, roots included, and records that are linked to them. */
  | { readonly kind: "subtrees"; readonly assetIds: readonly number[] }
  /** These records alone: the security categories of which one is a member. */
  | { readonly kind: "ids"; readonly ids: readonly number[] };

const readWrite = ["READ", "WRITE"] as const;
const everywhere = ["all"] as const;
/** Rights on resources with links to assets can be granted by subtree. */
const bySubtree = ["all", "subtrees"] as const;
const orOwn = ["all", "own"] as const;

export const aclRules = {
  groupsAcl: { actions: ["LIST", "READ", "CREATE", "UPDATE", "DELETE"], scopes: orOwn },
  usersAcl: { actions: ["LIST", "CREATE", "DELETE"], scopes: orOwn },
  apikeysAcl: { actions: ["LIST", "CREATE", "DELETE"], scopes: orOwn },
  securityCategoriesAcl: {
    actions: ["MEMBEROF", "LIST", "CREATE", "DELETE"],
    scopes: ["all", "ids"],
  },
  auditAcl: { actions: ["READ"], scopes: everywhere },
  projectsAcl: { actions: ["LIST", "READ", "CREATE", "UPDATE"], scopes: everywhere },
  assetsAcl: { actions: readWrite, scopes: bySubtree },
  timeSeriesAcl: { actions: readWrite, scopes: bySubtree },
  eventsAcl: { actions: readWrite, scopes: bySubtree },
  filesAcl: { actions: readWrite, scopes: bySubtree },
  sequencesAcl: { actions: readWrite, scopes: bySubtree },
  relationshipsAcl: { actions: readWrite, scopes: everywhere },
  rawAcl: { actions: ["READ", "WRITE", "LIST"], scopes: everywhere },
  suggestionsAcl: { actions: readWrite, scopes: everywhere },
  trendsAcl: { actions: readWrite, scopes: everywhere },
  connectorsAcl: { actions: readWrite, scopes: everywhere },
  transformationsAcl: { actions: readWrite, scopes: everywhere },
  modelHostingAcl: { actions: readWrite, scopes: everywhere },
  threedAcl: { actions: ["READ", "CREATE", "UPDATE", "DELETE"], scopes: everywhere },
  analyticsAcl: { actions: ["READ", "EXECUTE", "LIST"], scopes: everywhere },
} as const satisfies Readonly<Record<string, AclRule>>;

export type Acl = keyof typeof aclRules;
export type Action = (typeof aclRules)[Acl]["actions"][number];

/** One granted right. */
export interface Capability {
  readonly acl: Acl;
  readonly actions: readonly Action[];
  readonly scope: CapabilityScope;
}

/** Every right there is, without bounds. */
export const administrator: readonly Capability[] = (Object.keys(aclRules) as Acl[]).map((acl) => ({
  acl,
  actions: aclRules[acl].actions,
  scope: { kind: "all" },
}));

/** The scopes in which `granted` allows this action. */
export function grantedScopes(granted: readonly Capability[], acl: Acl, action: Action): CapabilityScope[] {
  const scopes: CapabilityScope[] = [];
  // A loop, as each request does this several times.
  for (const one of granted) if (one.acl === acl && one.actions.includes(action)) scopes.push(one.scope);
  return scopes;
}
