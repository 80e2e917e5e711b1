// Holding rows against a filter as a computation of the compute thread.
import type { Computation } from "../compute/computation.ts";
import { parseJson } from "../lib/json.ts";
import { conditionsIn } from "./conjuncts.ts";
import { matchesAlone, type RecordValues } from "./evaluate.ts";
import type { Filter } from "./filter.ts";

/** Rows by their fields: the columns have one value for each row; NaN is a missing value. */
export interface RowsToFilter {
  readonly count: number;
  readonly columns: Readonly<Record<string, Float64Array | readonly unknown[]>>;
  /** Fields whose values are JSON text, which the filter sees parsed. */
  readonly json: readonly string[];
  /** Looking ends after the row with which the cost exceeds this. */
  readonly charactersMax: number;
}

export interface RowsFiltered {
  /** The rows that meet the filter, ascending. */
  readonly indexes: readonly number[];
  /** How many rows were looked at, from the first on. */
  readonly examined: number;
  /** Their characters, times the conditions of the filter. */
  readonly characters: number;
}

export type RowFiltering = Computation<Filter, RowsToFilter, RowsFiltered>;

/** About 2 ms. */
const charactersPerStep = 200_000;

/** The cost of a row in addition to its strings, in characters. */
const rowCost = 20;

export const computation: RowFiltering = (filter) => {
  const conditions = conditionsIn(filter);
  return function* ({ count, columns, json, charactersMax }) {
    const fields = Object.entries(columns);
    const places: number[] = [];
    let [looked, characters, done] = [0, 0, 0];
    for (; looked < count && characters <= charactersMax; looked++) {
      const { row, length } = rowAt(looked, fields, json);
      if (matchesAlone(filter, row)) places.push(looked);
      characters += (rowCost + length) * conditions;
      if (characters - done < charactersPerStep) continue;
      yield characters - done;
      done = characters;
    }
    return { indexes: places, examined: looked, characters };
  };
};

function rowAt(at: number, fields: readonly [string, ArrayLike<unknown>][], json: readonly string[]) {
  const row: Record<string, unknown> = {};
  let length = 0;
  for (const [field, column] of fields) {
    const value = column[at];
    if (typeof value === "string") length += value.length;
    if (value !== undefined && !Number.isNaN(value))
      row[field] = json.includes(field) ? parseJson(value as string) : value;
  }
  return { row: row as RecordValues, length };
}
