// Examples and tables of members of JSON Schemas.
import type { Description, Schema } from "./operations.ts";

type Schemas = Description["schemas"];

/** Schemas can contain themselves: filters do. */
const depthMax = 6;

const resolved = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref] ?? {});

/** A value with the required members, or with all members. */
export function exampleOf(schema: Schema, schemas: Schemas, has: "required" | "all", depth = 0): unknown {
  const { anyOf, properties, items, required = [], ...own } = resolved(schema, schemas);
  if (own.examples?.[0] !== undefined) return own.examples[0];
  if (own.default !== undefined) return own.default;
  if (own.const !== undefined) return own.const;
  if (own.enum) return own.enum[0];
  if (anyOf) return exampleOf(anyOf[0]!, schemas, has, depth);
  if (depth > depthMax) return null;
  if (properties) {
    const names = Object.keys(properties).filter((name) => has === "all" || required.includes(name));
    return Object.fromEntries(
      names.map((name) => [name, exampleOf(properties[name]!, schemas, has, depth + 1)]),
    );
  }
  if (items) return [exampleOf(items, schemas, has, depth + 1)];
  return plainExample(own);
}

function plainExample({ type, minimum = 0, minLength = 0 }: Schema): unknown {
  const [first] = [type ?? "object"].flat();
  if (first === "string") return "".padEnd(minLength, "a");
  if (first === "integer" || first === "number") return Math.max(minimum, 0);
  if (first === "boolean") return false;
  if (first === "array") return [];
  return first === "null" ? null : {};
}

export interface Member {
  /** `items[].name`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** All members of a body, each once and after the one that contains it. */
export const membersOf = (schema: Schema, schemas: Schemas): Member[] => [
  ...new Map(allMembers(schema, schemas, "", 0).map((member) => [member.path, member])).values(),
];

function allMembers(schema: Schema, schemas: Schemas, path: string, depth: number): Member[] {
  const { properties = {}, required = [], items, anyOf } = resolved(schema, schemas);
  if (depth > depthMax) return [];
  if (items) return allMembers(items, schemas, `${path}[]`, depth + 1);
  if (anyOf) return anyOf.flatMap((one) => allMembers(one, schemas, path, depth + 1));
  return Object.entries(properties).flatMap(([name, member]) => {
    const own = resolved(member, schemas);
    const memberPath = path === "" ? name : `${path}.${name}`;
    return [
      {
        ...{ path: memberPath, type: typeText(member, schemas), isRequired: required.includes(name) },
        description: member.description ?? own.description ?? "",
      },
      ...allMembers(own, schemas, memberPath, depth + 1),
    ];
  });
}

/** `integer, 1 or more`, `"a" or "b"`, `list of string`. */
export function typeText(schema: Schema, schemas: Schemas): string {
  const { anyOf, items, minimum, maximum, maxLength, ...own } = resolved(schema, schemas);
  if (own.enum) return own.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (anyOf) return [...new Set(anyOf.map((one) => typeText(one, schemas)))].join(" or ");
  if (items) return `list of ${typeText(items, schemas)}`;
  const type = [own.type ?? "any value"].flat().join(" or ");
  return [type, rangeText(minimum, maximum), maxLength === undefined ? "" : `at most ${maxLength} characters`]
    .filter(Boolean)
    .join(", ");
}

/** The largest integer that JSON numbers keep exactly is no bound that people need to read. */
function rangeText(minimum: number | undefined, maximum: number | undefined): string {
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum !== undefined && most !== undefined) return `${minimum} to ${most}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return most === undefined ? "" : `at most ${most}`;
}
