// Fills buckets without a value (`fill(...)`), and computes functions over the rows of others.
import type { Fill } from "./ast.ts";
import type { ResultCell } from "./conditions.ts";
import type { RowFunction } from "./functions.ts";
import type { ResultColumn } from "./rows.ts";

/** The column with values in place of missing ones. Only the fill `previous` applies to strings. */
export function filled(column: ResultColumn, fill: Fill, isCount: boolean): ResultColumn {
  if (fill === "none") return column;
  if (fill === "null") return isCount ? withValue(column, 0) : column;
  if (fill === "previous") return withPrevious(column);
  if (fill === "linear") return column instanceof Float64Array ? withLines(column) : column;
  return withValue(column, fill.value);
}

function withValue(column: ResultColumn, value: number): ResultColumn {
  if (!(column instanceof Float64Array)) return column;
  return column.map((one) => (Number.isNaN(one) ? value : one));
}

function withPrevious(column: ResultColumn): ResultColumn {
  if (column instanceof Float64Array) {
    let last = Number.NaN;
    return column.map((value) => {
      if (!Number.isNaN(value)) last = value;
      return last;
    });
  }
  let last: ResultCell = null;
  return column.map((value) => {
    last = value ?? last;
    return last;
  });
}

/** Straight lines between the values of the buckets before and after a gap. */
function withLines(column: Float64Array): Float64Array {
  const result = column.slice();
  let before = -1;
  for (let at = 0; at < column.length; at += 1) {
    if (Number.isNaN(column[at]!)) continue;
    if (before >= 0)
      for (let gap = before + 1; gap < at; gap += 1)
        result[gap] = column[before]! + ((column[at]! - column[before]!) * (gap - before)) / (at - before);
    before = at;
  }
  return result;
}

export interface RowFunctionCall {
  readonly name: RowFunction;
  /** The unit of a derivative in ms, or the rows of a moving average. */
  readonly parameter: number;
}

/** The function over the values of the column, whose rows have these times; missing values are skipped. */
export function overRows(
  { name, parameter }: RowFunctionCall,
  column: Float64Array,
  times: Float64Array,
): Float64Array {
  const result = new Float64Array(column.length).fill(Number.NaN);
  const rows = [...column.keys()].filter((row) => !Number.isNaN(column[row]!));
  let sum = 0;
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    sum += column[row]!;
    if (name === "cumulative_sum") result[row] = sum;
    else if (name === "moving_average") {
      if (at >= parameter) sum -= column[rows[at - parameter]!]!;
      if (at >= parameter - 1) result[row] = sum / parameter;
    } else if (before !== undefined) {
      const change = column[row]! - column[before]!;
      const isRate = name.endsWith("derivative");
      const value = isRate ? (change / (times[row]! - times[before]!)) * parameter : change;
      if (value >= 0 || !name.startsWith("non_negative")) result[row] = value;
    }
  }
  return result;
}
