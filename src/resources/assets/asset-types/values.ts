// The types and field values of assets: checks input against the type definitions, applies changes, and
// returns them.
import { fail } from "../../../errors.ts";
import { limits } from "../../../limits.ts";
import { and, type Filter, hasMember, hasOneOf, oneOf } from "../../../query/filter.ts";
import { byId } from "../../../query/page.ts";
import type { CatalogReader } from "../../../storage/catalog.ts";
import {
  type AssetType,
  assetTypeTable,
  type FieldValue,
  type FieldValueType,
  type TypedRow,
  type TypeField,
} from "./schema.ts";

interface FieldInput {
  readonly id: number;
  readonly value: FieldValue;
}

/** A type with field values for an asset; fields without a value are left out. */
export interface TypeInput {
  readonly id: number;
  readonly fields?: readonly FieldInput[] | undefined;
}

/** Changes are applied in this order; absent members change nothing. */
export interface TypesChange {
  /** Replaces all types of the asset. */
  readonly set?: readonly TypeInput[] | undefined;
  /** Ids of types; types that the asset does not have are ignored. */
  readonly remove?: readonly number[] | undefined;
  /** If the asset already has the type, its values are replaced. */
  readonly add?: readonly TypeInput[] | undefined;
  /** Changes values of types that the asset has. */
  readonly edit?: readonly TypeEdit[] | undefined;
}

interface TypeEdit {
  readonly id: number;
  /** Replaces all values of the type. */
  readonly set?: readonly FieldInput[] | undefined;
  /** Ids of fields; fields without a value are ignored. */
  readonly remove?: readonly number[] | undefined;
  readonly add?: readonly FieldInput[] | undefined;
}

/** Matches assets that have the type, and for each of these fields a matching value. */
export interface TypeFilter {
  readonly id: number;
  readonly fields?: readonly FieldFilter[] | undefined;
}

interface FieldFilter {
  readonly id: number;
  readonly value?: FieldValue | undefined;
  /** Both inclusive. */
  readonly min?: string | number | undefined;
  readonly max?: string | number | undefined;
}

/** A type of an asset with its values, as responses contain it. */
export interface AssetTypeValues {
  readonly id: number;
  readonly name: string;
  readonly fields: readonly (Omit<TypeField, "description"> & { readonly value: FieldValue })[];
}

export type TypeDefinitions = ReadonlyMap<number, AssetType>;

/** The definitions of these types by id; types that do not exist are left out. */
export async function typeDefinitions(tx: CatalogReader, ids: Iterable<number>): Promise<TypeDefinitions> {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return new Map();
  const query = { filter: oneOf("id", distinct), order: byId, page: { limit: distinct.length } };
  return new Map((await tx.find(assetTypeTable, query)).map((type) => [type.id, type]));
}

/** The ids of all types in a change. */
export function typeIdsIn(change: TypesChange | readonly TypeInput[]): number[] {
  const { set = [], remove = [], add = [], edit = [] } = isList(change) ? { set: change } : change;
  return [...remove, ...[...set, ...add, ...edit].map(({ id }) => id)];
}

/** The types and values of an asset's row, in the order of its types and their fields. */
export const typeValuesOf = (
  { typeIds = [], fieldValues = {} }: TypedRow,
  definitions: TypeDefinitions,
): AssetTypeValues[] =>
  typeIds.map((typeId) => {
    const { id, name, fields } = definitions.get(typeId)!;
    const existing = fields.filter((field) => Object.hasOwn(fieldValues, field.id));
    return {
      ...{ id, name },
      fields: existing.map((field) => ({
        id: field.id,
        name: field.name,
        valueType: field.valueType,
        value: fieldValues[field.id]!,
      })),
    };
  });

/** Matches assets that meet all of these conditions. */
export const filterByTypes = (filters: readonly TypeFilter[]): Filter =>
  and(...filters.flatMap(({ id, fields = [] }) => [hasOneOf("typeIds", [id]), ...fields.map(fieldFilter)]));

const fieldFilter = ({ id, value, min, max }: FieldFilter): Filter =>
  hasMember("fieldValues", `${id}`, {
    ...(value !== undefined && { value }),
    ...(min !== undefined && { from: { value: min, inclusive: true } }),
    ...(max !== undefined && { to: { value: max, inclusive: true } }),
  });

/**
 * Applies a change to the types of an asset; a list replaces them all. Refuses unknown and repeated types
 * and fields, values of the wrong `valueType`, edits of types that the asset does not have, and more than
 * the limits. Refusals name the field of the request (`items[0].types`).
 */
export function changeTypes(
  before: TypedRow,
  change: TypesChange | readonly TypeInput[],
  { definitions, place }: { readonly definitions: TypeDefinitions; readonly place: string },
): TypedRow {
  if (isList(change)) return typedBy(inputValues(change, place, definitions), place);
  const { set, remove = [], add = [], edit = [] } = change;
  const existing = set ? inputValues(set, `${place}.set`, definitions) : storedValues(before, definitions);
  for (const [index, id] of remove.entries())
    existing.delete(typeAt(`${place}.remove[${index}]`, id, definitions).id);
  for (const [id, values] of inputValues(add, `${place}.add`, definitions)) existing.set(id, values);
  refuseTwice(edit, `${place}.edit`);
  for (const [index, one] of edit.entries()) {
    const at = `${place}.edit[${index}]`;
    const type = typeAt(`${at}.id`, one.id, definitions);
    const values = existing.get(one.id);
    if (!values) throw refusal(`${at}.id`, "the id of a type that the asset has", one.id);
    existing.set(one.id, editValues(values, one, { type, place: at }));
  }
  return typedBy(existing, place);
}

const isList = (change: TypesChange | readonly TypeInput[]): change is readonly TypeInput[] =>
  Array.isArray(change);

type FieldValues = Map<number, FieldValue>;

const storedValues = (before: TypedRow, definitions: TypeDefinitions): Map<number, FieldValues> =>
  new Map(
    typeValuesOf(before, definitions).map(({ id, fields }) => [
      id,
      new Map(fields.map((field) => [field.id, field.value])),
    ]),
  );

function inputValues(
  types: readonly TypeInput[],
  place: string,
  definitions: TypeDefinitions,
): Map<number, FieldValues> {
  refuseTwice(types, place);
  return new Map(
    types.map(({ id, fields = [] }, index) => {
      const type = typeAt(`${place}[${index}].id`, id, definitions);
      return [id, valuesOf(fields, { type, place: `${place}[${index}].fields` })];
    }),
  );
}

function typeAt(place: string, id: number, definitions: TypeDefinitions): AssetType {
  const type = definitions.get(id);
  if (!type) throw refusal(place, "the id of an asset type", id);
  return type;
}

interface OfType {
  readonly type: AssetType;
  readonly place: string;
}

function editValues(before: FieldValues, { set, remove = [], add = [] }: TypeEdit, { type, place }: OfType) {
  const values = set ? valuesOf(set, { type, place: `${place}.set` }) : new Map(before);
  for (const [index, id] of remove.entries())
    values.delete(fieldAt(`${place}.remove[${index}]`, id, type).id);
  for (const [id, value] of valuesOf(add, { type, place: `${place}.add` })) values.set(id, value);
  return values;
}

function valuesOf(fields: readonly FieldInput[], { type, place }: OfType): FieldValues {
  refuseTwice(fields, place);
  return new Map(
    fields.map(({ id, value }, index) => {
      const { valueType } = fieldAt(`${place}[${index}].id`, id, type);
      if (!fits[valueType](value)) throw refusal(`${place}[${index}].value`, `a ${valueType}`, value);
      return [id, value];
    }),
  );
}

function fieldAt(place: string, id: number, type: AssetType): TypeField {
  const field = type.fields.find((one) => one.id === id);
  if (!field) throw refusal(place, `the id of a field of the type ${type.id}`, id);
  return field;
}

const fits: Readonly<Record<FieldValueType, (value: FieldValue) => boolean>> = {
  String: (value) => typeof value === "string",
  Long: Number.isSafeInteger,
  Double: Number.isFinite,
  Boolean: (value) => typeof value === "boolean",
};

function refuseTwice(list: readonly { readonly id: number }[], place: string): void {
  const seen = new Set<number>();
  for (const [index, { id }] of list.entries())
    if (seen.size === seen.add(id).size) throw refusal(`${place}[${index}].id`, "each id only once", id);
}

const refusal = (field: string, expected: string, got: unknown) =>
  fail("field-invalid", { field, expected, got: JSON.stringify(got) });

function typedBy(existing: ReadonlyMap<number, FieldValues>, place: string): TypedRow {
  if (existing.size === 0) return {};
  const typeIds = [...existing.keys()];
  const fieldValues = Object.fromEntries([...existing.values()].flatMap((values) => [...values]));
  if (typeIds.length > limits.assetTypesMax)
    throw fail("too-many", { field: place, limit: limits.assetTypesMax, got: typeIds.length });
  const length = JSON.stringify(fieldValues).length;
  if (length > limits.assetValuesLengthMax)
    throw refusal(place, `at most ${limits.assetValuesLengthMax} characters of values`, length);
  return { typeIds, fieldValues };
}
