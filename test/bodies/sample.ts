// Generates request bodies from the schemas of the route tables: one of each element, or up to the limits.
import type { TSchema } from "typebox";
import { firstTime, type Ids, type Kind } from "./project.ts";

/** The keywords of a schema that a body is made from. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** How large to make each part; `max` is undefined where the schema has no bound. */
export interface Size {
  readonly hasOptional: boolean;
  /** `depth` counts the lists around this one. */
  readonly items: (max: number | undefined, depth: number) => number;
  readonly characters: (max: number | undefined) => number;
  readonly pairs: (max: number | undefined) => number;
}

/** One of everything. */
export const small: Size = { hasOptional: true, items: () => 1, characters: () => 0, pairs: () => 1 };

/** The kind of record that a member names. */
const kindOfMember: Readonly<Record<string, Kind>> = {
  ...{ assetId: "asset", assetIds: "asset", tagIds: "asset", parentId: "asset", subtreeIds: "asset" },
  ...{ assetSubtrees: "asset", defaultGroupId: "group", groups: "group", userId: "account" },
  ...{ securityCategories: "category", securityCategoryIds: "category", ids: "category" },
  ...{ types: "type", fields: "field", eventTransformerId: "transformer" },
  ...{ columnId: "column", columnIds: "column", columns: "column" },
  ...{ sourcePackageId: "package", modelId: "model" },
  ...{ fileIds: "file", files: "file", timeSeries: "series", aliases: "series" },
};

/** The kind of record that the ids of a route name; the first path that fits counts. */
const kindOfPath: readonly (readonly [start: string, Kind])[] = [
  ["/assets/types/{typeId}/fields", "field"],
  ["/assets/types", "type"],
  ["/assets", "asset"],
  ["/timeseries", "series"],
  ["/eventtransformers", "transformer"],
  ["/events", "event"],
  ["/sequences/{sequenceId}/columns", "column"],
  ["/sequences", "sequence"],
  ["/files", "file"],
  ["/storage", "file"],
  ["/groups/{groupId}/users", "account"],
  ["/groups", "group"],
  ["/defaultgroup", "group"],
  ["/users", "account"],
  ["/apikeys", "key"],
  ["/securitycategories", "category"],
  ["/trends", "trend"],
  ["/connectors", "connector"],
  ["/transformations", "transformation"],
  ["/suggestions/timeseries", "series"],
  ["/suggestions/drawings", "file"],
  ["/suggestions", "suggestion"],
  ["/restore/times", "asset"],
  ["/analytics/models/sourcepackages", "package"],
  ["/analytics/models", "model"],
];

export const kindOfRoute = (path: string): Kind | undefined =>
  kindOfPath.find(([start]) => path.startsWith(start))?.[1];

/** Members that a valid body lacks beside all others, or whose values cannot be made up. */
const leftOut = new Set([
  ...["setNull", "parentRefId", "parentName", "edit", "urlName", "cursor"],
  ...["function", "aliases", "expiresTime", "refId"],
  // Only of a transformation into raw, or into rows of a sequence.
  ...["database", "table", "sequence"],
]);

/** Two names of one thing: a body with different values for them is refused. */
const secondNames: Readonly<Record<string, string>> = {
  ...{ subType: "subtype", additionalData: "metadata", tagId: "name" },
};

/** Whether another member of the object names the same thing. */
function isSecondName(name: string, { properties = {} }: Schema, { names }: Place, route: string): boolean {
  const has = (other: string) => Object.hasOwn(properties, other);
  if (name === "id") return / \/timeseries(\/|$)/.test(route) && (has("name") || has("tagId"));
  if (name === "externalId") return names.at(-1) === "columns" && route.endsWith("/getdata");
  return secondNames[name] !== undefined && has(secondNames[name]);
}

/** An id that the service assigns: a body that has one is refused. */
const isAssignedId = (name: string, schema: Schema) =>
  name === "id" && schema.type === undefined && !schema.anyOf;

/** Strings with a form. */
const knownStrings: Readonly<Record<string, string>> = {
  ...{ aggregates: "max", aggregateFunctions: "max", aggregate: "max", granularity: "1h", platform: "north" },
  ...{
    issuer: "https://login.example",
    loginUrl: "https://login.example",
    logoutUrl: "https://login.example",
  },
  ...{ tokenUrl: "https://login.example", redirectUrls: "https://app.example/", dbName: "database" },
  ...{ tableName: "table", cron: "30 4 29 2 *", timeZone: "Europe/Oslo", query: "SELECT 'a' AS name" },
};

/** Names of records that exist: the routes, the members and the beginning of the names. */
const existing: readonly (readonly [route: RegExp, member: RegExp, start: string])[] = [
  [/^(PUT \/timeseries$|POST \/timeseries\/(data|latest))/, /^(name|tagId)$/, "series "],
  [/^POST \/relationships\/(byids|delete)/, /^(items|externalId)$/, "relationship "],
  [/^POST \/raw\/\{database\}\/\{table\}\/delete/, /^key$/, "row "],
  [/^POST \/tagmatching/, /^tagIds$/, "21-PT-"],
];

interface Place {
  /** Names of the members on the way. */
  readonly names: readonly string[];
  /** The place in the nearest list. */
  readonly index: number;
  /** How many lists are around. */
  readonly depth: number;
}

interface Sampling {
  /** `POST /assets`. */
  readonly route: string;
  readonly ids: Ids;
  readonly size: Size;
  /** A number that no string of a body had before. */
  readonly unique: () => number;
}

/** Makes a body of a route. */
export function sampleBody(schema: TSchema, sampling: Sampling): unknown {
  return sampleOf(schema as Schema, { names: [], index: 0, depth: 0 }, sampling);
}

function sampleOf(schema: Schema, at: Place, sampling: Sampling): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sampleOf(preferred(schema.anyOf), at, sampling);
  switch (schema.type) {
    case "array":
      return listOf(schema, at, sampling);
    case "object":
      return objectOf(schema, at, sampling);
    case "integer":
      return integerOf(schema, at, sampling);
    case "boolean":
      return false;
    case "number":
      return at.names.at(-1) === "end" ? firstTime : (schema.minimum ?? at.index);
    default:
      return stringOf(schema, at, sampling);
  }
}

/** Numbers rather than strings, as most strings beside numbers have a form. */
const preferred = (choices: readonly Schema[]): Schema =>
  choices.find(({ type }) => type === "integer" || type === "number") ??
  choices.find(({ type }) => type !== "null")!;

function listOf({ items = {}, maxItems }: Schema, at: Place, sampling: Sampling): unknown[] {
  const length = sampling.size.items(maxItems, at.depth);
  const depth = at.depth + 1;
  return Array.from({ length }, (_, index) => sampleOf(items, { ...at, index, depth }, sampling));
}

function objectOf(schema: Schema, at: Place, sampling: Sampling): object {
  const { properties, required = [], additionalProperties } = schema;
  const made: Record<string, unknown> = {};
  // The scope of a capability is one of several.
  const isChoice = at.names.at(-1) === "scope";
  for (const [name, member] of Object.entries(properties ?? {}).slice(0, isChoice ? 1 : undefined)) {
    if (leftOut.has(name) || isAssignedId(name, member)) continue;
    if (isSecondName(name, schema, at, sampling.route)) continue;
    if (!sampling.size.hasOptional && !required.includes(name)) continue;
    made[name] = sampleOf(member, { ...at, names: [...at.names, name] }, sampling);
  }
  if (properties || !additionalProperties) return made;
  const pairs = sampling.size.pairs(schema.maxProperties);
  for (let pair = 0; pair < pairs; pair++)
    made[`key${pair}`] =
      additionalProperties === true ? pair : sampleOf(additionalProperties, { ...at, index: pair }, sampling);
  return made;
}

/** Members between the name of a member and its value. */
const changeWords = new Set(["set", "add", "remove", "items"]);

function integerOf({ minimum = 0, maximum }: Schema, at: Place, { route, ids }: Sampling): number {
  const names = at.names.filter((one) => !changeWords.has(one));
  const name = names.at(-1) ?? "id";
  if (name === "timestamp") return firstTime + at.index;
  const path = route.slice(route.indexOf(" ") + 1);
  const kind = name === "id" ? (kindOfMember[names.at(-2) ?? ""] ?? kindOfRoute(path)) : kindOfMember[name];
  const known = kind ? ids[kind] : [];
  if (name === "parentId") return known.at(-1)!;
  if (known.length > 0) return known[at.index % known.length]!;
  return Math.min(Math.max(minimum, 0) + at.index, maximum ?? Number.MAX_SAFE_INTEGER);
}

function stringOf(schema: Schema, at: Place, sampling: Sampling): string {
  const { pattern = "", minLength = 0, maxLength } = schema;
  if (pattern.startsWith("^[1-9]")) return `${integerOf({}, at, sampling)}`;
  const name = at.names.findLast((one) => !changeWords.has(one)) ?? "items";
  const known = knownStrings[name];
  if (known !== undefined) return known;
  const record = existing.find(([route, member]) => route.test(sampling.route) && member.test(name));
  if (record) return `${record[2]}${at.index + 1}`;
  const length = Math.max(minLength, sampling.size.characters(maxLength));
  return `n${sampling.unique()}`.padEnd(length, "-x 1");
}
