// Checks a JSON body against its schema, one list element at a time, because a large body takes long.
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Compile } from "typebox/schema";
import { refusalOf } from "./refusal.ts";
import { type RemoveUnknown, removerOfUnknown } from "./remove-unknown.ts";
import { copyOf, type SchemaKeywords } from "./schema-keywords.ts";

type Validator = ReturnType<typeof Compile>;
type Problem = TLocalizedValidationError;

/**
 * Returns the value without members that its schema does not name, or throws the refusal. Yields after each
 * element, so that the caller can run other work.
 */
export type BodyCheck = (value: unknown) => Generator<void, unknown>;

/** A schema without the elements of its lists, and these lists. */
interface Part {
  readonly schema: SchemaKeywords;
  readonly lists: readonly List[];
  /** Compiled at first use: compiling the schemas of all routes would delay every start by 0.1 s. */
  compiled?: { readonly validator: Validator; readonly removeUnknown: RemoveUnknown | undefined };
}

interface List {
  /** The names of the members on the path to the list. */
  readonly path: readonly string[];
  readonly lengthMax: number;
  readonly elements: Part;
}

interface Findings {
  /** The path of the checked value. */
  readonly path: (string | number)[];
  readonly problems: Problem[];
}

/** The maximum number of problems that a refusal describes. */
const problemsMax = 8;

export function bodyCheck(schema: TSchema): BodyCheck {
  let part: Part | undefined;
  return function* check(value) {
    part ??= partOf(schema);
    const findings = { path: [], problems: [] };
    const known = yield* checkPart(part, value, findings);
    if (findings.problems.length > 0) throw refusalOf(value, findings.problems);
    return known;
  };
}

function partOf(schema: SchemaKeywords): Part {
  const lists: List[] = [];
  return { schema: withoutElements(schema, [], lists), lists };
}

function withoutElements(schema: SchemaKeywords, path: readonly string[], lists: List[]): SchemaKeywords {
  if (schema.type === "array" && schema.items) {
    lists.push({ path, lengthMax: schema.maxItems ?? Infinity, elements: partOf(schema.items) });
    return copyOf(schema, { items: undefined });
  }
  if (schema.type !== "object" || !schema.properties) return schema;
  const properties = Object.entries(schema.properties).map(([name, member]) => [
    name,
    withoutElements(member, [...path, name], lists),
  ]);
  return copyOf(schema, { properties: Object.fromEntries(properties) });
}

function* checkPart(part: Part, value: unknown, findings: Findings): Generator<void, unknown> {
  const { path, problems } = findings;
  part.compiled ??= { validator: Compile(part.schema), removeUnknown: removerOfUnknown(part.schema) };
  const { validator, removeUnknown } = part.compiled;
  const isValid = validator.Check(value);
  if (!isValid) problems.push(...problemsOf({ part, validator }, value, path.join("/")));
  const known = isValid && removeUnknown ? removeUnknown(value) : value;
  yield;
  for (const { path: listPath, lengthMax, elements } of part.lists) {
    const list = memberAt(known, listPath);
    if (!Array.isArray(list) || list.length > lengthMax) continue;
    path.push(...listPath, 0);
    for (let at = 0; at < list.length && problems.length < problemsMax; at += 1) {
      path[path.length - 1] = at;
      list[at] = yield* checkPart(elements, list[at], findings);
    }
    path.length -= listPath.length + 1;
  }
  return known;
}

const memberAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The problems of a value that fails its check, with the path of the value in the body. */
function problemsOf(
  { part, validator }: { readonly part: Part; readonly validator: Validator },
  value: unknown,
  path: string,
): readonly Problem[] {
  // The validator would describe each element of a list that is too long, at a few microseconds each.
  const tooLarge = tooLargeIn([part.schema], value, "");
  const found = tooLarge ? [tooLarge] : validator.Errors(value)[1];
  if (path === "") return found;
  return found.map((problem) => ({
    ...problem,
    instancePath: `/${path}${problem.instancePath}`,
    schemaPath: `${path}${problem.schemaPath}`,
  }));
}

/** The first list or object that is larger than each of the schemas permits. */
function tooLargeIn(schemas: readonly SchemaKeywords[], value: unknown, at: string): Problem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const choices = schemas.flatMap((schema) => schema.anyOf ?? [schema]);
  const isList = Array.isArray(value);
  const ofType = choices.filter(({ type }) => type === undefined || type === (isList ? "array" : "object"));
  if (ofType.length === 0) return undefined;
  const keyword = isList ? "maxItems" : "maxProperties";
  const limit = Math.max(...ofType.map((schema) => schema[keyword] ?? Infinity));
  // Creating the names of a list of a million elements would take long.
  const names = isList && value.length > limit ? [] : Object.keys(value);
  if ((isList ? value.length : names.length) > limit)
    return { keyword, schemaPath: "#", instancePath: at, params: { limit }, message: "is too large" };
  for (const name of names) {
    const inner = ofType.flatMap((schema) => (isList ? schema.items : memberOf(schema, name)) ?? []);
    if (inner.length === 0) continue;
    const problem = tooLargeIn(inner, (value as Readonly<Record<string, unknown>>)[name], `${at}/${name}`);
    if (problem) return problem;
  }
  return undefined;
}

function memberOf(
  { properties, additionalProperties }: SchemaKeywords,
  name: string,
): SchemaKeywords | undefined {
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
