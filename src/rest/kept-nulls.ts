// Finds the members of a body in which null has a meaning: those whose schema permits null, and all members
// of open data. Every other null counts as absent, because published clients send one for each unset field.
import type { TSchema } from "typebox";
import type { KeptNulls } from "../lib/json-members.ts";
import type { SchemaKeywords } from "./schema-keywords.ts";

export function keptNullsOf(schema: TSchema): KeptNulls {
  const kept = { members: [], within: [] };
  collect(schema, [], kept);
  return kept;
}

interface Paths {
  readonly members: (readonly string[])[];
  readonly within: (readonly string[])[];
}

function collect(schema: SchemaKeywords, names: readonly string[], kept: Paths): void {
  const { properties = {}, items, anyOf = [] } = schema;
  if (anyOf.some(({ type }) => type === "null")) kept.members.push(names);
  if (isOpenData(schema)) kept.within.push(names);
  for (const choice of anyOf) collect(choice, names, kept);
  if (items) collect(items, names, kept);
  for (const [name, member] of Object.entries(properties)) collect(member, [...names, name], kept);
}

/** An object with members of any name and type, none of which the API knows. */
const isOpenData = ({ properties, additionalProperties: values }: SchemaKeywords): boolean =>
  properties === undefined &&
  (values === true || (typeof values === "object" && values.type === undefined && !values.anyOf));
