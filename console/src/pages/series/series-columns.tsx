// The columns of the table of series.
import { Text, Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { TimeSeries } from "../../api/generated.ts";
import { ageText, countText, timeText, valueText } from "../../lib/format.ts";
import { SelectBox, type SeriesSelection } from "../../ui/series-selection.tsx";
import { Sparkline } from "../../ui/sparkline.tsx";
import type { TableColumn } from "../../ui/virtual-table.tsx";
import classes from "./series.module.css";
import { kindOf } from "./series-list.ts";
import { isStale, type ValuesInView } from "./values-in-view.ts";

export const seriesColumns = (
  values: ValuesInView,
  counts: ReadonlyMap<number, number>,
  nowMs: number,
  selection: SeriesSelection,
): readonly TableColumn<TimeSeries>[] => [
  {
    ...{ key: "select", label: "Select", isLabelHidden: true, width: "22px" },
    cell: ({ name }) => <SelectBox {...{ name, selection }} />,
  },
  { key: "name", label: "Name", width: "minmax(120px, 2fr)", cell: (row) => <NameCell series={row} /> },
  { key: "kind", label: "Kind", width: "70px", isOptional: true, cell: kindOf },
  {
    ...{ key: "day", label: "Last day", width: "132px", isOptional: true },
    cell: (row) => <DayCell series={row} values={values} />,
  },
  {
    ...{ key: "points", label: "Points", width: "100px", isOptional: true, isNumeric: true },
    cell: ({ id }) => {
      const count = counts.get(id);
      return count === undefined ? "" : countText(count);
    },
  },
  {
    ...{ key: "latest", label: "Latest", width: "minmax(104px, 0.8fr)", isNumeric: true },
    cell: (row) => <LatestCell series={row} values={values} nowMs={nowMs} />,
  },
  {
    ...{ key: "age", label: "Age", width: "minmax(84px, 0.6fr)", isNumeric: true, isOptional: true },
    cell: ({ id }) => <AgeCell id={id} values={values} nowMs={nowMs} />,
  },
];

function NameCell({ series: { id, name, description } }: { series: TimeSeries }) {
  return (
    <div className={classes["name"]}>
      <Link to="/series/$id" params={{ id }} title={name}>
        {name}
      </Link>
      {description !== undefined && <span title={description}>{description}</span>}
    </div>
  );
}

function DayCell({ series: { id, name, isStep }, values }: { series: TimeSeries; values: ValuesInView }) {
  const day = values.day.get(id);
  if (day === undefined || day.points.length === 0) return null;
  const { points, startMs, endMs } = day;
  return (
    <Sparkline
      {...{ points, startMs, endMs, isStep }}
      gapMs={2 * day.bucketMs}
      label={`${name} over the last day`}
    />
  );
}

interface LatestCellProps {
  readonly series: TimeSeries;
  readonly values: ValuesInView;
  readonly nowMs: number;
}

function LatestCell({ series: { id, unit }, values, nowMs }: LatestCellProps) {
  const latest = values.latest.get(id);
  if (latest === undefined) return null;
  if (latest === null) return <Quiet>no points</Quiet>;
  return (
    <div className={classes["latest"]}>
      <span title={`${latest.value}${unit === undefined ? "" : ` ${unit}`}`}>
        {valueText(latest.value)} {unit !== undefined && <Quiet>{unit}</Quiet>}
      </span>
      <div className={classes["ageBelow"]}>
        <AgeCell id={id} values={values} nowMs={nowMs} />
      </div>
    </div>
  );
}

interface AgeCellProps {
  readonly id: number;
  readonly values: ValuesInView;
  readonly nowMs: number;
}

function AgeCell({ id, values, nowMs }: AgeCellProps) {
  const latest = values.latest.get(id);
  if (!latest) return null;
  const age = ageText(latest.timestamp, nowMs);
  if (!isStale(latest, values.day.get(id), nowMs)) return <Quiet>{age}</Quiet>;
  return (
    <Tooltip label={`The latest point is of ${timeText(latest.timestamp)}; points are overdue.`}>
      <span className={classes["stale"]}>
        <TriangleAlert size={13} aria-label="Stale" />
        {age}
      </span>
    </Tooltip>
  );
}

const Quiet = ({ children }: { children: string }) => (
  <Text span inherit c="var(--text-quiet)">
    {children}
  </Text>
);
