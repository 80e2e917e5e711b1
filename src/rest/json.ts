// JSON bodies: from bytes to a value that is known to fit its schema, or a refusal that names the field.
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Compile } from "typebox/schema";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";

export type BodyDecoder = (bytes: Buffer) => unknown;

/**
 * Makes the decoder of one route's JSON body. No value is coerced, unknown members are ignored, members that
 * are `null` count as absent unless `nulls` is "kept" (client-endpoints 1.3.4); no body at all counts as `{}`.
 */
export function jsonDecoder(schema: TSchema, nulls: "absent" | "kept" = "absent"): BodyDecoder {
  const validator = Compile(schema);
  return (bytes) => {
    const value = parse(bytes);
    tidy(value, nulls === "absent", 1);
    if (!validator.Check(value)) throw refusal(value, validator.Errors(value)[1]);
    return value;
  };
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  const text = bytes.toString();
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (problem) {
    throw fail("body-not-json", { problem: (problem as Error).message });
  }
}

/** Bounds the depth, refuses `__proto__` (no client means it, and it could reach a prototype), drops nulls. */
function tidy(value: unknown, dropNulls: boolean, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > limits.jsonDepthMax)
    throw fail("body-not-json", { problem: `it is nested deeper than ${limits.jsonDepthMax} levels` });
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") tidy(item, dropNulls, depth + 1);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (member === null) dropNulls && delete members[name];
    else if (name === "__proto__") throw fail("body-not-json", { problem: "a member is named __proto__" });
    else if (typeof member === "object") tidy(member, dropNulls, depth + 1);
  }
}

/** The most telling of the errors: of several for one value the schema's own, before those of its alternatives. */
function refusal(body: unknown, errors: readonly TLocalizedValidationError[]): Error {
  const missing = errors.filter((one) => one.keyword === "required");
  const missingFields = missing.flatMap((one) =>
    (one.params as { requiredProperties: string[] }).requiredProperties.map((name) =>
      fieldName(`${one.instancePath}/${name}`),
    ),
  );
  const other =
    errors.find((one) => one.keyword === "anyOf") ?? errors.find((one) => one.keyword !== "required");
  if (missingFields.length > 0 && other?.keyword !== "anyOf")
    return fail("fields-missing", { fields: missingFields });
  const error = other!;
  const value = valueAt(body, error.instancePath);
  const field = fieldName(error.instancePath) || "body";
  if (error.keyword === "maxItems")
    return fail("too-many", {
      field,
      limit: (error.params as { limit: number }).limit,
      got: (value as unknown[]).length,
    });
  return fail("field-invalid", { field, expected: expectation(error, errors), got: shown(error, value) });
}

/** `/items/0/name` as `items[0].name`. */
const fieldName = (instancePath: string) =>
  parts(instancePath).reduce(
    (name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name === "" ? part : `${name}.${part}`),
    "",
  );

const parts = (instancePath: string) =>
  instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const valueAt = (body: unknown, instancePath: string) =>
  parts(instancePath).reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], body);

function expectation(error: TLocalizedValidationError, errors: readonly TLocalizedValidationError[]): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "type":
      return withArticle(String(params["type"]));
    case "enum":
      return `one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
    case "anyOf": {
      const below = errors.filter((one) => one.schemaPath.startsWith(`${error.schemaPath}/anyOf/`));
      return [...new Set(below.map((one) => expectation(one, below)))].join(" or ");
    }
    default:
      return error.message.replace(/^must (be |have |not have more than )?/, (_, rest: string | undefined) =>
        rest === "not have more than " ? "at most " : rest === undefined ? "a value to " : "",
      );
  }
}

const withArticle = (type: string) => type;

/** For a wrong type the type that came, else the value itself, shortened. */
function shown(error: TLocalizedValidationError, value: unknown): string {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (error.keyword === "maxLength") return `${(value as string).length}`;
  if (error.keyword === "type" && type !== "number") return type;
  if (error.keyword === "type")
    return (error.params as { type: string }).type === "integer" ? `${value}` : type;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? type);
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
