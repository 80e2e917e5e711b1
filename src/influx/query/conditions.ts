// Conditions of WHERE on tags and fields: their evaluation, and the filter of the catalog that they imply.
import { everything as allRecords, and, type Filter, nothing, or } from "../../query/filter.ts";
import type { QueryExpression, WhereCondition } from "./ast.ts";
import { regexMatcher } from "./pattern.ts";

export type ResultCell = number | string | boolean | null;

/** The value of a name in a series or in a row; undefined if it is not known yet. */
export type ValueFor = (name: string, type: string | undefined) => ResultCell | undefined;

/** A condition whose regular expressions are compiled. */
export type Test =
  | { readonly kind: "constant"; readonly value: boolean }
  | { readonly kind: "and" | "or"; readonly parts: readonly Test[] }
  | Leaf;

interface Leaf {
  readonly kind: "leaf";
  readonly name: string;
  readonly type: string | undefined;
  readonly holds: (value: ResultCell) => boolean;
  /** The only strings for which it holds; undefined if there may be others. */
  readonly only: readonly string[] | undefined;
}

export function testOf(condition: WhereCondition): Test {
  switch (condition.kind) {
    case "constant":
      return condition;
    case "and":
    case "or":
      return { kind: condition.kind, parts: condition.parts.map(testOf) };
    case "match": {
      const { name, type, isNegated } = condition;
      const { matches, only } = regexMatcher(condition.source);
      const holds = (value: ResultCell) => typeof value === "string" && matches(value) !== isNegated;
      return { kind: "leaf", name, type, holds, only: isNegated ? undefined : only };
    }
    case "compare": {
      const { name, type, is, value } = condition;
      const only = is === "=" && value.kind === "string" ? [value.value] : undefined;
      return { kind: "leaf", name, type, holds: comparison(is, value), only };
    }
  }
}

function comparison(is: string, literal: QueryExpression): Leaf["holds"] {
  const wanted = (literal as { readonly value: ResultCell }).value;
  const isComparable = (value: ResultCell): value is Exclude<ResultCell, null> =>
    typeof value === typeof wanted && value !== null;
  const order = (value: ResultCell) => {
    if (!isComparable(value) || value === wanted) return 0;
    return value < wanted! ? -1 : 1;
  };
  switch (is) {
    case "=":
      return (value) => value === wanted;
    case "!=":
      return (value) => isComparable(value) && value !== wanted;
    case "<":
      return (value) => order(value) < 0;
    case ">":
      return (value) => order(value) > 0;
    case "<=":
      return (value) => isComparable(value) && order(value) <= 0;
    default:
      return (value) => isComparable(value) && order(value) >= 0;
  }
}

/** The test with the known values filled in; a constant if these decide it. */
export function reduceTest(test: Test, valueFor: ValueFor): Test {
  if (test.kind === "constant") return test;
  if (test.kind === "leaf") {
    const value = valueFor(test.name, test.type);
    return value === undefined ? test : { kind: "constant", value: test.holds(value) };
  }
  const deciding = test.kind === "or";
  const parts: Test[] = [];
  for (const part of test.parts) {
    const reduced = reduceTest(part, valueFor);
    if (reduced.kind !== "constant") parts.push(reduced);
    else if (reduced.value === deciding) return reduced;
  }
  return parts.length === 0 ? { kind: "constant", value: !deciding } : { kind: test.kind, parts };
}

/** Whether a row passes; a missing value passes no comparison. */
export const passes = (
  test: Test,
  valueFor: (name: string, type: string | undefined) => ResultCell,
): boolean => {
  const reduced = reduceTest(test, valueFor);
  return reduced.kind === "constant" && reduced.value;
};

export const isAlways = (test: Test): boolean => test.kind === "constant" && test.value;
export const isNever = (test: Test): boolean => test.kind === "constant" && !test.value;

/** The names in a test. */
export function namesIn(test: Test): readonly string[] {
  if (test.kind === "constant") return [];
  return test.kind === "leaf" ? [test.name] : test.parts.flatMap(namesIn);
}

/** The filter of the records with one of these values under a name; undefined if the catalog has none. */
type FilterOf = (name: string, values: readonly string[]) => Filter | undefined;

/** A filter that all records pass for which the test can hold. */
export function impliedFilter(test: Test, filterOf: FilterOf): Filter {
  switch (test.kind) {
    case "constant":
      return test.value ? allRecords : nothing;
    case "and":
      return and(...test.parts.map((part) => impliedFilter(part, filterOf)));
    case "or":
      return or(...test.parts.map((part) => impliedFilter(part, filterOf)));
    case "leaf": {
      // A record without the tag has the empty string.
      const isPositive = test.only && !test.only.includes("") && test.type !== "field";
      return (isPositive && filterOf(test.name, test.only!)) || allRecords;
    }
  }
}
