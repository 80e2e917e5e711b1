// Finds the free-form pairs of a body, such as metadata: numbers and booleans in them become strings.
import type { TSchema } from "typebox";
import type { TextPlace } from "../lib/json-members.ts";

/** The keywords of a schema that lead to pairs. */
interface Shape extends TSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly additionalProperties?: boolean | Shape;
}

/** The places of all pairs in values of a schema. */
export function textPlacesOf(schema: TSchema, names: readonly string[] = []): TextPlace[] {
  const { properties = {}, items, anyOf = [] } = schema as Shape;
  if (isPairs(schema)) return [{ names }];
  // A PATCH takes pairs or a change of pairs in one place.
  const hasChange = anyOf.some((one) => one.properties);
  return [
    ...anyOf.flatMap((one) =>
      hasChange && isPairs(one) ? [{ names, except: isChangeOfPairs }] : textPlacesOf(one, names),
    ),
    ...(items ? textPlacesOf(items, names) : []),
    ...Object.entries(properties).flatMap(([name, member]) => textPlacesOf(member, [...names, name])),
  ];
}

const isPairs = ({ additionalProperties: values }: Shape): boolean =>
  typeof values === "object" && values.type === "string";

/** Tells `{"set":{...}}` and the like from pairs: a change has no member that is a string or a number. */
export const isChangeOfPairs = (members: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(members).some((name) => changeMembers.has(name)) &&
  Object.values(members).every((value) => typeof value !== "string" && typeof value !== "number");

const changeMembers: ReadonlySet<string> = new Set(["set", "setNull", "add", "remove"]);
