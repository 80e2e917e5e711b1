// Evaluates an expression on columns, with one value for each timestamp.
import type { Expression, Leaf } from "./expression.ts";
import { functions, type NumberColumn } from "./functions.ts";

/** The column of each leaf, all of one length. */
export type Leaves = ReadonlyMap<Leaf, NumberColumn>;

/**
 * The values of the expression in `count` rows: NaN where any leaf has no value, and where the result is not
 * finite, as after a division by zero (docs/calculated.md#where-there-is-a-result).
 */
export function evaluate(expression: Expression, leaves: Leaves, count: number): NumberColumn {
  const result = columnOf(expression, leaves, count).map((one) => (Number.isFinite(one) ? one : Number.NaN));
  for (const leaf of leaves.values())
    for (let i = 0; i < count; i += 1) {
      // Some functions of NaN have a value: pow(NaN, 0) is 1.
      if (Number.isNaN(leaf[i]!)) result[i] = Number.NaN;
    }
  return result;
}

/** The number of values and functions in the expression: the operations for one row. */
export const sizeOf = (expression: Expression): number =>
  expression.kind === "call" ? expression.given.reduce((sum, one) => sum + sizeOf(one), 1) : 1;

function columnOf(expression: Expression, leaves: Leaves, count: number): NumberColumn {
  switch (expression.kind) {
    case "number":
      return new Float64Array(count).fill(expression.value);
    case "leaf":
      return leaves.get(expression.leaf)!;
    case "call": {
      const [first, ...rest] = expression.given;
      const valuesOf = (one: Expression) => columnOf(one, leaves, count);
      return functions[expression.name].apply([valuesOf(first), ...rest.map(valuesOf)]);
    }
  }
}
