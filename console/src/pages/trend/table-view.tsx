// The values that the trend draws, as a table for people who want numbers and for screen readers.
import { useMemo } from "react";
import { timeText } from "../../lib/format.ts";
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { Empty } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import { type ShownRow, shownTable } from "./shown-table.ts";

interface TableViewProps {
  readonly lines: readonly ChartLine[];
  readonly window: TimeWindow;
  readonly timeZone: string;
}

const rowHeight = 28;
const columnWidth = { least: 110, most: 240, ofCharacter: 7.5, padding: 12 };

export function TableView({ lines, window, timeZone }: TableViewProps) {
  const { heads, rows } = useMemo(() => shownTable(lines, window), [lines, window]);
  const columns = useMemo(() => columnsOf(heads, rows, timeZone), [heads, rows, timeZone]);
  return (
    <VirtualTable
      label="Values of the trend"
      columns={columns}
      rows={rows}
      rowKey={({ timeMs }) => timeMs}
      rowHeight={rowHeight}
      empty={<Empty title="No values in this time">Choose another time range, or show a series.</Empty>}
    />
  );
}

function columnsOf(
  heads: readonly string[],
  rows: readonly ShownRow[],
  timeZone: string,
): readonly TableColumn<ShownRow>[] {
  const hasParts = rows.some(({ timeMs }) => timeMs % 1_000 !== 0);
  const time: TableColumn<ShownRow> = {
    ...{ key: "time", label: `Time (${timeZone})`, width: hasParts ? "182px" : "156px", isRowHeader: true },
    cell: ({ timeMs }) => `${timeText(timeMs, timeZone)}${hasParts ? millisecondsOf(timeMs) : ""}`,
  };
  const values = heads.map((head, index) => ({
    ...{ key: `${index} ${head}`, label: head.replaceAll("|", " "), isNumeric: true },
    width: `minmax(${widthOf(head)}px, 1fr)`,
    cell: ({ cells }: ShownRow) => textOf(cells[index]!),
  }));
  return [time, ...values];
}

/** Without the digits that rounding to a double adds. */
const digits = 12;

const textOf = (value: number | string): string =>
  typeof value === "number" ? String(Number(value.toPrecision(digits))) : value;

const millisecondsOf = (timeMs: number): string => `.${String(timeMs % 1_000).padStart(3, "0")}`;

const widthOf = ({ length }: string): number => {
  const { least, most, ofCharacter, padding } = columnWidth;
  return Math.round(Math.min(most, Math.max(least, length * ofCharacter + padding)));
};
