// Compares capabilities: whether a set of them covers another one, action by action and scope by scope.
import { aclRules, type Capability, type CapabilityScope, grantedScopes } from "./capabilities.ts";

/** Each asset with all assets above it. An asset that does not exist is missing. */
export type Ancestors = ReadonlyMap<number, readonly number[]>;

/** The roots of subtrees in these capabilities. `coversCapability` needs their ancestors. */
export const rootsIn = (capabilities: readonly Capability[]): number[] => [
  ...new Set(capabilities.flatMap(({ scope }) => (scope.kind === "subtrees" ? scope.assetIds : []))),
];

/**
 * Whether `granted` covers every action of `required` for every record in its scope. Only `all` covers the
 * scope `own`, because `own` means other records for another caller. An asset that does not exist is in no
 * subtree, because its id can be guessed before it is used.
 */
export const coversCapability = (
  granted: readonly Capability[],
  required: Capability,
  ancestors: Ancestors,
): boolean =>
  required.actions.every((action) => {
    const scopes = grantedScopes(granted, required.acl, action);
    return scopes.length > 0 && coverScope(scopes, required.scope, ancestors);
  });

/** Whether these capabilities allow everything on groups. Such a caller may grant any right. */
export const administersGroups = (granted: readonly Capability[]): boolean =>
  aclRules.groupsAcl.actions.every((action) =>
    grantedScopes(granted, "groupsAcl", action).some(({ kind }) => kind === "all"),
  );

function coverScope(
  scopes: readonly CapabilityScope[],
  required: CapabilityScope,
  ancestors: Ancestors,
): boolean {
  if (scopes.some(({ kind }) => kind === "all")) return true;
  switch (required.kind) {
    case "all":
    case "own":
      return false;
    case "ids": {
      const ids = new Set(scopes.flatMap((scope) => (scope.kind === "ids" ? scope.ids : [])));
      return required.ids.every((id) => ids.has(id));
    }
    case "subtrees": {
      const roots = new Set(scopes.flatMap((scope) => (scope.kind === "subtrees" ? scope.assetIds : [])));
      const isWithin = (id: number) => [id, ...(ancestors.get(id) ?? [])].some((above) => roots.has(above));
      return required.assetIds.every(isWithin);
    }
  }
}
