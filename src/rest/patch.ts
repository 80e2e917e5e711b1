// The bodies of PATCH: each member is a change, such as `{"set":5}`, or plainly the new value.
import { type TSchema, Type } from "typebox";
import { changeObject } from "./fields.ts";
import { isChangeOfPairs } from "./text-places.ts";

/** `changes` has the schemas of the changes, `plain` those of the values. */
export const patchBody = (
  changes: Readonly<Record<string, TSchema>>,
  plain: Readonly<Record<string, TSchema>>,
) => {
  const members = Object.entries(changes).map(([name, change]) => {
    const value = plain[name];
    const { anyOf = [change] } = change as { readonly anyOf?: readonly TSchema[] };
    return [name, Type.Optional(value ? Type.Union([value, ...anyOf]) : change)];
  });
  const schema = changeObject(Object.fromEntries(members));
  return { kind: "json", schema, changes: changeObject(changes), nulls: "kept" } as const;
};

/** The change object that the body of a PATCH stands for: a plain value sets its member. */
export const changesOfPatch = (sent: unknown): unknown =>
  isObject(sent)
    ? Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, changeOf(name, value)]))
    : sent;

const changeOf = (name: string, value: unknown): unknown => {
  if (name === "id" || value === null) return value;
  const isChange = isObject(value) && (name !== "metadata" || isChangeOfPairs(value));
  return isChange ? value : { set: value };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
