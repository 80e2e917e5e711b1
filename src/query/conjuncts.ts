// Extracts the values and the range of a field from a filter, and returns the rest of the filter: for
// collections outside of the catalog, such as datapoints.
import { and, type Bound, type Filter, type Scalar } from "./filter.ts";

/** The conditions that a record must all meet. */
export const conjunctsOf = (filter: Filter): readonly Filter[] =>
  filter.kind === "and" ? filter.parts.flatMap(conjunctsOf) : [filter];

/** All fields in the filter. */
export function fieldsOf(filter: Filter): readonly string[] {
  if (filter.kind === "and" || filter.kind === "or") return filter.parts.flatMap(fieldsOf);
  if (filter.kind === "not") return fieldsOf(filter.part);
  if (filter.kind === "words") return filter.fields;
  return "field" in filter ? [filter.field] : [];
}

/** How many conditions the filter has. */
export function conditionsIn(filter: Filter): number {
  if (filter.kind === "and" || filter.kind === "or")
    return filter.parts.reduce((sum, part) => sum + conditionsIn(part), 0);
  if (filter.kind === "not" || filter.kind === "some" || filter.kind === "related")
    return conditionsIn(filter.part);
  return 1;
}

/** The conditions on these fields alone, and all others. */
export function splitBy(
  filter: Filter,
  fields: readonly string[],
): { readonly on: Filter; readonly rest: Filter } {
  const parts = conjunctsOf(filter);
  const isOn = (part: Filter) => fieldsOf(part).every((field) => fields.includes(field));
  return { on: and(...parts.filter(isOn)), rest: and(...parts.filter((part) => !isOn(part))) };
}

/** Returns the distinct values to which the filter limits a field, if it does, and the rest of the filter. */
export function valuesIn(filter: Filter, field: string): { values?: readonly Scalar[]; rest: Filter } {
  let values: readonly Scalar[] | undefined;
  const rest: Filter[] = [];
  for (const part of conjunctsOf(filter)) {
    const named = part.kind === "nothing" ? [] : valuesOf(part, field);
    if (!named) rest.push(part);
    else values = values ? values.filter((one) => named.includes(one)) : [...new Set(named)];
  }
  return { ...(values && { values }), rest: and(...rest) };
}

function valuesOf(filter: Filter, field: string): readonly Scalar[] | undefined {
  if (filter.kind === "or") {
    const all = filter.parts.map((part) => valuesOf(part, field));
    return all.every((one) => one !== undefined) ? all.flat() : undefined;
  }
  if (filter.kind === "oneOf" && filter.field === field) return filter.values;
  return filter.kind === "equals" && filter.field === field && filter.value !== null
    ? [filter.value]
    : undefined;
}

/** The whole numbers that the filter limits a field to, from `start` up to but without `end`. */
export function rangeIn(
  filter: Filter,
  field: string,
): { readonly start: number; readonly end: number; readonly rest: Filter } {
  let [start, end] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const rest: Filter[] = [];
  for (const part of conjunctsOf(filter)) {
    const range = part.kind === "nothing" ? { start: 0, end: 0 } : rangeOf(part, field);
    if (!range) rest.push(part);
    else [start, end] = [Math.max(start, range.start), Math.min(end, range.end)];
  }
  return { start, end, rest: and(...rest) };
}

function rangeOf(filter: Filter, field: string): { start: number; end: number } | undefined {
  if (filter.kind === "equals" && filter.field === field && typeof filter.value === "number")
    return { start: filter.value, end: filter.value + 1 };
  if (filter.kind !== "between" || filter.field !== field) return undefined;
  const from = wholeAfter(filter.from, "inclusive");
  const to = wholeAfter(filter.to, "exclusive");
  return { start: from ?? Number.NEGATIVE_INFINITY, end: to ?? Number.POSITIVE_INFINITY };
}

/** The first whole number that a lower bound admits, or that an upper one does not. */
function wholeAfter(bound: Bound | undefined, side: "inclusive" | "exclusive"): number | undefined {
  if (typeof bound?.value !== "number") return undefined;
  const isItself = bound.inclusive === (side === "inclusive");
  return isItself ? Math.ceil(bound.value) : Math.floor(bound.value) + 1;
}

/**
 * Values of a field that include those of all records that match the filter; undefined if any value can
 * match. A value in the list need not match: `(id = 1 and time < 5) or id = 2` has the values 1 and 2.
 */
export function candidateValues(filter: Filter, field: string): readonly Scalar[] | undefined {
  if (filter.kind === "nothing") return [];
  if (filter.kind === "or") {
    const all = filter.parts.map((part) => candidateValues(part, field));
    return all.every((one) => one !== undefined) ? [...new Set(all.flat())] : undefined;
  }
  if (filter.kind !== "and") return valuesOf(filter, field);
  const limiting = filter.parts
    .map((part) => candidateValues(part, field))
    .filter((values) => values !== undefined);
  return limiting.length === 0
    ? undefined
    : limiting.reduce((common, values) => common.filter((one) => values.includes(one)));
}

/** The smallest range of whole numbers, without `end`, that includes those of all records that match. */
export function candidateRange(filter: Filter, field: string): { start: number; end: number } {
  const parts = filter.kind === "and" || filter.kind === "or" ? filter.parts : [];
  const ranges = parts.map((part) => candidateRange(part, field));
  const [starts, ends] = [ranges.map(({ start }) => start), ranges.map(({ end }) => end)];
  if (filter.kind === "and") return { start: Math.max(...starts), end: Math.min(...ends) };
  if (filter.kind === "or") return { start: Math.min(...starts), end: Math.max(...ends) };
  if (filter.kind === "nothing") return { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
  return rangeOf(filter, field) ?? { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };
}
