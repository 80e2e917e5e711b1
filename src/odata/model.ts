// The entity model as data: what rooms say of their entity types, sets, navigations and functions.
//
// A room's `*.odata.ts` describes its part; `src/app.ts` names the parts, and from the whole come paths,
// `$metadata`, filters, expansion and the bytes of answers. A set is read by a function of its room, with the
// caller in hand, so that rights hold here as they do over REST.
import type { RequestContext } from "../context.ts";
import { invariant } from "../lib/invariant.ts";
import type { Filter } from "../query/filter.ts";
import type { Page, PageQuery, Position } from "../query/page.ts";
import type { ColumnPage } from "./column-page.ts";
import type { Operand, PrimitiveType } from "./operand.ts";

/** What the names of types and bound functions begin with. */
export const namespace = "DataPlatform.V1";

/** A record that stands for an entity. The kernel does not look into it. */
export type EntityRecord = Readonly<Record<string, unknown>>;

/** What of a property a filter can ask: a value, the members of an object, the elements of a list. */
export type Queryable =
  | { readonly kind: "value"; readonly operand: Operand | ((ctx: RequestContext) => Operand) }
  | { readonly kind: "members"; readonly member: (key: string) => Operand }
  | { readonly kind: "elements"; readonly elements: QueryableElements };

export interface QueryableElements {
  /** A plain element's value, or by its name a member of an element that is an object. */
  readonly operand: Operand | Readonly<Record<string, Operand>>;
  /** Some element meets the condition, which is about the operands. */
  toFilter(part: Filter): Filter;
}

export interface Property<From = EntityRecord> {
  readonly name: string;
  /** Of each element, for a list. */
  readonly type: PrimitiveType | OpenComplexType;
  readonly isList?: true;
  readonly isRequired?: true;
  /** Times in milliseconds, ids as numbers or texts, open objects as objects; undefined is null. */
  readonly get: (row: From) => unknown;
  readonly queryable?: Queryable;
  /** Not declared in `$metadata`, though it is always there: the types are open. */
  readonly isDynamic?: true;
}

/** A complex type whose objects have any members. */
export interface OpenComplexType {
  readonly name: string;
  /** Members are values of any JSON type, nested ones included. Otherwise all members are strings. */
  readonly hasMixedMembers?: true;
}

/** Whether values of the property are objects with any members. */
export const isOpenComplex = (type: PrimitiveType | OpenComplexType): type is OpenComplexType =>
  typeof type !== "string";

/** The type's name in `$metadata`. */
export const typeNameOf = (type: PrimitiveType | OpenComplexType): string =>
  isOpenComplex(type) ? `${namespace}.${type.name}` : type;

export interface EntityType<From = EntityRecord> {
  readonly name: string;
  /** The name of its key property, a text. */
  readonly key: string;
  readonly properties: readonly Property<From>[];
  /** Its entities stand for bytes, which are to be had at an address. */
  readonly stream?: (row: From) => { readonly url: string; readonly contentType?: string };
}

export interface EntitySetQuery {
  readonly filter: Filter;
  readonly page: PageQuery;
  /** The names of the properties, navigations and functions that the records are needed for. */
  readonly needs: ReadonlySet<string>;
}

/** How records of some kind are read, a page at a time and by number. */
export interface EntityReader<From = EntityRecord> {
  readonly read: (ctx: RequestContext, question: EntitySetQuery) => Promise<Page<From>>;
  /** `needs` as of `read`; everything when absent. */
  readonly count: (ctx: RequestContext, filter: Filter, needs?: EntitySetQuery["needs"]) => Promise<number>;
  /** The same page by columns, for sets of very many small records: the properties asked, of every row. */
  readonly readColumns?: (ctx: RequestContext, question: EntitySetQuery) => Promise<ColumnPage>;
}

export interface EntitySet<From = EntityRecord> extends EntityReader<From> {
  readonly name: string;
  /** The name of its entity type. */
  readonly type: string;
  /** Left out of the service document. */
  readonly isHidden?: true;
  readonly isCountable?: true;
  readonly requiresFilter?: true;
  /** Properties that no filter may use, and those that take a single `eq`. */
  readonly nonFilterable?: readonly string[];
  readonly singleValue?: readonly string[];
  /** The platform does not say whether entities can be inserted; they cannot. */
  readonly omitsInsertRestrictions?: true;
  /** The other properties take several ranges and searches, joined by `or`. */
  readonly isMultiRange?: true;
  /** `limits.odataPageMax` when absent. */
  readonly pageMax?: number;
  /** The address of an entity below the root, where that is not the set's with a key. */
  readonly entityPath?: (row: From) => string;
  /** Makes an entity; refuses (409) one whose key is taken, and (404) an unknown container. */
  readonly insert?: (ctx: RequestContext, inserted: EntityInsert) => Promise<From>;
  /** Where a record stands in the order of `read`. */
  readonly position: (row: From) => Position;
}

/** An entity as it was sent. */
export interface EntityInsert {
  /** Objects of open types are `JsonText`, as they have to stay as they were written. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The entity that is to contain it, when its path says so. */
  readonly container?: EntityRecord;
}

/** How the records at one end of a navigation are found from those at the other, for many at once. */
export interface Join<From = EntityRecord, To = EntityRecord> {
  /** What a record is bound by; several for a list of links, none for no link. */
  readonly own: (row: From) => readonly JoinKey[];
  readonly theirs: (row: To) => readonly JoinKey[];
  /** The records at the other end that are bound by one of these. */
  readonly filter: (keys: readonly JoinKey[]) => Filter;
}

export type JoinKey = string | number;

export interface Navigation<From = EntityRecord, To = EntityRecord> {
  /** The name of the entity type it starts from. */
  readonly from: string;
  readonly name: string;
  /** The name of the entity set it leads to. */
  readonly to: string;
  readonly isMany?: true;
  readonly isRequired?: true;
  readonly partner?: string;
  /** The property of the other end that `join` reads, where `partner` does not say it. */
  readonly joinProperty?: string;
  /** What a filter can ask of the entities at its end, within `any` and `all`. */
  readonly queryable?: QueryableElements;
  /** A property of this end and the one of the other end that it is equal to. */
  readonly constraint?: readonly [own: string, theirs: string];
  /** Its entity is always part of an answer, as far as the caller may see it. */
  readonly isAutoExpanded?: true;
  /** Only its path is served: a request cannot expand it. */
  readonly isPathOnly?: true;
  /** `$expand=*` leaves it out, as it can hold the whole project. */
  readonly isExcludedFromWildcard?: true;
  /** Leads to entities of the same type, and `$levels` can expand it several levels deep. */
  readonly isRecursive?: true;
  /** The entities at its end belong to the one it starts from, and are part of its address. */
  readonly isContained?: true;
  readonly join: Join<From, To>;
}

export interface FunctionParameter {
  readonly name: string;
  readonly type: "Edm.String" | "Edm.DateTimeOffset";
  readonly isOptional?: true;
}

/** Values of parameters by name; those left out are absent. */
export type FunctionArguments = Readonly<Record<string, string | number | undefined>>;

/** A function that answers a collection. */
export interface EntityFunction<From = EntityRecord> {
  readonly name: string;
  readonly parameters: readonly FunctionParameter[];
  /** The name of the entity set that its results belong to, or are like those of. */
  readonly set: string;
  /** The name of the entity type that it is called on, by the name of a parameter that is not sent. */
  readonly boundTo?: { readonly type: string; readonly parameter: string };
  /** With what it answers, for these arguments. Refuses arguments that it cannot take. */
  readonly results: (given: FunctionArguments, boundTo?: EntityRecord) => EntityReader<From>;
}

/** What one room adds to the model. */
export interface EntityModelPart {
  readonly types?: readonly EntityType[];
  readonly sets?: readonly EntitySet[];
  readonly navigations?: readonly Navigation[];
  readonly functions?: readonly EntityFunction[];
}

// The kernel handles records of all kinds; these let a room write down its own with their types.
export const entityType = <From>(given: EntityType<From>) => given as unknown as EntityType;
export const entitySet = <From>(given: EntitySet<From>) => given as unknown as EntitySet;
export const navigation = <From, To>(given: Navigation<From, To>) => given as unknown as Navigation;
export const entityFunction = <From>(given: EntityFunction<From>) => given as unknown as EntityFunction;

export interface EntityModel {
  readonly types: ReadonlyMap<string, EntityType>;
  /** Those of all properties, by name. */
  readonly complexTypes: readonly OpenComplexType[];
  readonly sets: ReadonlyMap<string, EntitySet>;
  /** Those that are called on the service. */
  readonly functions: ReadonlyMap<string, EntityFunction>;
  /** Those that are called on entities of a type, by name. */
  functionsOf(type: EntityType): ReadonlyMap<string, EntityFunction>;
  typeOf(set: EntitySet): EntityType;
  /** Those that start from entities of a type, by name. */
  navigationsOf(type: EntityType): ReadonlyMap<string, Navigation>;
}

/** All functions, those called on the service first. */
export const functionsIn = (model: EntityModel): EntityFunction[] => [
  ...model.functions.values(),
  ...[...model.types.values()].flatMap((type) => [...model.functionsOf(type).values()]),
];

/** The model of all parts; a name that leads nowhere is a fault of ours. */
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
