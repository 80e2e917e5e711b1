// Finds the free-form pairs of a body, such as metadata: numbers and booleans in them become strings.
import type { TSchema } from "typebox";
import type { PairsPath } from "../lib/json-members.ts";
import type { SchemaKeywords } from "./schema-keywords.ts";

/** The paths of all pairs in values of a schema. */
export function pairsPathsOf(schema: TSchema, names: readonly string[] = []): PairsPath[] {
  const { properties = {}, items, anyOf = [] } = schema as SchemaKeywords;
  if (isPairs(schema)) return [{ names }];
  // A PATCH accepts pairs or a change of pairs as the same member.
  const hasChange = anyOf.some((choice) => choice.properties);
  return [
    ...anyOf.flatMap((choice) =>
      hasChange && isPairs(choice) ? [{ names, except: isChangeOfPairs }] : pairsPathsOf(choice, names),
    ),
    ...(items ? pairsPathsOf(items, names) : []),
    ...Object.entries(properties).flatMap(([name, member]) => pairsPathsOf(member, [...names, name])),
  ];
}

const isPairs = ({ additionalProperties: values }: SchemaKeywords): boolean =>
  typeof values === "object" && values.type === "string";

/** Distinguishes a change such as `{"set":{...}}` from pairs: no member of a change is a string or number. */
export const isChangeOfPairs = (members: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(members).some((name) => changeMembers.has(name)) &&
  Object.values(members).every((value) => typeof value !== "string" && typeof value !== "number");

const changeMembers: ReadonlySet<string> = new Set(["set", "setNull", "add", "remove"]);
