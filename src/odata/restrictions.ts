// Refuses filters that an entity set does not allow (docs/reference/odata.md#filter-restrictions).
import { fail } from "../errors.ts";
import type { Expression, Path } from "./expression.ts";
import type { EntitySet } from "./model.ts";

/** Refuses properties that the set does not filter by, and any use but one `eq` of those with one value. */
export function checkRestrictions(expression: Expression, set: EntitySet): void {
  const { name, nonFilterable = [], singleValue = [] } = set;
  const used = usesIn(expression);
  for (const { property } of used)
    if (nonFilterable.includes(property)) throw fail("property-not-filterable", { property, set: name });
  for (const property of singleValue) {
    const uses = used.filter((one) => one.property === property);
    if (uses.length > 1 || uses.some(({ isOneValue }) => !isOneValue))
      throw fail("filter-expression-not-allowed", { property, set: name });
  }
}

/** Whether the filter is about any property at all. */
export const asksProperty = (expression: Expression): boolean => usesIn(expression).length > 0;

interface Use {
  readonly property: string;
  /** As `P eq value`, joined to the rest by `and` alone. */
  readonly isOneValue: boolean;
}

function usesIn(expression: Expression): Use[] {
  if (expression.kind !== "binary") return pathsIn(expression, new Set()).map((one) => useOf(one, false));
  const { operator, left, right } = expression;
  if (operator === "and") return [...usesIn(left), ...usesIn(right)];
  const isOneValue =
    operator === "eq" &&
    ((left.kind === "path" && right.kind === "literal" && left.names.length === 1) ||
      (right.kind === "path" && left.kind === "literal" && right.names.length === 1));
  return pathsIn(expression, new Set()).map((one) => useOf(one, isOneValue));
}

const useOf = ({ names }: Path, isOneValue: boolean): Use => ({ property: names[0]!, isOneValue });

/** The paths that begin at the entity itself, and not at the variable of a lambda. */
function pathsIn(expression: Expression, variables: ReadonlySet<string>): Path[] {
  const inAll = (all: readonly Expression[]) => all.flatMap((one) => pathsIn(one, variables));
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
