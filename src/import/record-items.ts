// Converts the fields of a record of a file to members of the API; refuses invalid values.
import type { FileRecord } from "./records.ts";
import { parseIso } from "./times.ts";

/** The record cannot be loaded; the rest can. */
export class Refused extends Error {
  readonly field: string;
  readonly value: unknown;

  constructor(field: string, value: unknown, reason: string) {
    super(reason);
    this.field = field;
    this.value = value;
  }
}

/** The fields of a kind of records in files. */
export interface RecordFields {
  /** Strings that the API takes under the same name. */
  readonly strings: readonly string[];
  /** All other fields but `metadata.*`. */
  readonly others: readonly string[];
}

/** Members that assets, events and series share, beside the external id. */
export interface CommonMembers {
  readonly dataSetId?: number;
  readonly labels?: readonly string[];
  readonly sourceCreatedTime?: number;
  readonly sourceModifiedTime?: number;
}

export const commonNames = ["dataSetId", "labels", "sourceCreatedTime", "sourceModifiedTime"] as const;

/** Fields of files that most records share; `plainMembers` reads them. */
export const commonFields: readonly string[] = [...commonNames, "metadata"];

/** Whether a record of this kind may have the field. */
export const isField = ({ strings, others }: RecordFields, field: string): boolean =>
  strings.includes(field) || others.includes(field) || field.startsWith("metadata.");

export const fieldNames = ({ strings, others }: RecordFields): string =>
  [...strings, ...others, "metadata.*"].join(", ");

/** The strings, the metadata and the common fields of a record as members of the API. */
export function plainMembers(kind: RecordFields, { fields }: FileRecord): Record<string, unknown> {
  const stranger = [...fields.keys()].find((field) => !isField(kind, field));
  if (stranger !== undefined)
    throw new Refused(stranger, fields.get(stranger), "not a field of these records");
  const plain = kind.strings.flatMap((name) => {
    const value = fields.get(name);
    return value === undefined ? [] : [[name, textOf(value)]];
  });
  const metadata = metadataOf(fields);
  return {
    ...Object.fromEntries(plain),
    ...commonMembers(fields),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Refuses a value that is no id or no time. */
export function commonMembers(fields: FileRecord["fields"]): CommonMembers {
  const [dataSetId, labels] = [fields.get("dataSetId"), fields.get("labels")];
  return {
    ...(dataSetId !== undefined && { dataSetId: idIn("dataSetId", dataSetId) }),
    ...(labels !== undefined && { labels: listOf(labels) }),
    ...timesIn(fields, ["sourceCreatedTime", "sourceModifiedTime"]),
  };
}

/** The members of these names that the record has, as times. */
export const timesIn = (fields: FileRecord["fields"], names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = fields.get(name);
      return value === undefined ? [] : [[name, timeOf(name, value)]];
    }),
  );

function metadataOf(fields: FileRecord["fields"]): Record<string, string> {
  const whole = fields.get("metadata") ?? {};
  if (typeof whole !== "object" || Array.isArray(whole))
    throw new Refused("metadata", whole, "not an object of values");
  const single = [...fields].filter(([name]) => name.startsWith("metadata."));
  const pairs = [
    ...Object.entries(whole as object),
    ...single.map(([name, value]) => [name.slice(9), value]),
  ];
  const nested = pairs.find(([, value]) => typeof value !== "string");
  if (nested)
    throw new Refused(`metadata.${nested[0]}`, nested[1], "an object or a list; metadata has single values");
  return Object.fromEntries(pairs);
}

/** Returns a string as it is, and any other JSON value as its JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Milliseconds since 1970, or ISO 8601 (UTC without a zone). */
function timeOf(field: string, value: unknown): number {
  const text = textOf(value);
  const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const timeMs = Number.isSafeInteger(number) ? number : parseIso(text);
  if (timeMs === undefined) throw new Refused(field, value, "neither ISO 8601 nor milliseconds since 1970");
  return timeMs;
}

/** Reads a JSON list, or strings separated by semicolons. */
export const listOf = (value: unknown): string[] => {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map(textOf);
  return textOf(value)
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one !== "");
};

export function idIn(field: string, value: unknown): number {
  const id = Number(textOf(value));
  if (!Number.isSafeInteger(id) || id < 1) throw new Refused(field, value, "not an id");
  return id;
}
