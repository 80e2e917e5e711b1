// Who is asking, and what that caller may do: capabilities as granted, and the filter they put on a question.
import { fail } from "../errors.ts";
import { equals, everything, type Filter, hasOnly, nothing, oneOf, or } from "../query/filter.ts";
import type { ProjectId } from "../storage/catalog.ts";
import { underAsset } from "./asset-subtree.ts";
import type { Acl, Action, Capability, CapabilityScope } from "./capabilities.ts";
import type { Credential } from "./credentials.ts";
import { scopesOf as scopesIn } from "./grantable.ts";

export interface Caller {
  /** Name shown by the login endpoints. */
  readonly user: string;
  /** The account that a key acts for; whoever comes with a token has none. */
  readonly userId?: number;
  /** The groups that the capabilities come from. */
  readonly groupIds: readonly number[];
  readonly projectId: ProjectId;
  /** The project's URL name. */
  readonly project: string;
  readonly capabilities: readonly Capability[];
  /** Absent when the server itself acts for an account. */
  readonly credential?: Credential;
}

/** Refuses (403) a caller who holds `acl` with `action` for no record at all. */
export function requireCapability(caller: Caller, acl: Acl, action: Action): void {
  if (scopesOf(caller, acl, action).length === 0) throw fail("forbidden", { acl, action });
}

/**
 * The records of a resource that the caller may touch with `action`: what any of the caller's capabilities
 * grants. 403 for a caller who may touch none. What belongs to the caller (`own`) only its room can know.
 */
export function scopeOf(caller: Caller, acl: Acl, action: Action): Filter {
  requireCapability(caller, acl, action);
  return united(scopesOf(caller, acl, action));
}

/**
 * The assets that the caller may know of when it comes to records of this kind: those to be read, and those
 * in whose subtrees a capability for such records lies. All others are as if they did not exist.
 */
export function knownAssets(caller: Caller, acl: Acl, action: Action): Filter {
  const spelledOut = scopesOf(caller, acl, action).filter(({ kind }) => kind === "subtrees");
  return united([...scopesOf(caller, "assetsAcl", "READ"), ...spelledOut]);
}

/** The security categories that the caller is a member of. */
export const ownCategories = (caller: Caller): Filter =>
  united(scopesOf(caller, "securityCategoriesAcl", "MEMBEROF"));

/**
 * The records whose security categories, listed in `field`, all have the caller as a member, and all records
 * without categories.
 */
export function membershipOf(caller: Caller, field: string): Filter {
  const scopes = scopesOf(caller, "securityCategoriesAcl", "MEMBEROF");
  if (scopes.some(({ kind }) => kind === "all")) return everything;
  const categoryIds = scopes.flatMap((scope) => (scope.kind === "ids" ? scope.ids : []));
  return or(equals(field, null), hasOnly(field, [...new Set(categoryIds)]));
}

const scopesOf = ({ capabilities }: Caller, acl: Acl, action: Action): CapabilityScope[] =>
  scopesIn(capabilities, acl, action);

function united(scopes: readonly CapabilityScope[]): Filter {
  if (scopes.some(({ kind }) => kind === "all")) return everything;
  const assetIds = new Set(scopes.flatMap((scope) => (scope.kind === "subtrees" ? scope.assetIds : [])));
  const ids = new Set(scopes.flatMap((scope) => (scope.kind === "ids" ? scope.ids : [])));
  return or(
    assetIds.size > 0 ? underAsset([...assetIds]) : nothing,
    ids.size > 0 ? oneOf("id", [...ids]) : nothing,
  );
}

/**
 * As `scopeOf`, for the records of access itself: groups, accounts, keys, security categories. `own` is what
 * belongs to the caller.
 */
export function scopeOrOwn(caller: Caller, [acl, action]: readonly [Acl, Action], own: Filter): Filter {
  const hasOwn = scopesOf(caller, acl, action).some(({ kind }) => kind === "own");
  return or(scopeOf(caller, acl, action), hasOwn ? own : nothing);
}

/** Refuses (403) a caller who may not make new records of `acl`, which belong to nobody yet. */
export function requireUnlimited(caller: Caller, acl: Acl, action: Action): void {
  if (scopeOrOwn(caller, [acl, action], nothing).kind !== "everything")
    throw fail("forbidden", { acl, action });
}
