// Reads of single rows: those with one of many values in a column.
import { limits } from "../../../limits.ts";
import { everything, type Filter, oneOf } from "../../../query/filter.ts";
import type { SqlRead } from "../../../sql-runner/sql-runner.ts";

/** A filter for each part of the values that are looked up; one of all records if there are none. */
export function filtersOf({ lookup }: SqlRead): readonly Filter[] {
  if (!lookup) return [everything];
  const { column, values } = lookup;
  const size = limits.sqlLookupsAtOnce;
  return Array.from({ length: Math.ceil(values.length / size) }, (_, part) =>
    oneOf(column, values.slice(part * size, (part + 1) * size)),
  );
}
