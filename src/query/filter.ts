// The filter tree of queries to stores: a closed union of conditions on records.
//
// Where a string is compared with an integer column (`between`, `startsWith`, `endsWith`, `contains`), the
// integer counts as its decimal digits: some clients use identifiers as strings.

/** A stored value a filter can compare with. */
export type Scalar = string | number | boolean;

export type Filter =
  | { readonly kind: "everything" }
  | { readonly kind: "nothing" }
  | { readonly kind: "equals"; readonly field: string; readonly value: Scalar | null }
  | { readonly kind: "oneOf"; readonly field: string; readonly values: readonly Scalar[] }
  | { readonly kind: "between"; readonly field: string; readonly from?: Bound; readonly to?: Bound }
  | {
      readonly kind: "startsWith" | "endsWith" | "contains";
      readonly field: string;
      readonly text: string;
      /** Letters of either case match. */
      readonly ignoreCase: boolean;
    }
  | { readonly kind: "within"; readonly field: string; readonly text: string; readonly distance: number }
  | { readonly kind: "words"; readonly fields: readonly string[]; readonly text: string }
  | {
      readonly kind: "hasMember";
      readonly field: string;
      readonly key: string;
      readonly value?: Scalar;
      readonly from?: Bound;
      readonly to?: Bound;
    }
  | { readonly kind: "hasOneOf"; readonly field: string; readonly values: readonly (string | number)[] }
  | { readonly kind: "hasOnly"; readonly field: string; readonly values: readonly (string | number)[] }
  | { readonly kind: "inSubtree"; readonly tree: string; readonly ids: readonly number[] }
  | { readonly kind: "some"; readonly field: string; readonly part: Filter }
  | { readonly kind: "related"; readonly field: string; readonly table: string; readonly part: Filter }
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter };

export interface Bound {
  readonly value: string | number;
  readonly inclusive: boolean;
}

export const everything: Filter = { kind: "everything" };
export const nothing: Filter = { kind: "nothing" };

/** `null` matches records in which the field is absent. */
export const equals = (field: string, value: Scalar | null): Filter => ({ kind: "equals", field, value });

export const oneOf = (field: string, values: readonly Scalar[]): Filter => ({ kind: "oneOf", field, values });

export const between = (field: string, range: { from?: Bound; to?: Bound }): Filter => ({
  kind: "between",
  field,
  ...range,
});

export type TextTest = "startsWith" | "endsWith" | "contains";

/** Letters of the same case alone match. */
export const textHas = (test: TextTest, field: string, text: string): Filter => ({
  kind: test,
  field,
  text,
  ignoreCase: false,
});

export const startsWith = (field: string, text: string): Filter => textHas("startsWith", field, text);

/** Substring, in any case. */
export const containsIgnoringCase = (field: string, text: string): Filter => ({
  kind: "contains",
  field,
  text,
  ignoreCase: true,
});

/** At most `distance` single-letter edits away. */
export const within = (field: string, text: string, distance: number): Filter => ({
  kind: "within",
  field,
  text,
  distance,
});

/** Every word of `text` begins a word of one of the fields, in any case (docs/reference/common.md#search). */
export const words = (fields: readonly string[], text: string): Filter => ({ kind: "words", fields, text });

export const hasMetadata = (key: string, value: string): Filter => hasMember("metadata", key, { value });

/**
 * The object that the field holds has the key, its value being equal to `value` and within the bounds, where
 * these are given. Values of different types are neither equal nor within each other's bounds.
 */
export const hasMember = (
  field: string,
  key: string,
  wanted: { value?: Scalar; from?: Bound; to?: Bound } = {},
): Filter => ({ kind: "hasMember", field, key, ...wanted });

/**
 * At least one of the values is in the field's list, such as records that are linked to one of some assets.
 */
export const hasOneOf = (field: string, values: readonly (string | number)[]): Filter => ({
  kind: "hasOneOf",
  field,
  values,
});

/** The list that the field holds has no other values than these: an empty list has none at all. */
export const hasOnly = (field: string, values: readonly (string | number)[]): Filter => ({
  kind: "hasOnly",
  field,
  values,
});

/**
 * The record is, or links to, a record of the table `tree` that is in the subtree of one of these, their
 * roots included.
 */
export const inSubtree = (tree: string, ids: readonly number[]): Filter => ({ kind: "inSubtree", tree, ids });

/**
 * An element of the list, or a pair of the object, that the field holds meets `part`. Its fields are
 * `value` for plain elements, `key` and `value` for pairs, and the members themselves for objects in a list.
 */
export const some = (field: string, part: Filter): Filter => ({ kind: "some", field, part });

/** The record of `table` that the field names by its id exists and meets `part`. */
export const related = (field: string, table: string, part: Filter): Filter => ({
  kind: "related",
  field,
  table,
  part,
});

export const not = (part: Filter): Filter => ({ kind: "not", part });

/** Absent parts are no condition; `and()` of none is everything. */
export function and(...parts: readonly (Filter | undefined)[]): Filter {
  const present = parts.filter((part) => part !== undefined && part.kind !== "everything") as Filter[];
  if (present.some((part) => part.kind === "nothing")) return nothing;
  if (present.length === 0) return everything;
  return present.length === 1 ? present[0]! : { kind: "and", parts: present };
}

/** One of the parts is enough; `or()` of none is nothing. */
export function or(...parts: readonly Filter[]): Filter {
  if (parts.some((part) => part.kind === "everything")) return everything;
  const present = parts.filter((part) => part.kind !== "nothing");
  if (present.length === 0) return nothing;
  return present.length === 1 ? present[0]! : { kind: "or", parts: present };
}
