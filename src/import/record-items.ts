// What records of a file become: assets, events and raw rows as the API takes them, or why they cannot.
import { parseJson } from "../lib/json.ts";
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

const texts = {
  assets: ["name", "description", "source", "sourceId", "externalId"],
  events: ["description", "type", "subtype", "source", "sourceId", "externalId"],
} as const;

/** Members that assets, events and series share, beside the external id. */
export interface CommonMembers {
  readonly dataSetId?: number;
  readonly labels?: readonly string[];
  readonly sourceCreatedTime?: number;
  readonly sourceModifiedTime?: number;
}

export const commonNames = ["dataSetId", "labels", "sourceCreatedTime", "sourceModifiedTime"] as const;

const common = [...commonNames, "metadata"] as const;

const others = {
  assets: [
    ...["id", "parentId", "parentName", "parentSource", "parentSourceId", "parentExternalId"],
    ...common,
  ],
  events: [
    ...["startTime", "endTime", "assetIds", "assetNames", "assetExternalIds", "tagIds", "semanticPhrases"],
    ...common,
  ],
} as const;

export type RecordKind = keyof typeof texts;

/** Whether a record of this kind may have the field. */
export const isField = (kind: RecordKind, field: string): boolean =>
  [...texts[kind], ...others[kind]].some((one) => one === field) || field.startsWith("metadata.");

export const fieldsOf = (kind: RecordKind): string =>
  [...texts[kind], ...others[kind], "metadata.*"].join(", ");

/** The members that are plain texts, the metadata, and the fields that assets and events share. */
export function plainMembers(kind: RecordKind, { fields }: FileRecord): Record<string, unknown> {
  const stranger = [...fields.keys()].find((field) => !isField(kind, field));
  if (stranger !== undefined)
    throw new Refused(stranger, fields.get(stranger), "not a field of these records");
  const plain = texts[kind].flatMap((name) => {
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

/** The tags of an event: a number in JSON is the id of an asset, everything else is a string. */
export const tagsIn = (value: unknown): (string | number)[] =>
  Array.isArray(value) ? value.map((one) => (typeof one === "number" ? one : textOf(one))) : listOf(value);

/** The semantic phrases of an event: a list of JSON, which is the text of a cell in CSV. */
export function phrasesIn(value: unknown): unknown[] {
  try {
    const list = typeof value === "string" ? parseJson(value) : value;
    if (Array.isArray(list)) return list;
  } catch {}
  throw new Refused("semanticPhrases", value, "not a JSON list of phrases");
}

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

/** Values of JSON that are no texts as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Milliseconds since 1970, or ISO 8601 (UTC without a zone). */
function timeOf(field: string, value: unknown): number {
  const text = textOf(value);
  const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const timeMs = Number.isSafeInteger(number) ? number : parseIso(text);
  if (timeMs === undefined) throw new Refused(field, value, "neither ISO 8601 nor milliseconds since 1970");
  return timeMs;
}

/** A list of JSON, or texts separated by semicolons. */
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

/**
 * A raw row as JSON text. Members of JSON stay as they are written: those of `columns` when there is nothing
 * but it beside the key, else all but the key.
 */
export function rawRowOf({ fields, written }: FileRecord, keyColumn: string): string {
  const key = fields.get(keyColumn);
  if (key === undefined) throw new Refused(keyColumn, "", "missing: the row has no key");
  const named = JSON.stringify(textOf(key));
  const rest = [...(written ?? [...fields].map(([name, value]) => [name, JSON.stringify(value)] as const))];
  const members = rest.filter(([name]) => name !== keyColumn);
  const only = members.length === 1 ? members[0] : undefined;
  const isWhole = written && only?.[0] === "columns" && only[1].startsWith("{");
  const columns = isWhole
    ? only[1]
    : `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  return `{"key":${named},"columns":${columns}}`;
}
