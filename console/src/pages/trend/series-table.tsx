// The legend of the trend and the statistics of its window: a row for each series.
import { ActionIcon, Checkbox, ScrollArea, Table, Text, Tooltip } from "@mantine/core";
import { Pencil, TriangleAlert, X } from "lucide-react";
import { memo } from "react";
import { countText, numberText, timeText } from "../../lib/format.ts";
import type { ChartLine } from "../../ui/chart/chart-line.ts";
import { pointsIn, type TimeWindow } from "../../ui/chart/columns.ts";
import type { Measure } from "../../ui/chart/measure-cursors.tsx";
import { numberAt, timeOfValue, valueText } from "../../ui/chart/tooltip.tsx";
import { type Fault, faultText } from "../../ui/expression/fault.ts";
import { focusBeside } from "../../ui/focus.ts";
import { resolutionText } from "./resolution.ts";
import { type Statistics, statisticsOf } from "./statistics.ts";
import classes from "./trend.module.css";
import type { TrendSeries } from "./trend-series.ts";

/** Cells that change with the window are plain elements, which render several times as fast as `Table.Td`. */
const numberCell = `${classes["cell"]} ${classes["number"]}`;
/** Enough to read; the values of points are shown with more. */
const calculatedDigits = 5;

export interface TrendRow {
  readonly series: TrendSeries;
  readonly line: ChartLine;
  /** Why there is no data, or not the newest. */
  readonly fault: Fault | undefined;
}

interface SeriesTableProps {
  readonly rows: readonly TrendRow[];
  readonly window: TimeWindow;
  readonly timeZone: string;
  readonly cursorMs: number | undefined;
  /** Statistics are between these cursors; without them, of the window. */
  readonly measure: Measure | undefined;
  onToggle(key: string): void;
  onRemove(key: string): void;
  /** Opens the formula of this name. */
  onEdit(name: string): void;
}

export const SeriesTable = memo(function SeriesTable(props: SeriesTableProps) {
  const { rows, cursorMs, timeZone, measure } = props;
  const at = cursorMs === undefined ? "Latest" : timeText(cursorMs, timeZone);
  return (
    <ScrollArea className={classes["table"]} type="auto" viewportProps={{ tabIndex: -1 }}>
      <Table aria-label="Series of the trend" stickyHeader verticalSpacing={3} fz="sm">
        <Table.Thead>
          <Heads {...{ at, measure, timeZone }} />
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <SeriesRow key={row.series.key} row={row} {...props} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
});

type HeadsProps = Pick<SeriesTableProps, "measure" | "timeZone"> & {
  /** The time of the values. */
  readonly at: string;
};

const Heads = memo(function Heads({ at, measure, timeZone }: HeadsProps) {
  return (
    <Table.Tr>
      <Table.Th>Series</Table.Th>
      <Table.Th className={classes["number"]}>{at}</Table.Th>
      {measure && <MeasureHeads measure={measure} timeZone={timeZone} />}
      {["Min", "Mean", "Max", "Std dev", "Integral"].map((label) => (
        <Table.Th key={label} className={classes["number"]}>
          {label}
        </Table.Th>
      ))}
      <Table.Th className={classes["number"]}>{measure ? "Points A to B" : "Points in view"}</Table.Th>
      {!measure && <Table.Th>Shown as</Table.Th>}
      <Table.Th aria-label="Remove" />
    </Table.Tr>
  );
});

function SeriesRow({ row, ...props }: { row: TrendRow } & SeriesTableProps) {
  const { series, line, fault } = row;
  const { window, cursorMs, timeZone, measure, onToggle, onRemove, onEdit } = props;
  const { columns } = line;
  const part = measure ? { startMs: Math.min(...measure), endMs: Math.max(...measure) } : window;
  const statistics = line.kind === "numbers" && line.columns && statisticsOf(line.columns, part, line);
  const timeMs = cursorMs ?? window.endMs;
  const shownMs = timeOfValue(line, timeMs);
  return (
    <Table.Tr data-hidden={series.isHidden} aria-label={series.name}>
      <NameCell {...{ series, fault, onToggle }} isShort={measure !== undefined} />
      <td className={numberCell} title={shownMs === undefined ? undefined : timeText(shownMs, timeZone)}>
        <strong>{valueAt(line, cursorMs, window)}</strong>
      </td>
      {measure && <MeasureCells line={line} measure={measure} />}
      <StatisticsCells statistics={statistics || undefined} />
      <td className={numberCell}>{columns ? countText(pointsIn(columns, part)) : "–"}</td>
      {!measure && <td className={`${classes["cell"]} ${classes["resolution"]}`}>{shownAs(row)}</td>}
      <RowButtons {...{ series, onRemove, onEdit }} />
    </Table.Tr>
  );
}

interface NameCellProps extends Pick<SeriesTableProps, "onToggle">, Pick<TrendRow, "series" | "fault"> {
  /** Without the description: the values at the cursors need the space. */
  readonly isShort: boolean;
}

const NameCell = memo(function NameCell({ series, fault, isShort, onToggle }: NameCellProps) {
  return (
    <Table.Td className={classes["name"]}>
      <div className={classes["nameLine"]}>
        <Checkbox
          size="xs"
          color={series.color}
          checked={!series.isHidden}
          onChange={() => onToggle(series.key)}
          aria-label={`Show ${series.name}`}
        />
        <span className={classes["swatch"]} style={{ background: series.color }} />
        <Tooltip label={series.description || series.name} multiline maw={320}>
          <Text size="sm" fw={550} truncate>
            {series.name}
          </Text>
        </Tooltip>
        {!isShort && (
          <Text size="xs" c="var(--text-quiet)" truncate className={classes["description"]}>
            {series.description}
          </Text>
        )}
        {fault && <FaultMark fault={fault} />}
      </div>
    </Table.Td>
  );
});

type RowButtonsProps = Pick<SeriesTableProps, "onRemove" | "onEdit"> & { readonly series: TrendSeries };

const RowButtons = memo(function RowButtons({ series, onRemove, onEdit }: RowButtonsProps) {
  return (
    <Table.Td className={classes["buttons"]}>
      {series.kind === "calculated" && (
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={`Edit ${series.name}`}
          onClick={() => onEdit(series.name)}
        >
          <Pencil size={14} aria-hidden />
        </ActionIcon>
      )}
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={`Remove ${series.name}`}
        onClick={({ currentTarget }) => {
          focusBeside(currentTarget.closest("tr")!, "[aria-label^=Remove]");
          onRemove(series.key);
        }}
      >
        <X size={14} aria-hidden />
      </ActionIcon>
    </Table.Td>
  );
});

function shownAs({ line: { columns }, fault }: TrendRow): string {
  if (fault) return columns ? "not up to date" : "not drawn";
  return columns ? resolutionText(columns) : "loading";
}

/** Says why a series is not drawn, in its row. */
const FaultMark = ({ fault }: { fault: Fault }) => (
  <Text size="xs" className={classes["fault"]} title={faultText(fault)}>
    <TriangleAlert size={13} aria-hidden />
    <span>{faultText(fault)}</span>
  </Text>
);

interface MeasureProps {
  readonly measure: Measure;
}

function MeasureHeads({ measure: [aMs, bMs], timeZone }: MeasureProps & { readonly timeZone: string }) {
  return (
    <>
      <Table.Th className={classes["number"]} title={timeText(aMs, timeZone)}>
        A
      </Table.Th>
      <Table.Th className={classes["number"]} title={timeText(bMs, timeZone)}>
        B
      </Table.Th>
      <Table.Th className={classes["number"]}>B − A</Table.Th>
    </>
  );
}

function MeasureCells({ line, measure: [aMs, bMs] }: MeasureProps & { readonly line: ChartLine }) {
  const [a, b] = [numberAt(line, aMs), numberAt(line, bMs)];
  const difference = a === undefined || b === undefined ? "–" : numberText(b - a, calculatedDigits);
  return [valueText(line, aMs), valueText(line, bMs), difference].map((text, index) => (
    <td key={["A", "B", "difference"][index]} className={numberCell}>
      {text}
    </td>
  ));
}

/** The value at the cursor; without one, the last value of the window. */
function valueAt(line: ChartLine, cursorMs: number | undefined, window: TimeWindow): string {
  return cursorMs === undefined ? latestText(line, window) : valueText(line, cursorMs);
}

export function latestText(line: ChartLine, { endMs }: TimeWindow): string {
  const last = line.columns?.times.findLast((timeMs) => timeMs < endMs);
  return last === undefined ? "–" : valueText(line, last);
}

function StatisticsCells({ statistics }: { statistics: Statistics | undefined }) {
  const members = ["min", "mean", "max", "deviation", "integral"] as const;
  return members.map((member) => (
    <td key={member} className={numberCell}>
      {statistics ? numberText(statistics[member], calculatedDigits) : "–"}
    </td>
  ));
}
