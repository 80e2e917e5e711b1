// Columns of destinations: the members of a new record over REST 0.6, with the checks of its schema.
import type { TSchema } from "typebox";
import type { RecordValues } from "../../../query/evaluate.ts";
import { bodyCheck } from "../../../rest/body-check.ts";
import type { ColumnType } from "./destination.ts";

const typeNames: Readonly<Record<string, ColumnType>> = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "boolean",
  array: "json",
  object: "json",
};

interface Keywords {
  readonly type?: string;
  readonly anyOf?: readonly Keywords[];
}

const typesIn = ({ type, anyOf }: Keywords): ColumnType[] =>
  anyOf ? anyOf.flatMap(typesIn) : [typeNames[type ?? "string"]!];

/** Members of bodies that are no columns: other spellings, and references within one request. */
const notColumns = ["id", "refId", "parentRefId", "parentName", "additionalData", "subType"];

export function columnsOf(schema: { readonly properties: Readonly<Record<string, TSchema>> }) {
  const members = Object.entries(schema.properties).filter(([name]) => !notColumns.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, typesIn(member as Keywords)]));
}

/** Checks values with the schema of a new record, and with its decoder if it has checks of its own. */
export function checkBy(
  schema: TSchema & { readonly properties: Readonly<Record<string, TSchema>> },
  decode?: (item: never) => unknown,
) {
  const check = bodyCheck(schema);
  const names = Object.keys(schema.properties).filter((name) => name !== "id");
  return (values: RecordValues): void => {
    const item = Object.fromEntries(
      names.filter((name) => name in values).map((name) => [name, values[name]]),
    );
    const steps = check(item);
    let step = steps.next();
    while (!step.done) step = steps.next();
    decode?.(step.value as never);
  };
}

/** Values as the members of an update: `{"set":value}` or `{"setNull":true}`. */
export const settersOf = (values: RecordValues) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === null ? { setNull: true } : { set: value },
    ]),
  );

export const byKey = (key: string, records: readonly object[]): ReadonlyMap<string, RecordValues> =>
  new Map(records.map((record) => [(record as RecordValues)[key] as string, present(record)]));

/** The members that have a value. */
const present = (record: object): RecordValues =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

export const idIn = (current: RecordValues): number => current["id"] as number;

/** The key of a row in one column of strings. */
export const keyIn =
  (column: string) =>
  (values: RecordValues): string | undefined => {
    const key = values[column];
    return typeof key === "string" && key !== "" ? key : undefined;
  };
