// The wire format of capabilities: `{"assetsAcl":{"actions":["READ"],"scope":{"all":{}}}}`.
import { Type } from "typebox";
import {
  type Acl,
  type Action,
  aclRules,
  type Capability,
  type CapabilityScope,
} from "../access/capabilities.ts";
import { fail } from "../errors.ts";
import { idField, idInDigits } from "./fields.ts";

type ScopeKind = CapabilityScope["kind"];
type IdsInput = readonly (number | string)[];
interface ScopeInput {
  readonly subtreeIds?: IdsInput;
  readonly ids?: IdsInput;
}

/** Capabilities as sent; the schema below has checked the known members. */
export type CapabilityInput = Readonly<
  Record<
    string,
    { readonly actions: readonly Action[]; readonly scope: Readonly<Record<string, ScopeInput>> }
  >
>;

const acls = Object.keys(aclRules) as Acl[];
const scopeKindsOf = (acl: Acl): readonly ScopeKind[] => aclRules[acl].scopes;
const scopeName = {
  all: "all",
  own: "currentuserscope",
  subtrees: "assetIdScope",
  ids: "idscope",
} as const satisfies Record<ScopeKind, string>;

const idsInputSchema = (description: string) =>
  Type.Array(Type.Union([idField("An id"), idInDigits]), { description });
const idsSchema = (description: string) => Type.Array(Type.String(), { description });

const scopesWith = (ids: typeof idsInputSchema | typeof idsSchema) => ({
  all: Type.Object({}, { description: "Everything" }),
  own: Type.Object({}, { description: "The caller's own records" }),
  subtrees: Type.Object({ subtreeIds: ids("Assets: records in or linked to their subtrees") }),
  ids: Type.Object({ ids: ids("Only these records") }),
});

const scopeInputSchema = scopesWith(idsInputSchema);
const scopeSchema = scopesWith(idsSchema);

/** One member for each type of capability. `others` describes how unknown types and scopes are treated. */
const capabilityWith = (
  scopes: typeof scopeInputSchema | typeof scopeSchema,
  { title, ...others }: { title: string; additionalProperties?: boolean },
) =>
  Type.Object(
    Object.fromEntries(
      acls.map((acl) => {
        const known = scopeKindsOf(acl).map((kind) => [scopeName[kind], Type.Optional(scopes[kind])]);
        const actions = Type.Array(Type.Enum<Action[]>([...aclRules[acl].actions]), { minItems: 1 });
        const scope = Type.Object(Object.fromEntries(known), { description: "One of these", ...others });
        return [acl, Type.Optional(Type.Object({ actions, scope }))];
      }),
    ),
    { title, ...others },
  );

/**
 * Allows other members in the schema: `capabilitiesFrom` refuses unknown types and scopes, because rights
 * must never be ignored.
 */
export const capabilityField = Type.Unsafe<CapabilityInput>(
  capabilityWith(scopeInputSchema, { title: "NewCapability", additionalProperties: true }),
);
export const capabilitySchema = capabilityWith(scopeSchema, { title: "Capability" });

/** Reads the capabilities in one object, which may contain several types. */
export function capabilitiesFrom(sent: CapabilityInput, field: string): Capability[] {
  const types = Object.keys(sent);
  if (types.length === 0) throw refusal(field, acls, "none");
  return types.map((type) => {
    const acl = acls.find((one) => one === type);
    if (!acl) throw refusal(field, acls, type);
    const { actions, scope } = sent[type]!;
    return { acl, actions: [...new Set(actions)], scope: scopeFrom(acl, scope, `${field}.${type}.scope`) };
  });
}

function scopeFrom(acl: Acl, sent: Readonly<Record<string, ScopeInput>>, field: string): CapabilityScope {
  const allowed = scopeKindsOf(acl);
  const names = Object.keys(sent);
  const kind = allowed.find((one) => scopeName[one] === names[0]);
  if (!kind || names.length > 1)
    throw refusal(
      field,
      allowed.map((one) => scopeName[one]),
      names.join(" and ") || "none",
    );
  const { subtreeIds = [], ids = [] } = sent[names[0]!]!;
  if (kind === "subtrees") return { kind, assetIds: idsFrom(subtreeIds) };
  return kind === "ids" ? { kind, ids: idsFrom(ids) } : { kind };
}

const refusal = (field: string, allowed: readonly string[], got: string) =>
  fail("field-invalid", {
    field,
    expected: allowed.length === 1 ? allowed[0]! : `one of ${allowed.join(", ")}`,
    got,
  });

const idsFrom = (sent: IdsInput): number[] => [...new Set(sent.map(Number))];

/**
 * Writes a capability in the form that `capabilitiesFrom` reads; ids are strings
 * (docs/access.md#capabilities).
 */
export const capabilityOf = ({ acl, actions, scope }: Capability) => ({
  [acl]: { actions, scope: { [scopeName[scope.kind]]: scopeJson(scope) } },
});

function scopeJson(scope: CapabilityScope) {
  if (scope.kind === "subtrees") return { subtreeIds: scope.assetIds.map(String) };
  return scope.kind === "ids" ? { ids: scope.ids.map(String) } : {};
}
