// The entity model as data: what rooms say of their entity types, sets, navigations and functions.
//
// A room's `*.odata.ts` describes its part; `src/app.ts` names the parts, and from the whole come paths,
// `$metadata`, filters, expansion and the bytes of answers. A set is read by a function of its room, with the
// caller in hand, so that rights hold here as they do over REST.
import type { RequestContext } from "../context.ts";
import { invariant } from "../lib/invariant.ts";
import type { Filter } from "../query/filter.ts";
import type { Page, PageQuery, Position } from "../query/page.ts";
import type { ColumnPage } from "./columns.ts";
import type { Operand, PrimitiveType } from "./operand.ts";

/** What the names of types and bound functions begin with. */
export const namespace = "DataPlatform.V1";

/** A record that stands for an entity. The kernel does not look into it. */
export type Row = Readonly<Record<string, unknown>>;

/** What of a property a filter can ask: a value, the members of an object, the elements of a list. */
export type Askable =
  | { readonly kind: "value"; readonly operand: Operand | ((ctx: RequestContext) => Operand) }
  | { readonly kind: "members"; readonly member: (key: string) => Operand }
  | { readonly kind: "elements"; readonly elements: Elements };

export interface Elements {
  /** A plain element's value, or by its name a member of an element that is an object. */
  readonly operand: Operand | Readonly<Record<string, Operand>>;
  /** Some element meets the condition, which is about the operands. */
  some(part: Filter): Filter;
}

export interface Property<From = Row> {
  readonly name: string;
  /** Of each element, for a list. */
  readonly type: PrimitiveType | OpenComplexType;
  readonly isList?: true;
  readonly isRequired?: true;
  /** Times in milliseconds, ids as numbers or texts, open objects as objects; undefined is null. */
  readonly get: (row: From) => unknown;
  readonly asked?: Askable;
  /** Not declared in `$metadata`, though it is always there: the types are open. */
  readonly isDynamic?: true;
}

/** Objects of any members. */
export type OpenComplexType = "MetaData" | "RawData" | "SequenceRowData";

export const openComplexTypes: readonly OpenComplexType[] = ["MetaData", "RawData", "SequenceRowData"];

export interface EntityType<From = Row> {
  readonly name: string;
  /** The name of its key property, a text. */
  readonly key: string;
  readonly properties: readonly Property<From>[];
  /** Its entities stand for bytes, which are to be had at an address. */
  readonly stream?: (row: From) => { readonly url: string; readonly contentType?: string };
}

export interface SetQuestion {
  readonly filter: Filter;
  readonly page: PageQuery;
  /** The names of the properties, navigations and functions that the records are needed for. */
  readonly needs: ReadonlySet<string>;
}

/** How records of some kind are read, a page at a time and by number. */
export interface Readable<From = Row> {
  readonly read: (ctx: RequestContext, question: SetQuestion) => Promise<Page<From>>;
  /** `needs` as of `read`; everything when absent. */
  readonly count: (ctx: RequestContext, filter: Filter, needs?: SetQuestion["needs"]) => Promise<number>;
  /** The same page by columns, for sets of very many small records: the properties asked, of every row. */
  readonly readColumns?: (ctx: RequestContext, question: SetQuestion) => Promise<ColumnPage>;
}

export interface EntitySet<From = Row> extends Readable<From> {
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
  readonly saysNothingOfInserts?: true;
  /** The other properties take several ranges and searches, joined by `or`. */
  readonly isMultiRange?: true;
  /** `limits.odataPageMax` when absent. */
  readonly pageMax?: number;
  /** The address of an entity below the root, where that is not the set's with a key. */
  readonly address?: (row: From) => string;
  /** Makes an entity; refuses (409) one whose key is taken, and (404) an unknown container. */
  readonly insert?: (ctx: RequestContext, inserted: Inserted) => Promise<From>;
  /** Where a record stands in the order of `read`. */
  readonly position: (row: From) => Position;
}

/** An entity as it was sent. */
export interface Inserted {
  /** Objects of open types are `JsonText`, as they have to stay as they were written. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The entity that is to contain it, when its path says so. */
  readonly container?: Row;
}

/** How the records at one end of a navigation are found from those at the other, for many at once. */
export interface Join<From = Row, To = Row> {
  /** What a record is bound by; several for a list of links, none for no link. */
  readonly own: (row: From) => readonly Key[];
  readonly theirs: (row: To) => readonly Key[];
  /** The records at the other end that are bound by one of these. */
  readonly filter: (keys: readonly Key[]) => Filter;
}

export type Key = string | number;

export interface Navigation<From = Row, To = Row> {
  /** The name of the entity type it starts from. */
  readonly from: string;
  readonly name: string;
  /** The name of the entity set it leads to. */
  readonly to: string;
  readonly isMany?: true;
  readonly isRequired?: true;
  readonly partner?: string;
  /** The property of the other end that `join` reads, where `partner` does not say it. */
  readonly reads?: string;
  /** What a filter can ask of the entities at its end, within `any` and `all`. */
  readonly elements?: Elements;
  /** A property of this end and the one of the other end that it is equal to. */
  readonly constraint?: readonly [own: string, theirs: string];
  /** Its entity is always part of an answer, as far as the caller may see it. */
  readonly isAutoExpanded?: true;
  /** It can be followed by its path alone. */
  readonly isPathOnly?: true;
  /** The entities at its end belong to the one it starts from, and are part of its address. */
  readonly isContained?: true;
  readonly join: Join<From, To>;
}

export interface Parameter {
  readonly name: string;
  readonly type: "Edm.String" | "Edm.DateTimeOffset";
  readonly isOptional?: true;
}

/** Values of parameters by name; those left out are absent. */
export type Arguments = Readonly<Record<string, string | number | undefined>>;

/** A function that answers a collection. */
export interface EntityFunction<From = Row> {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** The name of the entity set that its results belong to, or are like those of. */
  readonly set: string;
  /** The name of the entity type that it is called on, by the name of a parameter that is not sent. */
  readonly boundTo?: { readonly type: string; readonly parameter: string };
  /** With what it answers, for these arguments. Refuses arguments that it cannot take. */
  readonly results: (given: Arguments, boundTo?: Row) => Readable<From>;
}

/** What one room adds to the model. */
export interface ModelPart {
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

export interface Model {
  readonly types: ReadonlyMap<string, EntityType>;
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
export const functionsIn = (model: Model): EntityFunction[] => [
  ...model.functions.values(),
  ...[...model.types.values()].flatMap((type) => [...model.functionsOf(type).values()]),
];

/** The model of all parts; a name that leads nowhere is a fault of ours. */
export function assembleModel(parts: readonly ModelPart[]): Model {
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
    ...{ types, sets, functions, functionsOf },
    typeOf: ({ type }) => types.get(type)!,
    navigationsOf: ({ name }) => namedBy.get(name)!,
  };
}

function byName<Named extends { readonly name: string }>(all: readonly Named[]): Map<string, Named> {
  const named = new Map(all.map((one) => [one.name, one]));
  invariant(named.size === all.length, "names in the entity model are unique");
  return named;
}
