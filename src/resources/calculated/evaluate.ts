// Evaluates an expression on columns, with one value for each timestamp.
import type { Expression, Leaf } from "./expression.ts";
import { functions, type NumberColumn } from "./functions.ts";

/** The column of each leaf, all of one length. */
export type Leaves = ReadonlyMap<Leaf, NumberColumn>;

/**
 * The values of the expression in `count` rows: NaN where any leaf has no value, and where the result is no
 * number, as after a division by zero (docs/calculated.md#where-there-is-a-result).
 */
export function evaluate(expression: Expression, leaves: Leaves, count: number): NumberColumn {
  const result = columnOf(expression, leaves, count).slice();
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
      return onlyFinite(functions[expression.name].apply([valuesOf(first), ...rest.map(valuesOf)]));
    }
  }
}

/** Otherwise 1/(1/0) would be 0, and a condition on 1/0 would be true. Changes the column. */
function onlyFinite(column: NumberColumn): NumberColumn {
  for (let i = 0; i < column.length; i += 1) if (!Number.isFinite(column[i])) column[i] = Number.NaN;
  return column;
}
