// Holds a JSON body to its schema, one element of its lists at a time, because a large body takes long.
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Compile } from "typebox/schema";
import { type KnownMembers, knownMembersOf } from "./known-members.ts";
import { refusalOf } from "./refusal.ts";

type Validator = ReturnType<typeof Compile>;
type Problem = TLocalizedValidationError;

/**
 * Returns the value without the members that its schema does not name, or throws the refusal. Yields after
 * each element, so that its caller can let others have their turn.
 */
export type BodyCheck = (value: unknown) => Generator<void, unknown>;

/** The keywords that say where lists are and how long they may be. */
interface Shape extends TSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly additionalProperties?: boolean | Shape;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** A schema without the elements of the lists in it, and those lists. */
interface Part {
  readonly schema: Shape;
  readonly lists: readonly List[];
  /** Made when it is needed: the schemas of all routes together take a tenth of a second of every start. */
  compiled?: { readonly validator: Validator; readonly knownOf: KnownMembers | undefined };
}

interface List {
  /** The members that lead to the list. */
  readonly path: readonly string[];
  readonly lengthMax: number;
  readonly elements: Part;
}

interface Findings {
  /** Where the value is that is being checked. */
  readonly place: (string | number)[];
  readonly problems: Problem[];
}

/** A refusal describes at most so many problems. */
const problemsMax = 8;

export function bodyCheck(schema: TSchema): BodyCheck {
  const part = partOf(schema);
  return function* check(value) {
    const findings = { place: [], problems: [] };
    const known = yield* checkPart(part, value, findings);
    if (findings.problems.length > 0) throw refusalOf(value, findings.problems);
    return known;
  };
}

function partOf(schema: Shape): Part {
  const lists: List[] = [];
  return { schema: withoutElements(schema, [], lists), lists };
}

function withoutElements(schema: Shape, path: readonly string[], lists: List[]): Shape {
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

/** Keeps what schemas have beside keywords, such as their refinements. */
function copyOf(schema: Shape, changed: Readonly<Record<string, unknown>>): Shape {
  const copy = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema));
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) delete copy[name];
    else Object.defineProperty(copy, name, { value, enumerable: true });
  }
  return copy as Shape;
}

function* checkPart(part: Part, value: unknown, findings: Findings): Generator<void, unknown> {
  const { place, problems } = findings;
  part.compiled ??= { validator: Compile(part.schema), knownOf: knownMembersOf(part.schema) };
  const { validator, knownOf } = part.compiled;
  const isRight = validator.Check(value);
  if (!isRight) problems.push(...problemsOf({ part, validator }, value, place.join("/")));
  const known = isRight && knownOf ? knownOf(value) : value;
  yield;
  for (const { path, lengthMax, elements } of part.lists) {
    const list = memberAt(known, path);
    if (!Array.isArray(list) || list.length > lengthMax) continue;
    place.push(...path, 0);
    for (let at = 0; at < list.length && problems.length < problemsMax; at += 1) {
      place[place.length - 1] = at;
      list[at] = yield* checkPart(elements, list[at], findings);
    }
    place.length -= path.length + 1;
  }
  return known;
}

const memberAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The problems of a value that fails its check, with the place of the value in the body. */
function problemsOf(
  { part, validator }: { readonly part: Part; readonly validator: Validator },
  value: unknown,
  place: string,
): readonly Problem[] {
  // The validator describes all elements of a list that is too long, at some microseconds each.
  const tooLarge = tooLargeIn([part.schema], value, "");
  const found = tooLarge ? [tooLarge] : validator.Errors(value)[1];
  if (place === "") return found;
  return found.map((one) => ({
    ...one,
    instancePath: `/${place}${one.instancePath}`,
    schemaPath: `${place}${one.schemaPath}`,
  }));
}

/** The first list or object that is larger than each of the schemas permits. */
function tooLargeIn(schemas: readonly Shape[], value: unknown, at: string): Problem | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const choices = schemas.flatMap((schema) => schema.anyOf ?? [schema]);
  const isList = Array.isArray(value);
  const ofType = choices.filter(({ type }) => type === undefined || type === (isList ? "array" : "object"));
  if (ofType.length === 0) return undefined;
  const keyword = isList ? "maxItems" : "maxProperties";
  const limit = Math.max(...ofType.map((schema) => schema[keyword] ?? Infinity));
  // The names of a list of a million elements would take long to make.
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

function memberOf({ properties, additionalProperties }: Shape, name: string): Shape | undefined {
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
