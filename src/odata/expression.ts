// The syntax tree of a filter expression, independent of entity types.
import type { LiteralType, LiteralValue } from "./tokens.ts";

export type Comparison = "eq" | "ne" | "gt" | "ge" | "lt" | "le";
export type Arithmetic = "add" | "sub" | "mul" | "div" | "divby" | "mod";

/** `at` is the offset in the decoded string. */
export type FilterExpression =
  | Literal
  | PropertyPath
  | Lambda
  | {
      readonly kind: "call";
      readonly name: string;
      readonly parts: readonly FilterExpression[];
      readonly at: number;
    }
  | { readonly kind: "not" | "negate"; readonly part: FilterExpression; readonly at: number }
  | Binary
  | {
      readonly kind: "in";
      readonly left: FilterExpression;
      readonly items: readonly FilterExpression[];
      readonly at: number;
    }
  /** Valid OData that no entity set supports, with the name for the refusal. */
  | { readonly kind: "unsupported"; readonly feature: string; readonly at: number };

export interface Literal {
  readonly kind: "literal";
  readonly type: LiteralType;
  readonly value: LiteralValue;
  readonly at: number;
}

/** `Name`, `MetaData/serial_no`. */
export interface PropertyPath {
  readonly kind: "path";
  readonly names: readonly string[];
  readonly at: number;
}

/** `AssetIds/any(a:a eq '5')`; `AssetIds/any()` has neither variable nor body. */
export interface Lambda {
  readonly kind: "lambda";
  readonly path: PropertyPath;
  readonly quantifier: "any" | "all";
  readonly variable: string;
  readonly body: FilterExpression | undefined;
  readonly at: number;
}

export interface Binary {
  readonly kind: "binary";
  readonly operator: "and" | "or" | "has" | Comparison | Arithmetic;
  readonly left: FilterExpression;
  readonly right: FilterExpression;
  readonly at: number;
}

/** How tightly operators bind, the loosest first (docs/reference/odata.md#filter-language). */
export const precedence = {
  none: 0,
  or: 1,
  and: 2,
  equality: 3,
  order: 4,
  sum: 5,
  product: 6,
  /** `not` and the sign `-`. */
  prefix: 7,
  membership: 8,
} as const;

/** All of these associate to the left. */
const operators: Readonly<Record<string, number>> = {
  or: precedence.or,
  and: precedence.and,
  eq: precedence.equality,
  ne: precedence.equality,
  gt: precedence.order,
  ge: precedence.order,
  lt: precedence.order,
  le: precedence.order,
  add: precedence.sum,
  sub: precedence.sum,
  mul: precedence.product,
  div: precedence.product,
  divby: precedence.product,
  mod: precedence.product,
  has: precedence.membership,
  in: precedence.membership,
};

/** The precedence of the operator that the word names; `none` for other words. */
export function precedenceOf(word: string): number {
  const name = word.toLowerCase();
  return Object.hasOwn(operators, name) ? operators[name]! : precedence.none;
}

/** The fewest and most arguments of each function of OData 4.01, by its name in lower case. */
export const functions: Readonly<Record<string, readonly [fewest: number, most: number]>> = {
  contains: [2, 2],
  startswith: [2, 2],
  endswith: [2, 2],
  concat: [2, 2],
  indexof: [2, 2],
  length: [1, 1],
  substring: [2, 3],
  matchespattern: [2, 2],
  tolower: [1, 1],
  toupper: [1, 1],
  trim: [1, 1],
  hassubset: [2, 2],
  hassubsequence: [2, 2],
  date: [1, 1],
  time: [1, 1],
  year: [1, 1],
  month: [1, 1],
  day: [1, 1],
  hour: [1, 1],
  minute: [1, 1],
  second: [1, 1],
  fractionalseconds: [1, 1],
  totaloffsetminutes: [1, 1],
  totalseconds: [1, 1],
  now: [0, 0],
  maxdatetime: [0, 0],
  mindatetime: [0, 0],
  ceiling: [1, 1],
  floor: [1, 1],
  round: [1, 1],
  cast: [1, 2],
  isof: [1, 2],
  "geo.distance": [2, 2],
  "geo.intersects": [2, 2],
  "geo.length": [1, 1],
};
