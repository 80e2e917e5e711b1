// The entity model as data: entity types, sets, navigations and functions, as resource modules declare
// them.
//
// Each `*.odata.ts` declares the part of its resource, and `src/app.ts` assembles the parts. Paths,
// `$metadata`, filters, expansions and responses are derived from the model. A set is read by a function of
// its resource module with the request's context, so the caller's rights apply as in REST.
import type { RequestContext } from "../context.ts";
import { invariant } from "../lib/invariant.ts";
import type { Filter } from "../query/filter.ts";
import type { Page, PageQuery, Position } from "../query/page.ts";
import type { ColumnPage } from "./column-page.ts";
import type { Operand, PrimitiveType } from "./operand.ts";

/** The namespace of types and bound functions. */
export const namespace = "DataPlatform.V1";

/** The record of an entity. Only the functions of its resource module know its fields. */
export type EntityRecord = Readonly<Record<string, unknown>>;

/**
 * How a filter can use a property: as a value, by the members of an object, or by the elements of a list.
 */
export type Queryable =
  | { readonly kind: "value"; readonly operand: Operand | ((ctx: RequestContext) => Operand) }
  | { readonly kind: "members"; readonly member: (key: string) => Operand }
  | { readonly kind: "elements"; readonly elements: QueryableElements };

export interface QueryableElements {
  /** The element itself, or the members of an element that is an object, by name. */
  readonly operand: Operand | Readonly<Record<string, Operand>>;
  /** Matches records in which at least one element meets the condition on the operands. */
  toFilter(part: Filter): Filter;
}

export interface Property<From = EntityRecord> {
  readonly name: string;
  /** The type of an element if the property is a list. */
  readonly type: PrimitiveType | OpenComplexType;
  readonly isList?: true;
  readonly isRequired?: true;
  /**
   * Returns times in milliseconds, ids as numbers or strings, and open objects as objects; undefined
   * becomes null.
   */
  readonly get: (row: From) => unknown;
  readonly queryable?: Queryable;
  /** A dynamic property: part of every entity, but not declared in `$metadata`. */
  readonly isDynamic?: true;
}

/** A complex type whose objects have any members. */
export interface OpenComplexType {
  readonly name: string;
  /** Members are values of any JSON type. Otherwise all members are strings. */
  readonly hasMixedMembers?: true;
}

export const isOpenComplex = (type: PrimitiveType | OpenComplexType): type is OpenComplexType =>
  typeof type !== "string";

/** The type's name in `$metadata`. */
export const typeNameOf = (type: PrimitiveType | OpenComplexType): string =>
  isOpenComplex(type) ? `${namespace}.${type.name}` : type;

export interface EntityType<From = EntityRecord> {
  readonly name: string;
  /** The name of the key property, which is a string. */
  readonly key: string;
  readonly properties: readonly Property<From>[];
  /** Media entities: the bytes of the entity are at this URL. */
  readonly stream?: (row: From) => { readonly url: string; readonly contentType?: string };
}

export interface EntitySetQuery {
  readonly filter: Filter;
  readonly page: PageQuery;
  /** The properties, navigations and functions for which the records are read. */
  readonly needs: ReadonlySet<string>;
}

/** Reads the records of an entity set, or of a function's result. */
export interface EntityReader<From = EntityRecord> {
  readonly read: (ctx: RequestContext, question: EntitySetQuery) => Promise<Page<From>>;
  /** `needs` as in `read`; absent means everything. */
  readonly count: (ctx: RequestContext, filter: Filter, needs?: EntitySetQuery["needs"]) => Promise<number>;
  /**
   * Reads the same page as columns, for sets of very many small records: only the requested properties.
   */
  readonly readColumns?: (ctx: RequestContext, question: EntitySetQuery) => Promise<ColumnPage>;
}

export interface EntitySet<From = EntityRecord> extends EntityReader<From> {
  readonly name: string;
  /** The name of the entity type. */
  readonly type: string;
  /** The service document does not list the set. */
  readonly isHidden?: true;
  readonly isCountable?: true;
  readonly requiresFilter?: true;
  /** Properties that no filter may use, and properties that allow only one `eq`. */
  readonly nonFilterable?: readonly string[];
  readonly singleValue?: readonly string[];
  /** `$metadata` does not say whether entities can be inserted. They cannot. */
  readonly omitsInsertRestrictions?: true;
  /** All other properties allow several ranges and searches joined by `or`. */
  readonly isMultiRange?: true;
  /** Default: `limits.odataPageMax`. */
  readonly pageMax?: number;
  /** The path of an entity, for sets whose entities are not addressed as `Set('key')`. */
  readonly entityPath?: (row: From) => string;
  /** Creates an entity. Refuses a key that exists (409) and an unknown container (404). */
  readonly insert?: (ctx: RequestContext, inserted: EntityInsert) => Promise<From>;
  /** The position of a record in the order of `read`. */
  readonly position: (row: From) => Position;
}

/** The body of an insert. */
export interface EntityInsert {
  /** Open objects are `JsonText`, so that they are stored as they were sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The entity whose collection the path names. */
  readonly container?: EntityRecord;
}

/** How a navigation finds the records at its target end, for many source records at once. */
export interface Join<From = EntityRecord, To = EntityRecord> {
  /** The keys that bind a record: several for a list of links, none without a link. */
  readonly own: (row: From) => readonly JoinKey[];
  readonly theirs: (row: To) => readonly JoinKey[];
  /** The target records that are bound by one of the keys. */
  readonly filter: (keys: readonly JoinKey[]) => Filter;
}

export type JoinKey = string | number;

export interface Navigation<From = EntityRecord, To = EntityRecord> {
  /** The name of the source entity type. */
  readonly from: string;
  readonly name: string;
  /** The name of the target entity set. */
  readonly to: string;
  readonly isMany?: true;
  readonly isRequired?: true;
  readonly partner?: string;
  /** The target property that `join` reads, if `partner` does not name it. */
  readonly joinProperty?: string;
  /** How `any` and `all` filter by the target entities. */
  readonly queryable?: QueryableElements;
  /** A property of the source that always equals a property of the target. */
  readonly constraint?: readonly [own: string, theirs: string];
  /** The target entity is part of every response if the caller may see it. */
  readonly isAutoExpanded?: true;
  /** The navigation can be followed by its path, but not expanded. */
  readonly isPathOnly?: true;
  /** `$expand=*` omits the navigation, as it can return the whole project. */
  readonly isExcludedFromWildcard?: true;
  /** The target has the same type, and `$levels` expands the navigation several levels deep. */
  readonly isRecursive?: true;
  /** The target entities belong to the source entity, and their paths start with its path. */
  readonly isContained?: true;
  readonly join: Join<From, To>;
}

export interface FunctionParameter {
  readonly name: string;
  readonly type: "Edm.String" | "Edm.DateTimeOffset";
  readonly isOptional?: true;
}

/** Argument values by parameter name; omitted arguments are absent. */
export type FunctionArguments = Readonly<Record<string, string | number | undefined>>;

/** A function that returns a collection. */
export interface EntityFunction<From = EntityRecord> {
  readonly name: string;
  readonly parameters: readonly FunctionParameter[];
  /** The entity set of the results. */
  readonly set: string;
  /** The entity type that the function is bound to, and the name of the binding parameter. */
  readonly boundTo?: { readonly type: string; readonly parameter: string };
  /** Returns a reader of the results. Refuses invalid arguments. */
  readonly results: (given: FunctionArguments, boundTo?: EntityRecord) => EntityReader<From>;
}

/** The part of the model that one resource module adds. */
export interface EntityModelPart {
  readonly types?: readonly EntityType[];
  readonly sets?: readonly EntitySet[];
  readonly navigations?: readonly Navigation[];
  readonly functions?: readonly EntityFunction[];
}

// Functions of the model take records of any type; these four let a module declare its own with their
// types.
export const entityType = <From>(given: EntityType<From>) => given as unknown as EntityType;
export const entitySet = <From>(given: EntitySet<From>) => given as unknown as EntitySet;
export const navigation = <From, To>(given: Navigation<From, To>) => given as unknown as Navigation;
export const entityFunction = <From>(given: EntityFunction<From>) => given as unknown as EntityFunction;

export interface EntityModel {
  readonly types: ReadonlyMap<string, EntityType>;
  /** The open complex types of all properties, by name. */
  readonly complexTypes: readonly OpenComplexType[];
  readonly sets: ReadonlyMap<string, EntitySet>;
  /** Unbound functions. */
  readonly functions: ReadonlyMap<string, EntityFunction>;
  /** Functions bound to a type, by name. */
  functionsOf(type: EntityType): ReadonlyMap<string, EntityFunction>;
  typeOf(set: EntitySet): EntityType;
  /** Navigations from a type, by name. */
  navigationsOf(type: EntityType): ReadonlyMap<string, Navigation>;
}

/** All functions, unbound ones first. */
export const functionsIn = (model: EntityModel): EntityFunction[] => [
  ...model.functions.values(),
  ...[...model.types.values()].flatMap((type) => [...model.functionsOf(type).values()]),
];

/** Assembles the model. A name that no part declares is an invariant violation. */
export function assembleModel(parts: readonly EntityModelPart[]): EntityModel {
  const types = byName(parts.flatMap((part) => part.types ?? []));
  const sets = byName(parts.flatMap((part) => part.sets ?? []));
  const allFunctions = parts.flatMap((part) => part.functions ?? []);
  const functions = byName(allFunctions.filter(({ boundTo }) => !boundTo));
  const functionsOf = ({ name }: EntityType) =>
    byName(allFunctions.filter(({ boundTo }) => boundTo?.type === name));
  const navigations = Map.groupBy(
    parts.flatMap((part) => part.navigations ?? []),
    ({ from }) => from,
  );
  const namedBy = new Map([...types.keys()].map((name) => [name, byName(navigations.get(name) ?? [])]));
  for (const { type } of sets.values()) invariant(types.has(type), `${type} is an entity type`);
  for (const { set } of allFunctions) invariant(sets.has(set), `${set} is an entity set`);
  for (const { from, to } of [...navigations.values()].flat())
    invariant(types.has(from) && sets.has(to), `a navigation leads from ${from} to ${to}`);
  return {
    ...{ types, sets, functions, functionsOf, complexTypes: complexTypesOf([...types.values()]) },
    typeOf: ({ type }) => types.get(type)!,
    navigationsOf: ({ name }) => namedBy.get(name)!,
  };
}

function complexTypesOf(types: readonly EntityType[]): OpenComplexType[] {
  const used = types.flatMap(({ properties }) => properties.map(({ type }) => type)).filter(isOpenComplex);
  const distinct = byName([...new Set(used)]);
  return [...distinct.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function byName<Named extends { readonly name: string }>(all: readonly Named[]): Map<string, Named> {
  const named = new Map(all.map((one) => [one.name, one]));
  invariant(named.size === all.length, "names in the entity model are unique");
  return named;
}
