// Translates the tree of a `$filter` to the query tree of the stores, or refuses parts that are not served.
//
// Rows are never filtered after they were read: an expression without a condition in the query tree is
// refused. OData has true, false and null; the query tree has no null. So `truth` selects the records for
// which an expression is true, or those for which it is false; null is in neither
// (docs/reference/odata.md#filter-language).
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
import type { Binary, Comparison, Expression, Lambda, Literal, Path } from "./expression.ts";
import type { Askable, EntityType, Model } from "./model.ts";
import { decodeName } from "./names.ts";
import { absent, type Operand, type PrimitiveType } from "./operand.ts";

/** Whose filter it is. */
export interface Subject {
  readonly ctx: RequestContext;
  readonly model: Model;
  readonly type: EntityType;
}

/** The records that meet the filter. Refuses wrong types (400) and what is not served (501). */
export const filterOf = (expression: Expression, subject: Subject): Filter =>
  new Binder(subject, new Map()).truth(expression, true);

type Element = Operand | Readonly<Record<string, Operand>>;

const isOperand = (element: Element): element is Operand => typeof element.equals === "function";

class Binder {
  readonly #subject: Subject;
  readonly #variables: ReadonlyMap<string, Element>;

  constructor(subject: Subject, variables: ReadonlyMap<string, Element>) {
    this.#subject = subject;
    this.#variables = variables;
  }

  /** The records for which the expression is `wanted`. */
  truth(expression: Expression, wanted: boolean): Filter {
    switch (expression.kind) {
      case "literal":
        return constant(expression, wanted);
      case "path":
        return this.#valueOf(expression, "Edm.Boolean").equals(wanted);
      case "not":
        return this.truth(expression.part, !wanted);
      case "binary":
        return this.#binary(expression, wanted);
      case "in": {
        const isIn = this.#isOneOf(expression.left, expression.items);
        return wanted ? isIn : not(isIn);
      }
      case "call":
        return this.#textTest(expression, wanted);
      case "lambda":
        return this.#lambda(expression, wanted);
      case "negate":
        throw notServed("The operator -", expression.at);
      default:
        throw notServed(expression.feature, expression.at);
    }
  }

  #binary(expression: Binary, wanted: boolean): Filter {
    const { operator, left, right, at } = expression;
    switch (operator) {
      case "and":
      case "or": {
        const parts = [this.truth(left, wanted), this.truth(right, wanted)];
        return (operator === "and") === wanted ? and(...parts) : or(...parts);
      }
      case "eq":
      case "ne":
      case "gt":
      case "ge":
      case "lt":
      case "le": {
        const isSo = this.#comparison(operator, left, right);
        return wanted ? isSo : not(isSo);
      }
      default:
        throw notServed(`The operator ${operator}`, at);
    }
  }

  /** Comparisons are never null: null is equal to null alone, and neither before nor after anything. */
  #comparison(operator: Comparison, left: Expression, right: Expression): Filter {
    if (left.kind === "literal" && right.kind !== "literal")
      return this.#comparison(turned[operator], right, left);
    if (right.kind !== "literal") throw this.#uncomparable(right, left);
    if (left.kind !== "path") return this.#outcome(operator, left, right);
    const operand = this.#valueOf(left, right.type);
    const value = valueFor(operand.type, right, nameOf(left));
    return compared(operand, operator, value, left);
  }

  /** A condition compared with true or false. */
  #outcome(operator: Comparison, left: Expression, right: Literal): Filter {
    if (left.kind === "literal") throw notServed("The comparison of two values", left.at);
    const isSo = this.truth(left, right.value === true);
    if (right.type !== "Edm.Boolean" || (operator !== "eq" && operator !== "ne"))
      throw wrongType("a condition can be compared with true and false alone", right.at);
    return operator === "eq" ? isSo : not(isSo);
  }

  #uncomparable(right: Expression, left: Expression): Failure {
    for (const { kind, at, ...one } of [left, right]) {
      if (kind === "foreign") return notServed((one as { feature: string }).feature, at);
      if (kind === "call") return notServed(`The function ${(one as { name: string }).name}`, at);
      if (kind === "negate") return notServed("The operator -", at);
      if (kind === "binary")
        return notServed(`The operator ${(one as Binary).operator} within a comparison`, at);
    }
    return notServed("The comparison of two properties", right.at);
  }

  #isOneOf(left: Expression, items: readonly Expression[]): Filter {
    if (left.kind !== "path") throw this.#uncomparable(left, left);
    const literals = items.map((item) => {
      if (item.kind === "literal") return item;
      throw this.#uncomparable(item, left);
    });
    const operand = this.#valueOf(left, literals.find(({ type }) => type !== "null")?.type ?? "Edm.String");
    const values = literals.map((literal) => valueFor(operand.type, literal, nameOf(left)));
    const present = values.filter((value) => value !== null);
    const isThere = operand.oneOf?.(present) ?? or(...present.map((value) => operand.equals(value)));
    return values.includes(null) ? or(operand.equals(null), isThere) : isThere;
  }

  #textTest({ name, parts, at }: Expression & { kind: "call" }, wanted: boolean): Filter {
    const test = textTests[name];
    if (test === undefined) throw notServed(`The function ${name}`, at);
    const [whole, part] = parts as [Expression, Expression];
    if (whole.kind !== "path" || part.kind !== "literal") throw this.#uncomparable(part, whole);
    const operand = this.#valueOf(whole, "Edm.String");
    if (operand.type !== "Edm.String" && operand.type !== "any")
      throw wrongType(`${nameOf(whole)} is no text`, whole.at);
    const text = valueFor("Edm.String", part, nameOf(whole));
    if (text === null) return nothing;
    if (!operand.has) throw notServed(`The function ${name} on ${nameOf(whole)}`, at);
    const has = operand.has(test, text as string);
    return wanted ? has : and(not(operand.equals(null)), not(has));
  }

  #lambda({ path, quantifier, variable, body, at }: Lambda, wanted: boolean): Filter {
    const asked = this.#askable(path);
    if (asked === "unknown") return (quantifier === "all") === wanted ? everything : nothing;
    if (asked.kind !== "elements" || path.names.length > 1)
      throw wrongType(`${nameOf(path)} is no list, so it has no ${quantifier}`, at);
    const { elements } = asked;
    const inner = new Binder(this.#subject, new Map([...this.#variables, [variable, elements.operand]]));
    const part = body ? inner.truth(body, true) : everything;
    const isSo = quantifier === "any" ? elements.some(part) : not(elements.some(not(part)));
    return wanted ? isSo : not(isSo);
  }

  /** What a path asks about; one that no record has, of the type that it is compared with. */
  #valueOf(path: Path, comparedWith: Literal["type"]): Operand {
    const [first, second, ...rest] = path.names as [string, ...string[]];
    const element = this.#variables.get(first);
    if (element) return this.#elementValue(element, path);
    const asked = this.#askable(path);
    if (asked === "unknown" || rest.length > 0) return absent(primitiveOf(comparedWith));
    if (asked.kind === "elements")
      throw wrongType(`${first} is a list; ask for ${first}/any(x:x eq ...)`, path.at);
    if (asked.kind === "members") {
      if (second === undefined) throw notServed(`The comparison of ${first} as a whole`, path.at);
      return asked.member(decodeName(second));
    }
    if (second !== undefined) return absent(primitiveOf(comparedWith));
    return typeof asked.operand === "function" ? asked.operand(this.#subject.ctx) : asked.operand;
  }

  #elementValue(element: Element, { names, at }: Path): Operand {
    const [variable, member, ...rest] = names;
    if (isOperand(element)) {
      if (member === undefined) return element;
    } else if (member !== undefined && rest.length === 0) return element[member] ?? absent();
    throw notServed(`The path ${names.join("/")}`, at + variable!.length);
  }

  #askable({ names, at }: Path): Askable | "unknown" {
    const { model, type } = this.#subject;
    const name = names[0]!;
    const property = type.properties.find((one) => one.name === name);
    if (property?.asked) return property.asked;
    if (property) throw notServed(`Filtering by ${name}`, at);
    const navigation = model.navigationsOf(type).get(name);
    if (navigation?.elements) return { kind: "elements", elements: navigation.elements };
    if (navigation) throw notServed(`The navigation ${name} within a filter`, at);
    return "unknown";
  }
}

const nameOf = ({ names }: Path): string => names.join("/");

const turned = { eq: "eq", ne: "ne", gt: "lt", ge: "le", lt: "gt", le: "ge" } as const;

const textTests: Readonly<Record<string, TextTest>> = {
  contains: "contains",
  startswith: "startsWith",
  endswith: "endsWith",
};

const notServed = (feature: string, at: number) => fail("filter-feature-not-supported", { feature, at });
const wrongType = (problem: string, at: number) => fail("filter-type", { problem, at });

/** Null is neither true nor false. */
function constant({ type, value, at }: Literal, wanted: boolean): Filter {
  if (type !== "Edm.Boolean" && type !== "null") throw wrongType("a condition is true or false", at);
  return value === wanted ? everything : nothing;
}

function compared(operand: Operand, operator: Comparison, value: Scalar | null, { names, at }: Path): Filter {
  if (operator === "eq")
    return Number.isFinite(value ?? 0) || typeof value !== "number" ? operand.equals(value) : nothing;
  if (operator === "ne") return not(compared(operand, "eq", value, { kind: "path", names, at }));
  if (value === null || Number.isNaN(value)) return nothing;
  if (operand.type === "Edm.Boolean" || typeof value === "boolean")
    throw wrongType("true and false are neither before nor after each other", at);
  if (!operand.between) throw notServed(`The operator ${operator} on ${names.join("/")}`, at);
  const isAbove = operator === "gt" || operator === "ge";
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return isAbove === value < 0 ? operand.between({}) : nothing;
  const bound = { value, inclusive: operator === "ge" || operator === "le" };
  return operand.between(isAbove ? { from: bound } : { to: bound });
}

/** Literal types by the types of the properties that they can be compared with. */
const comparable: Readonly<Record<PrimitiveType, readonly Literal["type"][]>> = {
  "Edm.String": ["Edm.String"],
  "Edm.Boolean": ["Edm.Boolean"],
  "Edm.DateTimeOffset": ["Edm.DateTimeOffset", "Edm.Date"],
  "Edm.Double": ["Edm.Double", "Edm.Int64"],
  "Edm.Int64": ["Edm.Int64", "Edm.Double"],
};

const examples: Readonly<Record<PrimitiveType, string>> = {
  "Edm.String": "texts in quotes, such as 'a'",
  "Edm.Boolean": "true and false",
  "Edm.DateTimeOffset": "times without quotes, such as 2024-01-31T00:00:00Z",
  "Edm.Double": "numbers, such as 2.5",
  "Edm.Int64": "whole numbers",
};

/** What no member of an open object is. */
const foreignToAny: readonly Literal["type"][] = [
  "Edm.DateTimeOffset",
  "Edm.Date",
  "Edm.TimeOfDay",
  "Edm.Binary",
];

/** A literal as a property of this type is compared with it. */
function valueFor(type: Operand["type"], { type: given, value, at }: Literal, name: string): Scalar | null {
  if (value === null) return null;
  if (type === "any" && !foreignToAny.includes(given))
    return typeof value === "bigint" ? Number(value) : value;
  if (type === "any") throw wrongType(`${name} is compared with texts, numbers, true and false`, at);
  if (!comparable[type].includes(given)) throw wrongType(`${name} is compared with ${examples[type]}`, at);
  return typeof value === "bigint" ? Number(value) : value;
}

const primitiveOf = (type: Literal["type"]): PrimitiveType =>
  (Object.keys(comparable) as PrimitiveType[]).find((one) => comparable[one].includes(type)) ?? "Edm.String";
