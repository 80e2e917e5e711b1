// Operands of filters: an operand makes a filter of the stores for each comparison with a property.
import {
  and,
  type Bound,
  between,
  equals,
  everything,
  type Filter,
  hasMember,
  hasOneOf,
  not,
  nothing,
  oneOf,
  or,
  related,
  type Scalar,
  some,
  type TextTest,
  textHas,
} from "../query/filter.ts";

/** The types of properties in filters and responses. */
export type PrimitiveType = "Edm.String" | "Edm.Boolean" | "Edm.DateTimeOffset" | "Edm.Double" | "Edm.Int64";

/** A member of an open object, which can hold a value of any type. */
export type AnyType = "any";

export interface Range {
  readonly from?: Bound;
  readonly to?: Bound;
}

/**
 * A value of a record, as filters compare it. Each method returns the records for which its comparison is
 * true. Values have the form of the property's type: strings for ids, milliseconds since 1970 for times. A
 * comparison whose method is absent is refused (501).
 */
export interface Operand {
  readonly type: PrimitiveType | AnyType;
  /** `null` matches records without the value. */
  equals(value: Scalar | null): Filter;
  oneOf?(values: readonly Scalar[]): Filter;
  /** Without records that lack the value. */
  between?(range: Range): Filter;
  /** Without records that lack the value. */
  has?(test: TextTest, text: string): Filter;
}

/** A column that holds the property's value. */
export const column = (field: string, type: PrimitiveType = "Edm.String"): Operand => ({
  type,
  equals: (value) => equals(field, value),
  oneOf: (values) => oneOf(field, values),
  between: (range) => between(field, range),
  ...(type === "Edm.String" && { has: (test: TextTest, text: string) => textHas(test, field, text) }),
});

/** A column of ids, which are decimal strings in OData. */
export const idColumn = (field: string): Operand => ({
  type: "Edm.String",
  equals(value) {
    if (value === null) return equals(field, null);
    const id = parseId(value);
    return id === undefined ? nothing : equals(field, id);
  },
  oneOf: (values) =>
    oneOf(
      field,
      values.map(parseId).filter((id) => id !== undefined),
    ),
  between: (range) => between(field, range),
  has: (test, text) => textHas(test, field, text),
});

/** The id in a string, or undefined if the string is not an id. */
export function parseId(text: Scalar): number | undefined {
  const id = typeof text === "string" && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The value of `first`, or the value of `second` for records without the first. */
export function firstPresent(first: Operand, second: Operand): Operand {
  const either = (condition: (operand: Operand) => Filter) =>
    or(condition(first), and(first.equals(null), condition(second)));
  return {
    type: first.type,
    equals: (value) =>
      value === null
        ? and(first.equals(null), second.equals(null))
        : either((operand) => operand.equals(value)),
    oneOf: (values) => either((operand) => operand.oneOf!(values)),
    between: (range) => either((operand) => operand.between!(range)),
    has: (test, text) => either((operand) => operand.has!(test, text)),
  };
}

/**
 * An undeclared property: its value is null. Published clients send such filters and expect no error
 * (docs/reference/odata.md#filter-language).
 */
export const absent = (type: PrimitiveType = "Edm.String"): Operand => ({
  type,
  equals: (value) => (value === null ? everything : nothing),
  between: () => nothing,
  has: () => nothing,
});

/** The string under a key of the open object in a column. */
export const stringMember =
  (field: string) =>
  (key: string): Operand => {
    const value = column("value");
    const under = (part: Filter) => some(field, and(equals("key", key), part));
    return {
      type: "Edm.String",
      equals: (text) => (text === null ? not(under(everything)) : under(value.equals(text))),
      oneOf: (texts) => under(value.oneOf!(texts)),
      between: (range) => under(value.between!(range)),
      has: (test, text) => under(value.has!(test, text)),
    };
  };

/** The value of any type under a key of the open object in a field. */
export const typedMember =
  (field: string) =>
  (key: string): Operand => ({
    type: "any",
    equals: (value) => (value === null ? hasNoValue(field, key) : hasMember(field, key, { value })),
    between: (range) => hasMember(field, key, range),
    has: (test, part) => some(field, and(equals("key", key), textHas(test, "value", part))),
  });

/** Matches records whose member is absent or null. */
const hasNoValue = (field: string, key: string): Filter =>
  not(some(field, and(equals("key", key), not(equals("value", null)))));

/** A property of a related record: the record of `table` whose id is in `field`, if it meets `visible`. */
export function ofRelated(
  { field, table, visible }: { readonly field: string; readonly table: string; readonly visible: Filter },
  operand: Operand,
): Operand {
  const relatedMeets = (part: Filter) => related(field, table, and(visible, part));
  return {
    type: operand.type,
    equals: (value) =>
      value === null ? not(relatedMeets(not(operand.equals(null)))) : relatedMeets(operand.equals(value)),
    ...(operand.oneOf && { oneOf: (values) => relatedMeets(operand.oneOf!(values)) }),
    ...(operand.between && { between: (range) => relatedMeets(operand.between!(range)) }),
    ...(operand.has && { has: (test, text) => relatedMeets(operand.has!(test, text)) }),
  };
}

/** Matches records whose id list has an element that meets the condition; equality uses an index. */
export function idListHas(field: string, part: Filter): Filter {
  if (part.kind === "or") return or(...part.parts.map((one) => idListHas(field, one)));
  const { value, values = [value] } = part as { value?: Scalar | null; values?: readonly Scalar[] };
  const isPlain = part.kind === "oneOf" || (part.kind === "equals" && value !== null);
  return isPlain ? hasOneOf(field, values as number[]) : some(field, part);
}
