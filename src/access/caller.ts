// The caller of a request, and the filters that the caller's capabilities add to queries.
import { fail } from "../errors.ts";
import { equals, everything, type Filter, hasOnly, nothing, oneOf, or } from "../query/filter.ts";
import type { ProjectId } from "../storage/catalog.ts";
import { underAsset } from "./asset-subtree.ts";
import type { Acl, Action, Capability, CapabilityScope } from "./capabilities.ts";
import type { Credential } from "./credentials.ts";
import { administersGroups, scopesOf as scopesIn } from "./grantable.ts";

export interface Caller {
  /** Name shown by the login endpoints. */
  readonly user: string;
  /** The account of the key; absent for a caller with a token. */
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

/** Whether the caller holds `acl` with `action` in any scope. */
export const holdsCapability = (caller: Caller, acl: Acl, action: Action): boolean =>
  scopesOf(caller, acl, action).length > 0;

/** Refuses (403) a caller who holds `acl` with `action` for no record at all. */
export function requireCapability(caller: Caller, acl: Acl, action: Action): void {
  if (!holdsCapability(caller, acl, action)) throw fail("forbidden", { acl, action });
}

/** Refuses (403) a caller that does not administer groups; only such a caller can grant every right. */
export function requireAdministrator(caller: Caller, purpose: string): void {
  if (!administersGroups(caller.capabilities)) throw fail("administrators-only", { purpose });
}

/**
 * Returns a filter for the records of a resource on which the caller may do `action`: the union of the
 * caller's capabilities. Refuses (403) a caller without any. Does not cover the scope `own`; see
 * `scopeOrOwn`.
 */
export function scopeOf(caller: Caller, acl: Acl, action: Action): Filter {
  requireCapability(caller, acl, action);
  return united(scopesOf(caller, acl, action));
}

/**
 * Returns a filter for the assets that responses about records of this kind may reveal: the assets that the
 * caller may read, and the subtrees to which a capability for such records is limited. To the caller, other
 * assets do not exist.
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

/**
 * Refuses (403) a caller whose capabilities are limited: a new record of `acl` is in no limited scope yet.
 */
export function requireUnlimited(caller: Caller, acl: Acl, action: Action): void {
  if (scopeOrOwn(caller, [acl, action], nothing).kind !== "everything")
    throw fail("forbidden", { acl, action });
}
