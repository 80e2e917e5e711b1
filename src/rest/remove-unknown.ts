// Removes members that the schema does not name from a checked body, so that no handler sees them.
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";
import { invariant } from "../lib/invariant.ts";
import type { SchemaKeywords } from "./schema-keywords.ts";

/** Returns its argument, or a copy without unknown members if there are any. Lists change in place. */
export type RemoveUnknown = (value: unknown) => unknown;

type Members = Record<string, unknown>;

/**
 * Creates the function for values that satisfy `schema`; undefined if they have no unknown members.
 * A schema with `additionalProperties` is open: it keeps all members and applies that schema to each.
 */
export function removerOfUnknown(schema: TSchema): RemoveUnknown | undefined {
  const { type, items, anyOf } = schema as SchemaKeywords;
  invariant(!("allOf" in schema || "patternProperties" in schema), "a body has one schema for each member");
  if (anyOf) return ofChoice(anyOf);
  if (type === "array") return items && ofList(items);
  return type === "object" ? ofObject(schema as SchemaKeywords) : undefined;
}

function ofList(items: TSchema): RemoveUnknown | undefined {
  const removeUnknown = removerOfUnknown(items);
  if (!removeUnknown) return undefined;
  return (value) => {
    const list = value as unknown[];
    for (let at = 0; at < list.length; at++) list[at] = removeUnknown(list[at]);
    return list;
  };
}

function ofObject({ properties = {}, additionalProperties }: SchemaKeywords): RemoveUnknown | undefined {
  const names = new Set(Object.keys(properties));
  const inner = new Map(
    Object.entries(properties).flatMap(([name, schema]) => {
      const removeUnknown = removerOfUnknown(schema);
      return removeUnknown ? [[name, removeUnknown]] : [];
    }),
  );
  const ofOthers =
    typeof additionalProperties === "object" ? removerOfUnknown(additionalProperties) : undefined;
  const hasUnknown = additionalProperties === undefined;
  if (!hasUnknown && inner.size === 0 && !ofOthers) return undefined;
  return (value) => {
    const members = hasUnknown ? withNames(value as Members, names) : (value as Members);
    for (const [name, removeUnknown] of inner)
      if (Object.hasOwn(members, name)) members[name] = removeUnknown(members[name]);
    if (ofOthers) for (const name in members) if (!names.has(name)) members[name] = ofOthers(members[name]);
    return members;
  };
}

/** Copies the known members: deleting the others is slow, there may be a million. */
function withNames(value: Members, names: ReadonlySet<string>): Members {
  for (const name in value) {
    if (names.has(name)) continue;
    const members: Members = {};
    for (const known of names) if (Object.hasOwn(value, known)) members[known] = value[known];
    return members;
  }
  return value;
}

/** Of several alternatives for one type of value, the first that accepts the value decides. */
function ofChoice(alternatives: readonly TSchema[]): RemoveUnknown | undefined {
  const choices = alternatives.map((schema) => {
    let validator: ReturnType<typeof Compile> | undefined;
    const accepts = (value: unknown) => {
      validator ??= Compile(schema);
      return validator.Check(value);
    };
    return { type: (schema as SchemaKeywords).type, removeUnknown: removerOfUnknown(schema), accepts };
  });
  if (choices.every(({ removeUnknown }) => !removeUnknown)) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    const type = Array.isArray(value) ? "array" : "object";
    const possible = choices.filter((choice) => choice.type === undefined || choice.type === type);
    const chosen = possible.length === 1 ? possible[0] : possible.find(({ accepts }) => accepts(value));
    return chosen?.removeUnknown ? chosen.removeUnknown(value) : value;
  };
}
