// The bodies of PATCH: each member is a change, such as `{"set":5}`, or the new value itself.
import { type TSchema, Type } from "typebox";
import { changeObject } from "./fields.ts";
import { isChangeOfPairs } from "./pairs-paths.ts";

/** The schema of a PATCH body: `changes` has the schemas of the changes, `values` those of the values. */
export const patchBody = (
  changes: Readonly<Record<string, TSchema>>,
  values: Readonly<Record<string, TSchema>>,
) => {
  const members = Object.entries(changes).map(([name, change]) => {
    const value = values[name];
    const { anyOf = [change] } = change as { readonly anyOf?: readonly TSchema[] };
    return [name, Type.Optional(value ? Type.Union([value, ...anyOf]) : change)];
  });
  const schema = changeObject(Object.fromEntries(members));
  return { kind: "json", schema, changes: changeObject(changes), nulls: "kept" } as const;
};

/** Converts the body of a PATCH to a change object: a value becomes `{"set":value}`. */
export const changesOfPatch = (body: unknown): unknown =>
  isObject(body)
    ? Object.fromEntries(Object.entries(body).map(([name, value]) => [name, changeOf(name, value)]))
    : body;

const changeOf = (name: string, value: unknown): unknown => {
  if (name === "id" || value === null) return value;
  if (!isObject(value)) return { set: value };
  if (!pairs.has(name)) return value;
  if (!isChangeOfPairs(value)) return { set: value };
  return name === openPairs ? withoutNulls(value) : value;
};

/** Pairs whose values have any type. The decoder keeps the nulls in them, also those of a change. */
const openPairs = "additionalData";

const pairs: ReadonlySet<string> = new Set(["metadata", openPairs]);

const withoutNulls = (change: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
