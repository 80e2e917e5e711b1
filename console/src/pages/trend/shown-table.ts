// The values that the trend draws in a window, as a table: a row for each time.
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import { type Columns, indicesIn, type TimeWindow } from "../../ui/chart/columns.ts";

export interface ShownTable {
  /** The names of the columns of values. */
  readonly heads: readonly string[];
  /** Ascending by time. */
  readonly rows: readonly ShownRow[];
}

export interface ShownRow {
  /** The time of a point, or the start of a bucket. */
  readonly timeMs: number;
  /** A value for each head; empty without a value at this time. */
  readonly cells: readonly (number | string)[];
}

export function shownTable(lines: readonly ChartLine[], window: TimeWindow): ShownTable {
  const parts = lines.flatMap(({ label, columns }) => (columns ? [partOf(label, columns, window)] : []));
  const heads = parts.flatMap((part) => part.heads);
  const rows = new Map<number, (number | string)[]>();
  let left = 0;
  for (const { times, cells, heads: own } of parts) {
    times.forEach((timeMs, index) => {
      const row = rows.get(timeMs) ?? heads.map(() => "");
      cells(index).forEach((cell, at) => {
        row[left + at] = cell;
      });
      rows.set(timeMs, row);
    });
    left += own.length;
  }
  return {
    heads,
    rows: [...rows].sort(([one], [other]) => one - other).map(([timeMs, cells]) => ({ timeMs, cells })),
  };
}

/** The columns of one line. */
interface TablePart {
  readonly heads: readonly string[];
  readonly times: Float64Array;
  cells(index: number): readonly (number | string)[];
}

function partOf(label: string, columns: Columns, window: TimeWindow): TablePart {
  const [from, to] = indicesIn(columns, window);
  const times = columns.times.subarray(from, to);
  if (columns.kind === "text")
    return { heads: [label], times, cells: (index) => [columns.texts[from + index]!] };
  if (columns.kind === "raw" || columns.averagesMs !== undefined)
    return { heads: [label], times, cells: (index) => [columns.values[from + index]!] };
  const members = [columns.values, columns.mins, columns.maxs, columns.counts];
  return {
    heads: ["average", "min", "max", "count"].map((member) => `${label}|${member}`),
    times,
    cells: (index) => members.map((member) => member[from + index]!),
  };
}
