// Resolves the path of a request to its target: a collection, an entity, a property, a count.
import type { RequestContext } from "../context.ts";
import { type Failure, fail } from "../errors.ts";
import { and, everything, type Filter } from "../query/filter.ts";
import type { FilterExpression } from "./expression.ts";
import type { QueryContext } from "./filter.ts";
import {
  type EntityFunction,
  type EntityReader,
  type EntityRecord,
  type EntitySet,
  type EntityType,
  type FunctionArguments,
  type FunctionParameter,
  isOpenComplex,
  type Navigation,
  namespace,
  type Property,
} from "./model.ts";
import { decodeName, pathWithKey } from "./names.ts";
import type { Operand } from "./operand.ts";
import { argumentsIn, type PathSegment } from "./request-url.ts";

/** The entities of a set, or those that a navigation or function leads to. */
export interface EntityCollection extends EntityReader {
  readonly kind: "collection";
  readonly set: EntitySet;
  readonly type: EntityType;
  /** Which entities of the set belong to the collection. */
  readonly filter: Filter;
  /** The path prefix of its entities: `Assets`, `Raw('a')/Tables`. */
  readonly path: string;
  /** The collection in context URLs, if it is not `path`. */
  readonly context?: string;
  readonly container?: EntityRecord;
  /** Named directly by its set, so the set's required filter applies. */
  readonly isWholeSet: boolean;
}

/** One entity that has not been read yet; it may not exist. */
export interface EntityRef {
  readonly kind: "entity";
  readonly collection: EntityCollection;
  readonly filter: Filter;
  /** The message if the entity does not exist. Absent if that is not an error (204). */
  readonly notFoundProblem?: string;
}

export type ResolvedPath =
  | { readonly kind: "service" | "metadata" }
  | EntityCollection
  | EntityRef
  | { readonly kind: "count"; readonly of: EntityCollection }
  | { readonly kind: "stream"; readonly of: EntityRef }
  | {
      readonly kind: "property";
      readonly row: EntityRecord;
      readonly path: string;
      readonly property: Property;
      /** The member of an open object. */
      readonly member?: string;
      readonly isRaw: boolean;
    };

/**
 * Resolves a path. Refuses unknown paths (404) and parts of OData's path syntax that are not served (501).
 */
export async function resolvePath(
  context: QueryContext,
  segments: readonly PathSegment[],
): Promise<ResolvedPath> {
  const [first, ...rest] = segments;
  if (!first) return { kind: "service" };
  if (first.name === "$metadata" && rest.length === 0) return { kind: "metadata" };
  let resolved = resolveFirst(context, first);
  for (const segment of rest) resolved = await resolveNext(context, resolved, segment);
  return resolved;
}

function resolveFirst(context: QueryContext, segment: PathSegment): ResolvedPath {
  const { model } = context;
  const { name, parentheses } = segment;
  const results = model.functions.get(name);
  if (results) return functionResults(context, results, parentheses ?? "");
  const set =
    model.sets.get(name) ?? [...model.sets.values()].find((one) => isSameIgnoringCase(one.name, name));
  if (!set) throw notFound(name, "the service");
  const { read, count, readColumns } = set;
  const type = model.typeOf(set);
  const collection: EntityCollection = {
    kind: "collection",
    ...{ set, type, read, count, filter: everything, path: set.name, isWholeSet: true },
    ...(readColumns && { readColumns }),
  };
  return parentheses === undefined ? collection : entityByKey(context, collection, parentheses);
}

const isSameIgnoringCase = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function notFound(name: string, from: string): Failure {
  if (name.startsWith("$")) return fail("feature-not-supported", { feature: name });
  return fail("resource-not-found", { problem: `There is no ${name} in ${from}` });
}

/** The results of a function; `row` is the entity that it is bound to. */
function functionResults(
  context: QueryContext,
  called: EntityFunction,
  parentheses: string,
  row?: EntityRecord,
): EntityCollection {
  const { name, parameters, results, boundTo } = called;
  const given = argumentValues(parameters, argumentsIn(parentheses, context.aliases), name);
  const set = context.model.sets.get(called.set)!;
  return {
    kind: "collection",
    ...{ set, type: context.model.typeOf(set), ...results(given, row) },
    ...{ filter: everything, path: set.name, isWholeSet: false },
    ...(boundTo && { context: `Collection(${namespace}.${set.type})` }),
  };
}

function argumentValues(
  parameters: readonly FunctionParameter[],
  given: ReadonlyMap<string, FilterExpression>,
  name: string,
): FunctionArguments {
  for (const word of given.keys())
    if (!parameters.some((one) => one.name === word))
      throw fail("key-invalid", { problem: `${name} has no parameter ${word || "without a name"}` });
  return Object.fromEntries(
    parameters.map((one) => [one.name, argumentValue(one, given.get(one.name), name)]),
  );
}

function argumentValue(
  parameter: FunctionParameter,
  given: FilterExpression | undefined,
  of: string,
): string | number | undefined {
  const { name, type, isOptional } = parameter;
  const isGiven = given !== undefined && !(given.kind === "literal" && given.value === null);
  if (!isGiven && isOptional) return undefined;
  if (!isGiven) throw fail("key-invalid", { problem: `${of} needs the parameter ${name}` });
  const isTime = type === "Edm.DateTimeOffset" && given.kind === "literal" && given.type === "Edm.Date";
  if (given.kind === "literal" && (given.type === type || isTime)) return given.value as string | number;
  const wanted = type === "Edm.String" ? "a string in quotes" : "a time such as 2024-01-31T00:00:00Z";
  throw fail("key-invalid", { problem: `The parameter ${name} of ${of} takes ${wanted}` });
}

/** `Assets('101')` or `Assets(Id='101')`. */
function entityByKey({ ctx, aliases }: QueryContext, of: EntityCollection, parentheses: string): EntityRef {
  const { key } = of.type;
  const given = argumentsIn(parentheses, aliases);
  const value = given.get("") ?? given.get(key);
  const problem = `${of.set.name} takes one key: ${of.set.name}('...') or ${of.set.name}(${key}='...')`;
  if (given.size !== 1 || value?.kind !== "literal" || value.type !== "Edm.String")
    throw fail("key-invalid", { problem });
  const filter = keyOperand(ctx, of.type).equals(value.value as string);
  return {
    kind: "entity",
    collection: of,
    filter,
    notFoundProblem: `There is no ${of.type.name} with ${key} '${value.value}'`,
  };
}

function keyOperand(ctx: RequestContext, { properties, key }: EntityType): Operand {
  const { operand } = properties.find(({ name }) => name === key)!.queryable as { operand: Operand };
  return typeof operand === "function" ? (operand as (ctx: RequestContext) => Operand)(ctx) : operand;
}

async function resolveNext(
  context: QueryContext,
  resolved: ResolvedPath,
  segment: PathSegment,
): Promise<ResolvedPath> {
  if (resolved.kind === "entity") return resolveFromEntity(context, resolved, segment);
  if (resolved.kind === "collection" && segment.name === "$count") return { kind: "count", of: resolved };
  if (resolved.kind === "property") return resolveFromProperty(resolved, segment);
  const from =
    resolved.kind === "collection" ? `the collection ${resolved.path}; a key needs parentheses` : "it";
  throw notFound(segment.name, from);
}

async function resolveFromEntity(
  context: QueryContext,
  resolved: EntityRef,
  segment: PathSegment,
): Promise<ResolvedPath> {
  const { collection: of } = resolved;
  const { name, parentheses } = segment;
  if (name === "$value" && of.type.stream) return { kind: "stream", of: resolved };
  const found = context.model.navigationsOf(of.type).get(name);
  const property = of.type.properties.find((one) => one.name === name);
  const called = context.model.functionsOf(of.type).get(name.replace(`${namespace}.`, ""));
  if (!found && !called && (!property || parentheses !== undefined))
    throw notFound(name, `an entity of ${of.set.name}`);
  const row = await readEntity(context.ctx, resolved, new Set([called?.name ?? name]));
  if (!row) throw fail("resource-not-found", { problem: `The entity of ${name} does not exist` });
  if (called) return functionResults(context, called, parentheses ?? "", row);
  if (found) return followNavigation(context, { of, row }, { navigation: found, parentheses });
  return {
    kind: "property",
    row,
    path: `${pathByKey(of, row)}/${name}`,
    property: property!,
    isRaw: false,
  };
}

function followNavigation(
  context: QueryContext,
  { of, row }: { readonly of: EntityCollection; readonly row: EntityRecord },
  { navigation, parentheses }: { readonly navigation: Navigation; readonly parentheses: string | undefined },
): ResolvedPath {
  const { to, join, isMany, isContained, name } = navigation;
  const set = context.model.sets.get(to)!;
  const { read, count, readColumns } = set;
  const type = context.model.typeOf(set);
  const filter = join.filter(join.own(row));
  const collection: EntityCollection = {
    kind: "collection",
    ...{ set, type, read, count, filter, path: set.name, isWholeSet: false },
    ...(isContained && { path: `${pathByKey(of, row)}/${name}`, container: row }),
    ...(readColumns && { readColumns }),
  };
  if (isMany) return parentheses === undefined ? collection : entityByKey(context, collection, parentheses);
  if (parentheses !== undefined)
    throw fail("key-invalid", { problem: `${name} is one entity and takes no key` });
  return { kind: "entity", collection, filter: everything };
}

function resolveFromProperty(
  resolved: ResolvedPath & { kind: "property" },
  { name, parentheses }: PathSegment,
): ResolvedPath {
  const { property, member, path, isRaw } = resolved;
  const isOpen = isOpenComplex(property.type);
  if (isRaw || parentheses !== undefined) throw notFound(name, "a value");
  if (name === "$value" && !(isOpen && member === undefined) && !property.isList)
    return { ...resolved, isRaw: true };
  if (!isOpen || member !== undefined || name.startsWith("$")) throw notFound(name, "a value");
  const key = decodeName(name);
  const members = property.get(resolved.row) as EntityRecord;
  if (!Object.hasOwn(members, key)) throw notFound(name, property.name);
  return { ...resolved, member: key, path: `${path}/${name}` };
}

/** Reads the entity. Refuses (404) a missing one, unless that is not an error. */
export async function readEntity(
  ctx: RequestContext,
  { collection: of, filter, notFoundProblem: missing }: EntityRef,
  needs: ReadonlySet<string>,
): Promise<EntityRecord | undefined> {
  const found = await of.read(ctx, { filter: and(of.filter, filter), page: { limit: 1 }, needs });
  const [row] = found.items;
  if (!row && missing !== undefined) throw fail("resource-not-found", { problem: missing });
  return row;
}

/** `Assets('101')`, encoded for a URL. */
export function pathByKey(
  { path, type }: Pick<EntityCollection, "path" | "type">,
  row: EntityRecord,
): string {
  const key = type.properties.find(({ name }) => name === type.key)!.get(row);
  return pathWithKey(path, String(key));
}
