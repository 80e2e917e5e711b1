// The caller of a request, and the operations and records that its capabilities permit.
//
// The route requires a capability (`requireCapability`, 403). Each query of a resource then contains the
// filter `permittedRecords`, so that a record outside of it looks missing. A write checks its result against
// the same filter.
//
// | Subject | File |
// |---|---|
// | the permissions of a capability | this file; the table of capabilities in `capabilities.ts` |
// | which capabilities a caller has | `rights.ts`: combines groups, caches, counts changes of rights |
// | whether a written record is permitted | `refuse-not-permitted.ts` |
// | which subtrees a client's own filter may name | `resources/assets/links.ts` |
// | when cached access to records is out of date | `generations.ts` |
import { fail } from "../errors.ts";
import { equals, everything, type Filter, hasOnly, nothing, oneOf, or } from "../query/filter.ts";
import type { ProjectId } from "../storage/catalog.ts";
import { underAsset } from "./asset-subtree.ts";
import {
  type Acl,
  type Action,
  type Capability,
  type CapabilityScope,
  grantedScopes,
} from "./capabilities.ts";
import { administersGroups } from "./compare-capabilities.ts";
import type { Credential } from "./credentials.ts";
import type { KeyLimits } from "./key-limits.ts";

export interface Caller {
  /** Name shown by the login endpoints. */
  readonly user: string;
  /** The account of the key; absent for a caller with a token. */
  readonly userId?: number;
  /** The groups that the capabilities come from. */
  readonly groupIds: readonly number[];
  readonly projectId: ProjectId;
  /** The project's URL name. */
  readonly projectUrlName: string;
  readonly capabilities: readonly Capability[];
  /** Absent when the server itself acts for an account. */
  readonly credential?: Credential;
  /** Of the key, if it has any. */
  readonly keyLimits?: KeyLimits;
}

/** Whether the caller has a capability `acl` with `action`, whatever its scope. */
export const hasCapability = (caller: Caller, acl: Acl, action: Action): boolean =>
  grantedScopes(caller.capabilities, acl, action).length > 0;

/** Refuses (403) a caller without a capability `acl` with `action`. */
export function requireCapability(caller: Caller, acl: Acl, action: Action): void {
  if (!hasCapability(caller, acl, action)) throw fail("forbidden", { acl, action });
}

/** Refuses (403) a caller that does not administer groups; only such a caller can grant every right. */
export function requireAdministrator(caller: Caller, purpose: string): void {
  if (!administersGroups(caller.capabilities)) throw fail("administrators-only", { purpose });
}

/**
 * Returns a filter for the records of a resource on which the caller may do `action`: the union of the
 * scopes of the caller's capabilities. Refuses (403) a caller without any. Omits the scope `own`; see
 * `permittedOrOwn`.
 */
export function permittedRecords(caller: Caller, acl: Acl, action: Action): Filter {
  const scopes = grantedScopes(caller.capabilities, acl, action);
  if (scopes.length === 0) throw fail("forbidden", { acl, action });
  return united(scopes);
}

/**
 * Returns a filter for the assets that responses about records of this kind may reveal: the assets that the
 * caller may read, and the subtrees to which a capability for such records is limited. To the caller, other
 * assets do not exist.
 */
export function visibleAssets(caller: Caller, acl: Acl, action: Action): Filter {
  const subtreeScopes = grantedScopes(caller.capabilities, acl, action).filter(
    ({ kind }) => kind === "subtrees",
  );
  return united([...grantedScopes(caller.capabilities, "assetsAcl", "READ"), ...subtreeScopes]);
}

/** A filter for the security categories that the caller is a member of. */
export const memberCategories = (caller: Caller): Filter =>
  united(grantedScopes(caller.capabilities, "securityCategoriesAcl", "MEMBEROF"));

/**
 * Returns a filter for the records whose security categories, listed in `field`, all have the caller as a
 * member, and for all records without categories.
 */
export function permittedByCategories(caller: Caller, field: string): Filter {
  const scopes = grantedScopes(caller.capabilities, "securityCategoriesAcl", "MEMBEROF");
  if (scopes.some(({ kind }) => kind === "all")) return everything;
  const categoryIds = scopes.flatMap((scope) => (scope.kind === "ids" ? scope.ids : []));
  return or(equals(field, null), hasOnly(field, [...new Set(categoryIds)]));
}

/** Returns a filter for the union of the scopes, without the scope `own`. */
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
 * As `permittedRecords`, for groups, accounts, keys and security categories. `own` is the filter of the scope
 * `own`.
 */
export function permittedOrOwn(caller: Caller, [acl, action]: readonly [Acl, Action], own: Filter): Filter {
  const hasOwn = grantedScopes(caller.capabilities, acl, action).some(({ kind }) => kind === "own");
  return or(permittedRecords(caller, acl, action), hasOwn ? own : nothing);
}

/**
 * Refuses (403) a caller whose scopes are limited: a limited scope does not contain a new record of `acl`.
 */
export function requireUnlimited(caller: Caller, acl: Acl, action: Action): void {
  if (permittedOrOwn(caller, [acl, action], nothing).kind !== "everything")
    throw fail("forbidden", { acl, action });
}
