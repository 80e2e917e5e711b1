// Follows the path of a request through the model to what it names: a set, an entity, a property, a number.
import type { RequestContext } from "../context.ts";
import { type Failure, fail } from "../errors.ts";
import { and, everything, type Filter } from "../query/filter.ts";
import type { Expression } from "./expression.ts";
import {
  type Arguments,
  type EntityFunction,
  type EntitySet,
  type EntityType,
  type Model,
  type Navigation,
  namespace,
  type Parameter,
  type Property,
  type Readable,
  type Row,
} from "./model.ts";
import { addressIn, decodeName } from "./names.ts";
import type { Operand } from "./operand.ts";
import { argumentsIn, type Segment, type Target } from "./target.ts";

/** Entities of a set, or those of it that a navigation or a function leads to. */
export interface Collection extends Readable {
  readonly kind: "collection";
  readonly set: EntitySet;
  readonly type: EntityType;
  /** Which of what `read` answers belong to it. */
  readonly scope: Filter;
  /** What its entities are below: `Assets`, `Raw('a')/Tables`. */
  readonly address: string;
  /** What context addresses say of it, where that is not its address. */
  readonly context?: string;
  /** The entity that contains it. */
  readonly container?: Row;
  /** Addressed by its own name, so that its set may require a filter. */
  readonly isWholeSet: boolean;
}

/** One entity, to be read; there may be none. */
export interface One {
  readonly kind: "entity";
  readonly of: Collection;
  readonly filter: Filter;
  /** Said when there is no such entity; absent where that is an answer (204). */
  readonly missing?: string;
}

export type Place =
  | { readonly kind: "service" | "metadata" }
  | Collection
  | One
  | { readonly kind: "count"; readonly of: Collection }
  | { readonly kind: "stream"; readonly of: One }
  | {
      readonly kind: "property";
      readonly row: Row;
      readonly address: string;
      readonly property: Property;
      /** The member of an open object. */
      readonly member?: string;
      readonly isRaw: boolean;
    };

export interface Walk {
  readonly ctx: RequestContext;
  readonly model: Model;
  readonly aliases: Target["aliases"];
}

/** Refuses (404) a path that leads nowhere, and (501) what of OData's paths is not served. */
export async function placeOf(walk: Walk, segments: readonly Segment[]): Promise<Place> {
  const [first, ...rest] = segments;
  if (!first) return { kind: "service" };
  if (first.name === "$metadata" && rest.length === 0) return { kind: "metadata" };
  let place = start(walk, first);
  for (const segment of rest) place = await step(walk, place, segment);
  return place;
}

function start(walk: Walk, segment: Segment): Place {
  const { model } = walk;
  const { name, inside } = segment;
  const results = model.functions.get(name);
  if (results) return resultsOf(walk, results, inside ?? "");
  const set = model.sets.get(name) ?? [...model.sets.values()].find((one) => isAlike(one.name, name));
  if (!set) throw nowhere(name, "the service");
  const { read, count, readColumns } = set;
  const type = model.typeOf(set);
  const collection: Collection = {
    kind: "collection",
    ...{ set, type, read, count, scope: everything, address: set.name, isWholeSet: true },
    ...(readColumns && { readColumns }),
  };
  return inside === undefined ? collection : withKey(walk, collection, inside);
}

const isAlike = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function nowhere(name: string, from: string): Failure {
  if (name.startsWith("$")) return fail("feature-not-supported", { feature: name });
  return fail("resource-not-found", { problem: `There is no ${name} in ${from}` });
}

/** What a function answers; of one that is called on an entity, `row` is that. */
function resultsOf(walk: Walk, called: EntityFunction, inside: string, row?: Row): Collection {
  const { name, parameters, results, boundTo } = called;
  const given = valuesFor(parameters, argumentsIn(inside, walk.aliases), name);
  const set = walk.model.sets.get(called.set)!;
  return {
    kind: "collection",
    ...{ set, type: walk.model.typeOf(set), ...results(given, row) },
    ...{ scope: everything, address: set.name, isWholeSet: false },
    ...(boundTo && { context: `Collection(${namespace}.${set.type})` }),
  };
}

function valuesFor(
  parameters: readonly Parameter[],
  given: ReadonlyMap<string, Expression>,
  name: string,
): Arguments {
  for (const word of given.keys())
    if (!parameters.some((one) => one.name === word))
      throw fail("key-invalid", { problem: `${name} has no parameter ${word || "without a name"}` });
  return Object.fromEntries(parameters.map((one) => [one.name, valueFor(one, given.get(one.name), name)]));
}

function valueFor(
  parameter: Parameter,
  given: Expression | undefined,
  of: string,
): string | number | undefined {
  const { name, type, isOptional } = parameter;
  const isGiven = given !== undefined && !(given.kind === "literal" && given.value === null);
  if (!isGiven && isOptional) return undefined;
  if (!isGiven) throw fail("key-invalid", { problem: `${of} needs the parameter ${name}` });
  const isTime = type === "Edm.DateTimeOffset" && given.kind === "literal" && given.type === "Edm.Date";
  if (given.kind === "literal" && (given.type === type || isTime)) return given.value as string | number;
  const wanted = type === "Edm.String" ? "a text in quotes" : "a time such as 2024-01-31T00:00:00Z";
  throw fail("key-invalid", { problem: `The parameter ${name} of ${of} takes ${wanted}` });
}

/** `Assets('101')` or `Assets(Id='101')`. */
function withKey({ ctx, aliases }: Walk, of: Collection, inside: string): One {
  const { key } = of.type;
  const given = argumentsIn(inside, aliases);
  const value = given.get("") ?? given.get(key);
  const problem = `${of.set.name} takes one key: ${of.set.name}('...') or ${of.set.name}(${key}='...')`;
  if (given.size !== 1 || value?.kind !== "literal" || value.type !== "Edm.String")
    throw fail("key-invalid", { problem });
  const filter = keyOperand(ctx, of.type).equals(value.value as string);
  return { kind: "entity", of, filter, missing: `There is no ${of.type.name} with ${key} '${value.value}'` };
}

function keyOperand(ctx: RequestContext, { properties, key }: EntityType): Operand {
  const { operand } = properties.find(({ name }) => name === key)!.asked as { operand: Operand };
  return typeof operand === "function" ? (operand as (ctx: RequestContext) => Operand)(ctx) : operand;
}

async function step(walk: Walk, place: Place, segment: Segment): Promise<Place> {
  if (place.kind === "entity") return fromEntity(walk, place, segment);
  if (place.kind === "collection" && segment.name === "$count") return { kind: "count", of: place };
  if (place.kind === "property") return fromProperty(place, segment);
  const from =
    place.kind === "collection" ? `the collection ${place.address}; a key stands in parentheses` : "it";
  throw nowhere(segment.name, from);
}

async function fromEntity(walk: Walk, place: One, segment: Segment): Promise<Place> {
  const { of } = place;
  const { name, inside } = segment;
  if (name === "$value" && of.type.stream) return { kind: "stream", of: place };
  const found = walk.model.navigationsOf(of.type).get(name);
  const property = of.type.properties.find((one) => one.name === name);
  const called = walk.model.functionsOf(of.type).get(name.replace(`${namespace}.`, ""));
  if (!found && !called && (!property || inside !== undefined))
    throw nowhere(name, `an entity of ${of.set.name}`);
  const row = await readOne(walk.ctx, place, new Set([called?.name ?? name]));
  if (!row) throw fail("resource-not-found", { problem: `There is nothing that ${name} could be of` });
  if (called) return resultsOf(walk, called, inside ?? "", row);
  if (found) return follow(walk, { of, row }, { navigation: found, inside });
  return {
    kind: "property",
    row,
    address: `${addressOf(of, row)}/${name}`,
    property: property!,
    isRaw: false,
  };
}

function follow(
  walk: Walk,
  { of, row }: { readonly of: Collection; readonly row: Row },
  { navigation, inside }: { readonly navigation: Navigation; readonly inside: string | undefined },
): Place {
  const { to, join, isMany, isContained, name } = navigation;
  const set = walk.model.sets.get(to)!;
  const { read, count, readColumns } = set;
  const type = walk.model.typeOf(set);
  const scope = join.filter(join.own(row));
  const collection: Collection = {
    kind: "collection",
    ...{ set, type, read, count, scope, address: set.name, isWholeSet: false },
    ...(isContained && { address: `${addressOf(of, row)}/${name}`, container: row }),
    ...(readColumns && { readColumns }),
  };
  if (isMany) return inside === undefined ? collection : withKey(walk, collection, inside);
  if (inside !== undefined) throw fail("key-invalid", { problem: `${name} is one entity and takes no key` });
  return { kind: "entity", of: collection, filter: everything };
}

function fromProperty(place: Place & { kind: "property" }, { name, inside }: Segment): Place {
  const { property, member, address, isRaw } = place;
  const isOpen =
    property.type === "MetaData" || property.type === "RawData" || property.type === "SequenceRowData";
  if (isRaw || inside !== undefined) throw nowhere(name, "a value");
  if (name === "$value" && !(isOpen && member === undefined) && !property.isList)
    return { ...place, isRaw: true };
  if (!isOpen || member !== undefined || name.startsWith("$")) throw nowhere(name, "a value");
  const key = decodeName(name);
  const held = property.get(place.row) as Row;
  if (!Object.hasOwn(held, key)) throw nowhere(name, property.name);
  return { ...place, member: key, address: `${address}/${name}` };
}

/** The entity; undefined where there need not be one. Refuses (404) one that is missing. */
export async function readOne(
  ctx: RequestContext,
  { of, filter, missing }: One,
  needs: ReadonlySet<string>,
): Promise<Row | undefined> {
  const found = await of.read(ctx, { filter: and(of.scope, filter), page: { limit: 1 }, needs });
  const [row] = found.items;
  if (!row && missing !== undefined) throw fail("resource-not-found", { problem: missing });
  return row;
}

/** `Assets('101')`, as it can be part of an address. */
export function addressOf({ address, type }: Pick<Collection, "address" | "type">, row: Row): string {
  const key = type.properties.find(({ name }) => name === type.key)!.get(row);
  return addressIn(address, String(key));
}
