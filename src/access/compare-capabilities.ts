// Compares capabilities: whether one set of them covers another, record by record.
import { type Acl, type Action, aclRules, type Capability, type CapabilityScope } from "./capabilities.ts";

/** Each asset with all assets above it. An asset that does not exist is missing. */
export type Ancestors = ReadonlyMap<number, readonly number[]>;

/** The roots of subtrees in these capabilities, whose ancestors `holds` needs. */
export const rootsIn = (capabilities: readonly Capability[]): number[] => [
  ...new Set(capabilities.flatMap(({ scope }) => (scope.kind === "subtrees" ? scope.assetIds : []))),
];

/**
 * Whether `held` covers every action of `wanted` for every record that its scope reaches. The scope `own`
 * means other records for another holder, so that only `all` covers it. An asset that does not exist yet is
 * in no subtree: an id can be guessed before it is given.
 */
export const coversCapability = (
  held: readonly Capability[],
  wanted: Capability,
  ancestors: Ancestors,
): boolean =>
  wanted.actions.every((action) => {
    const scopes = grantedScopes(held, wanted.acl, action);
    return scopes.length > 0 && reaches(scopes, wanted.scope, ancestors);
  });

/** Whether these capabilities allow everything on groups. Such a caller may grant any right. */
export const administersGroups = (held: readonly Capability[]): boolean =>
  aclRules.groupsAcl.actions.every((action) =>
    grantedScopes(held, "groupsAcl", action).some(({ kind }) => kind === "all"),
  );

/** The scopes in which `held` grants this action. */
export const grantedScopes = (held: readonly Capability[], acl: Acl, action: Action): CapabilityScope[] =>
  held.filter((one) => one.acl === acl && one.actions.includes(action)).map(({ scope }) => scope);

function reaches(held: readonly CapabilityScope[], wanted: CapabilityScope, ancestors: Ancestors): boolean {
  if (held.some(({ kind }) => kind === "all")) return true;
  switch (wanted.kind) {
    case "all":
    case "own":
      return false;
    case "ids": {
      const ids = new Set(held.flatMap((scope) => (scope.kind === "ids" ? scope.ids : [])));
      return wanted.ids.every((id) => ids.has(id));
    }
    case "subtrees": {
      const roots = new Set(held.flatMap((scope) => (scope.kind === "subtrees" ? scope.assetIds : [])));
      const isWithin = (id: number) => [id, ...(ancestors.get(id) ?? [])].some((above) => roots.has(above));
      return wanted.assetIds.every(isWithin);
    }
  }
}
