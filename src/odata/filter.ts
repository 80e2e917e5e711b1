// Translates a `$filter` to a filter of the stores. The path of `startswith(Name,'P-') and not (Id eq '5')`:
//
// 1. `tokens.ts` splits the string into tokens; `parse-expression.ts` makes a tree of them (`expression.ts`).
// 2. `restrictions.ts` refuses filters that the entity set does not allow.
// 3. `Translation` in this file goes through the tree. A property of the entity type has an `Operand`
//    (`operand.ts`), whose methods make a condition of each comparison; `and`, `or` and `not` combine these.
// 4. The result is a `Filter` (`query/filter.ts`). The function of the set adds the filter of the caller's
//    rights, and `storage/sql/compile-filter.ts` makes SQL of both, with the expressions of the database
//    (`storage/sql/dialects/<database>/expressions.ts`).
//
// An expression without a counterpart in the stores is refused (501). The sets of datapoints and raw rows
// read series and times from the `Filter`; `query/memory-filter.ts` filters their rows by the rest of it.
//
// OData expressions are true, false or null, and a store filter selects a record or does not. So
// `recordsWhere(expression, outcome)` selects the records for which an expression is true, or those for which
// it is false. Records for which it is null are in neither set (docs/reference/odata.md#filter-language).
import type { RequestContext } from "../context.ts";
import { type Failure, fail } from "../errors.ts";
import {
  and,
  everything,
  type Filter,
  not,
  nothing,
  or,
  type Scalar,
  type TextTest,
} from "../query/filter.ts";
import type { Binary, Comparison, FilterExpression, Lambda, Literal, PropertyPath } from "./expression.ts";
import type { EntityModel, EntitySet, EntityType, Queryable } from "./model.ts";
import { decodeName } from "./names.ts";
import { absent, type Operand, type PrimitiveType } from "./operand.ts";
import { type Aliases, parseExpression } from "./parse-expression.ts";
import { checkRestrictions } from "./restrictions.ts";

/** The request that a filter or projection belongs to. */
export interface QueryContext {
  readonly ctx: RequestContext;
  readonly model: EntityModel;
  /** Parameter aliases: values by names with `@`. */
  readonly aliases: Aliases;
}

/**
 * Translates a `$filter` on entities of the set. Refuses syntax errors, wrong types and filters that the set
 * does not allow (400), and expressions that are not served (501).
 */
export function parseFilter({ ctx, model, aliases }: QueryContext, set: EntitySet, text: string): Filter {
  const expression = parseExpression(text, aliases);
  checkRestrictions(expression, set);
  return new Translation({ ctx, model, type: model.typeOf(set) }, new Map()).recordsWhere(expression, true);
}

interface FilterContext {
  readonly ctx: RequestContext;
  readonly model: EntityModel;
  readonly type: EntityType;
}

/** The value of a variable of `any` and `all`: a plain value, or an object with members. */
type Element = Operand | Readonly<Record<string, Operand>>;

const isOperand = (element: Element): element is Operand => typeof element.equals === "function";

class Translation {
  readonly #context: FilterContext;
  readonly #variables: ReadonlyMap<string, Element>;

  constructor(context: FilterContext, variables: ReadonlyMap<string, Element>) {
    this.#context = context;
    this.#variables = variables;
  }

  /** The records for which the expression has this outcome. */
  recordsWhere(expression: FilterExpression, outcome: boolean): Filter {
    switch (expression.kind) {
      case "literal":
        return constant(expression, outcome);
      case "path":
        return this.#valueOf(expression, "Edm.Boolean").equals(outcome);
      case "not":
        return this.recordsWhere(expression.part, !outcome);
      case "binary":
        return this.#binary(expression, outcome);
      case "in": {
        const isIn = this.#isOneOf(expression.left, expression.items);
        return outcome ? isIn : not(isIn);
      }
      case "call":
        return this.#textTest(expression, outcome);
      case "lambda":
        return this.#lambda(expression, outcome);
      case "negate":
        throw notServed("The operator -", expression.at);
      default:
        throw notServed(expression.feature, expression.at);
    }
  }

  #binary(expression: Binary, outcome: boolean): Filter {
    const { operator, left, right, at } = expression;
    switch (operator) {
      case "and":
      case "or": {
        const parts = [this.recordsWhere(left, outcome), this.recordsWhere(right, outcome)];
        return (operator === "and") === outcome ? and(...parts) : or(...parts);
      }
      case "eq":
      case "ne":
      case "gt":
      case "ge":
      case "lt":
      case "le": {
        const condition = this.#comparison(operator, left, right);
        return outcome ? condition : not(condition);
      }
      default:
        throw notServed(`The operator ${operator}`, at);
    }
  }

  /** Comparisons are never null: null equals only null, and is neither less nor greater than any value. */
  #comparison(operator: Comparison, left: FilterExpression, right: FilterExpression): Filter {
    if (left.kind === "literal" && right.kind !== "literal")
      return this.#comparison(mirrored[operator], right, left);
    if (right.kind !== "literal") throw this.#uncomparable(right, left);
    if (left.kind !== "path") return this.#conditionCompared(operator, left, right);
    const operand = this.#valueOf(left, right.type);
    const value = operandValue(operand.type, right, nameOf(left));
    return compared(operand, operator, value, left);
  }

  /** A condition compared with `true` or `false`. */
  #conditionCompared(operator: Comparison, left: FilterExpression, right: Literal): Filter {
    if (left.kind === "literal") throw notServed("The comparison of two values", left.at);
    const condition = this.recordsWhere(left, right.value === true);
    if (right.type !== "Edm.Boolean" || (operator !== "eq" && operator !== "ne"))
      throw wrongType("a condition can be compared with true and false alone", right.at);
    return operator === "eq" ? condition : not(condition);
  }

  /** The refusal of a comparison whose two sides are not a property and a literal. */
  #uncomparable(right: FilterExpression, left: FilterExpression): Failure {
    for (const { kind, at, ...one } of [left, right]) {
      if (kind === "unsupported") return notServed((one as { feature: string }).feature, at);
      if (kind === "call") return notServed(`The function ${(one as { name: string }).name}`, at);
      if (kind === "negate") return notServed("The operator -", at);
      if (kind === "binary")
        return notServed(`The operator ${(one as Binary).operator} within a comparison`, at);
    }
    return notServed("The comparison of two properties", right.at);
  }

  #isOneOf(left: FilterExpression, items: readonly FilterExpression[]): Filter {
    if (left.kind !== "path") throw this.#uncomparable(left, left);
    const literals = items.map((item) => {
      if (item.kind === "literal") return item;
      throw this.#uncomparable(item, left);
    });
    const operand = this.#valueOf(left, literals.find(({ type }) => type !== "null")?.type ?? "Edm.String");
    const values = literals.map((literal) => operandValue(operand.type, literal, nameOf(left)));
    const isPresent = (value: Scalar | null): value is Scalar => value !== null && isStorable(value);
    const nonNull = values.filter(isPresent);
    const present = operand.oneOf?.(nonNull) ?? or(...nonNull.map((value) => operand.equals(value)));
    return values.includes(null) ? or(operand.equals(null), present) : present;
  }

  #textTest({ name, parts, at }: FilterExpression & { kind: "call" }, outcome: boolean): Filter {
    const test = textTests[name];
    if (test === undefined) throw notServed(`The function ${name}`, at);
    const [whole, part] = parts as [FilterExpression, FilterExpression];
    if (whole.kind !== "path" || part.kind !== "literal") throw this.#uncomparable(part, whole);
    const operand = this.#valueOf(whole, "Edm.String");
    if (operand.type !== "Edm.String" && operand.type !== "any")
      throw wrongType(`${nameOf(whole)} is not a string`, whole.at);
    const text = operandValue("Edm.String", part, nameOf(whole));
    if (text === null) return nothing;
    if (!operand.has) throw notServed(`The function ${name} on ${nameOf(whole)}`, at);
    const has = operand.has(test, text as string);
    return outcome ? has : and(not(operand.equals(null)), not(has));
  }

  #lambda({ path, quantifier, variable, body, at }: Lambda, outcome: boolean): Filter {
    const queryable = this.#queryable(path);
    if (queryable === "unknown") return (quantifier === "all") === outcome ? everything : nothing;
    if (queryable.kind !== "elements" || path.names.length > 1)
      throw wrongType(`${nameOf(path)} is not a list, so ${quantifier} does not apply`, at);
    const { elements } = queryable;
    const inner = new Translation(this.#context, new Map([...this.#variables, [variable, elements.operand]]));
    const part = body ? inner.recordsWhere(body, true) : everything;
    const condition = quantifier === "any" ? elements.toFilter(part) : not(elements.toFilter(not(part)));
    return outcome ? condition : not(condition);
  }

  /** The operand of a path. A property that no record has gets the type it is compared with. */
  #valueOf(path: PropertyPath, comparedWith: Literal["type"]): Operand {
    const [first, second, ...rest] = path.names as [string, ...string[]];
    const element = this.#variables.get(first);
    if (element) return this.#elementValue(element, path, comparedWith);
    const queryable = this.#queryable(path);
    if (queryable === "unknown" || rest.length > 0) return absent(primitiveOf(comparedWith));
    if (queryable.kind === "elements")
      throw wrongType(`${first} is a list; ask for ${first}/any(x:x eq ...)`, path.at);
    if (queryable.kind === "members") {
      if (second === undefined) throw notServed(`The comparison of ${first} as a whole`, path.at);
      return queryable.member(decodeName(second));
    }
    if (second !== undefined) return absent(primitiveOf(comparedWith));
    return typeof queryable.operand === "function" ? queryable.operand(this.#context.ctx) : queryable.operand;
  }

  #elementValue(element: Element, { names, at }: PropertyPath, comparedWith: Literal["type"]): Operand {
    const [variable, member, ...rest] = names;
    if (isOperand(element)) {
      if (member === undefined) return element;
    } else if (member !== undefined && rest.length === 0)
      return Object.hasOwn(element, member) ? element[member]! : absent(primitiveOf(comparedWith));
    throw notServed(`The path ${names.join("/")}`, at + variable!.length);
  }

  /** Conditions within `any` and `all` are about elements, so they cannot use a property of the entity. */
  #queryable({ names, at }: PropertyPath): Queryable | "unknown" {
    const { model, type } = this.#context;
    const name = names[0]!;
    if (this.#variables.size > 0) throw notServed(`The property ${name} within any and all`, at);
    const property = type.properties.find((one) => one.name === name);
    if (property?.queryable) return property.queryable;
    if (property) throw notServed(`Filtering by ${name}`, at);
    const navigation = model.navigationsOf(type).get(name);
    if (navigation?.queryable) return { kind: "elements", elements: navigation.queryable };
    if (navigation) throw notServed(`The navigation ${name} within a filter`, at);
    return "unknown";
  }
}

const nameOf = ({ names }: PropertyPath): string => names.join("/");

const mirrored = { eq: "eq", ne: "ne", gt: "lt", ge: "le", lt: "gt", le: "ge" } as const;

const textTests: Readonly<Record<string, TextTest>> = {
  contains: "contains",
  startswith: "startsWith",
  endswith: "endsWith",
};

const notServed = (feature: string, at: number) => fail("filter-feature-not-supported", { feature, at });
const wrongType = (problem: string, at: number) => fail("filter-type", { problem, at });

/** Null is neither true nor false. */
function constant({ type, value, at }: Literal, outcome: boolean): Filter {
  if (type !== "Edm.Boolean" && type !== "null") throw wrongType("a condition is true or false", at);
  return value === outcome ? everything : nothing;
}

/** No record equals NaN or an infinity. */
const isStorable = (value: Scalar | null): boolean => typeof value !== "number" || Number.isFinite(value);

function compared(
  operand: Operand,
  operator: Comparison,
  value: Scalar | null,
  { names, at }: PropertyPath,
): Filter {
  if (operator === "eq") return isStorable(value) ? operand.equals(value) : nothing;
  if (operator === "ne") return not(compared(operand, "eq", value, { kind: "path", names, at }));
  if (value === null || Number.isNaN(value)) return nothing;
  if (operand.type === "Edm.Boolean" || typeof value === "boolean")
    throw wrongType("true and false have no order", at);
  if (!operand.between) throw notServed(`The operator ${operator} on ${names.join("/")}`, at);
  const isAbove = operator === "gt" || operator === "ge";
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return isAbove === value < 0 ? operand.between({}) : nothing;
  const bound = { value, inclusive: operator === "ge" || operator === "le" };
  return operand.between(isAbove ? { from: bound } : { to: bound });
}

/** The literal types that each property type can be compared with. */
const comparable: Readonly<Record<PrimitiveType, readonly Literal["type"][]>> = {
  "Edm.String": ["Edm.String"],
  "Edm.Boolean": ["Edm.Boolean"],
  "Edm.DateTimeOffset": ["Edm.DateTimeOffset", "Edm.Date"],
  "Edm.Double": ["Edm.Double", "Edm.Int64"],
  "Edm.Int64": ["Edm.Int64", "Edm.Double"],
};

const examples: Readonly<Record<PrimitiveType, string>> = {
  "Edm.String": "strings in quotes, such as 'a'",
  "Edm.Boolean": "true and false",
  "Edm.DateTimeOffset": "times without quotes, such as 2024-01-31T00:00:00Z",
  "Edm.Double": "numbers, such as 2.5",
  "Edm.Int64": "whole numbers",
};

/** Literal types that members of open objects never have. */
const notInOpenObjects: readonly Literal["type"][] = [
  "Edm.DateTimeOffset",
  "Edm.Date",
  "Edm.TimeOfDay",
  "Edm.Binary",
];

/** Converts a literal to a value that the operand's type compares with. */
function operandValue(
  type: Operand["type"],
  { type: given, value, at }: Literal,
  name: string,
): Scalar | null {
  if (value === null) return null;
  if (type === "any" && !notInOpenObjects.includes(given))
    return typeof value === "bigint" ? Number(value) : value;
  if (type === "any") throw wrongType(`${name} is compared with strings, numbers, true and false`, at);
  if (!comparable[type].includes(given)) throw wrongType(`${name} is compared with ${examples[type]}`, at);
  return typeof value === "bigint" ? Number(value) : value;
}

const primitiveOf = (type: Literal["type"]): PrimitiveType =>
  (Object.keys(comparable) as PrimitiveType[]).find((one) => comparable[one].includes(type)) ?? "Edm.String";
