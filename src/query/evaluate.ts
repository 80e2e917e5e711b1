// Evaluates filters, orders and ranks on records in memory. This is the reference: every store must agree
// with it.
import { distance } from "fastest-levenshtein";
import { compareText, containsText, foldCase, wellFormed, wordsIn } from "../lib/text.ts";
import type { Bound, Filter } from "./filter.ts";
import type { OrderBy, Position } from "./page.ts";

/** A record as a filter sees it: named values; an absent member is a missing value. */
export type RecordValues = Readonly<Record<string, unknown>>;

/** Facts that a filter needs, that are not in the record, and that only a store knows. */
export interface RecordContext {
  /** Whether the record is, or links to, a record of the tree in the subtree of one of these. */
  isInSubtree(tree: string, ids: readonly number[]): boolean;
  /** Whether the table has a record of this id that meets the filter. */
  has(table: string, id: number, filter: Filter): boolean;
}

/** Whether a record meets the filter. A condition on a missing value is false (and its `not` true). */
export function matches(filter: Filter, record: RecordValues, around: RecordContext): boolean {
  const every = (part: Filter): boolean => matches(part, record, around);
  switch (filter.kind) {
    case "everything":
      return true;
    case "nothing":
      return false;
    case "and":
      return filter.parts.every(every);
    case "or":
      return filter.parts.some(every);
    case "not":
      return !every(filter.part);
    case "inSubtree":
      return around.isInSubtree(filter.tree, filter.ids);
    case "words":
      return hasWords(filter.fields, filter.text, record);
    case "some":
      return elementsOf(record[filter.field]).some((element) => matches(filter.part, element, around));
    case "related": {
      const id = record[filter.field];
      return typeof id === "number" && around.has(filter.table, id, filter.part);
    }
    default:
      return matchesValue(filter, record[filter.field]);
  }
}

/** As `matches`, for records of no table: none has links. */
export const matchesAlone = (filter: Filter, record: RecordValues): boolean =>
  filter.kind === "everything" || matches(filter, record, { isInSubtree: () => false, has: () => false });

type OfOneField = Exclude<Extract<Filter, { readonly field: string }>, { readonly part: Filter }>;

/** The elements of a list or the pairs of an object as records. */
function elementsOf(held: unknown): RecordValues[] {
  if (Array.isArray(held)) return held.map((value) => (isObject(value) ? value : { value }));
  return isObject(held) ? Object.entries(held).map(([key, value]) => ({ key, value })) : [];
}

const isObject = (value: unknown): value is RecordValues => typeof value === "object" && value !== null;

function matchesValue(filter: OfOneField, value: unknown): boolean {
  switch (filter.kind) {
    case "equals":
      return (value ?? null) === wellFormed(filter.value);
    case "oneOf":
      return wellFormed(filter.values).some((one) => one === value);
    case "between":
      return isAbove(value, filter.from) && isBelow(value, filter.to);
    case "hasOneOf":
      return Array.isArray(value) && wellFormed(filter.values).some((one) => value.includes(one));
    case "hasOnly":
      return Array.isArray(value) && value.every((one) => wellFormed(filter.values).includes(one));
    case "hasMember":
      return isMember(filter, value);
    case "within":
      return typeof value === "string" && distance(value, wellFormed(filter.text)) <= filter.distance;
    default: {
      if (!isPresent(value)) return false;
      const fold = filter.ignoreCase ? foldCase : (text: string) => text;
      const [whole, part] = [fold(String(value)), fold(wellFormed(filter.text))];
      if (filter.kind === "startsWith") return whole.startsWith(part);
      return filter.kind === "endsWith" ? whole.endsWith(part) : containsText(whole, part);
    }
  }
}

function isMember({ key, value, from, to }: OfOneField & { kind: "hasMember" }, held: unknown): boolean {
  if (typeof held !== "object" || held === null) return false;
  const name = wellFormed(key);
  if (!Object.hasOwn(held, name)) return false;
  const member = (held as RecordValues)[name];
  if (value !== undefined && member !== wellFormed(value)) return false;
  const isOfType = (bound: Bound | undefined) => bound === undefined || typeof bound.value === typeof member;
  if (!isOfType(from) || !isOfType(to)) return false;
  return (!from || isAbove(member, from)) && (!to || isBelow(member, to));
}

const isAbove = (value: unknown, from: Bound | undefined): boolean =>
  isPresent(value) && (!from || compareValues(value, from.value) > (from.inclusive ? -1 : 0));

const isBelow = (value: unknown, to: Bound | undefined): boolean =>
  isPresent(value) && (!to || compareValues(value, to.value) < (to.inclusive ? 1 : 0));

const isPresent = (value: unknown): value is string | number =>
  typeof value === "string" || typeof value === "number";

/**
 * Returns -1, 0 or 1. Strings compare by code point; a number compared with a string counts as its digits.
 */
function compareValues(a: string | number, b: string | number): number {
  if (typeof a === "string" || typeof b === "string")
    return Math.sign(compareText(String(a), wellFormed(String(b))));
  return a === b ? 0 : a < b ? -1 : 1;
}

function hasWords(fields: readonly string[], text: string, record: RecordValues): boolean {
  const held = fields.flatMap((field) => wordsIn((record[field] as string | undefined) ?? ""));
  return wordsIn(text).every((wanted) => held.some((word) => word.startsWith(wanted)));
}

/**
 * Negative when `a` comes before `b`; either may be a record or a position turned into one. Where a search is
 * ordered by a value that some records lack, those come last in either direction.
 */
export function compareBy(order: readonly OrderBy[], a: RecordValues, b: RecordValues): number {
  for (const { field, direction } of order) {
    const [one, other] = [a[field], b[field]] as (string | number | undefined)[];
    if (one === undefined || other === undefined) {
      if (one === other) continue;
      return one === undefined ? 1 : -1;
    }
    const sign = compareValues(one, other);
    if (sign !== 0) return direction === "ascending" ? sign : -sign;
  }
  return 0;
}

/** Converts a position to a record with these values. */
export const recordAt = (order: readonly OrderBy[], position: Position): RecordValues =>
  Object.fromEntries(order.map(({ field }, index) => [field, wellFormed(position[index])]));

/** 0 for a value equal to the text, 1 for one beginning with it (both without case), 2 for any other. */
export function rankOf(value: unknown, text: string): number {
  if (typeof value !== "string") return 2;
  const [whole, wanted] = [foldCase(value), foldCase(wellFormed(text))];
  if (whole === wanted) return 0;
  return whole.startsWith(wanted) ? 1 : 2;
}

/** Returns the record counts at which to cut a collection into at most `parts` parts of about equal size. */
export function cutsOf(count: number, parts: number): number[] {
  const cuts = Array.from({ length: Math.max(0, parts - 1) }, (_, at) =>
    Math.ceil((count * (at + 1)) / parts),
  );
  return [...new Set(cuts)].filter((cut) => cut > 0 && cut < count);
}
