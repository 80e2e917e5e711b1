// Refuses filters that an entity set does not allow (docs/reference/odata.md#filter-restrictions).
import { fail } from "../errors.ts";
import type { FilterExpression, PropertyPath } from "./expression.ts";
import type { EntitySet } from "./model.ts";

/**
 * Refuses properties that the set does not filter by, and anything but one `eq` on single-value properties.
 */
export function checkRestrictions(expression: FilterExpression, set: EntitySet): void {
  const { name, nonFilterable = [], singleValue = [] } = set;
  const used = propertyUses(expression);
  for (const { property } of used)
    if (nonFilterable.includes(property)) throw fail("property-not-filterable", { property, set: name });
  for (const property of singleValue) {
    const uses = used.filter((one) => one.property === property);
    if (uses.length > 1 || uses.some((use) => !use.isSingleValue))
      throw fail("filter-expression-not-allowed", { property, set: name });
  }
}

/** Whether the filter uses any property of the entity. */
export const usesProperty = (expression: FilterExpression): boolean => propertyUses(expression).length > 0;

interface PropertyUse {
  readonly property: string;
  /** Used as `P eq value`, and combined with other conditions only by `and`. */
  readonly isSingleValue: boolean;
}

function propertyUses(expression: FilterExpression): PropertyUse[] {
  if (expression.kind !== "binary") return pathsIn(expression, new Set()).map((one) => useOf(one, false));
  const { operator, left, right } = expression;
  if (operator === "and") return [...propertyUses(left), ...propertyUses(right)];
  const isSingleValue =
    operator === "eq" &&
    ((left.kind === "path" && right.kind === "literal" && left.names.length === 1) ||
      (right.kind === "path" && left.kind === "literal" && right.names.length === 1));
  return pathsIn(expression, new Set()).map((one) => useOf(one, isSingleValue));
}

const useOf = ({ names }: PropertyPath, isSingleValue: boolean): PropertyUse => ({
  property: names[0]!,
  isSingleValue,
});

/** Paths from the entity itself, without paths from lambda variables. */
function pathsIn(expression: FilterExpression, variables: ReadonlySet<string>): PropertyPath[] {
  const inAll = (all: readonly FilterExpression[]) => all.flatMap((one) => pathsIn(one, variables));
  switch (expression.kind) {
    case "path":
      return variables.has(expression.names[0]!) ? [] : [expression];
    case "not":
    case "negate":
      return inAll([expression.part]);
    case "binary":
      return inAll([expression.left, expression.right]);
    case "in":
      return inAll([expression.left, ...expression.items]);
    case "call":
      return inAll(expression.parts);
    case "lambda": {
      const { path, variable, body } = expression;
      const inBody = body ? pathsIn(body, new Set([...variables, variable])) : [];
      return [...inAll([path]), ...inBody];
    }
    default:
      return [];
  }
}
