// The results of an expression as a small chart and a table.
import { Text, useComputedColorScheme } from "@mantine/core";
import { useMemo, useState } from "react";
import { countText, numberText, timeText } from "../../lib/format.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import { chartColors, lineColor } from "../../ui/chart/chart-colors.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { Empty } from "../../ui/page-states.tsx";
import { type TableColumn, VirtualTable } from "../../ui/virtual-table.tsx";
import classes from "./calculated.module.css";
import { type Result, resultsMax } from "./use-preview.ts";

interface ResultPreviewProps {
  readonly name: string;
  readonly results: readonly Result[];
}

const columns: readonly TableColumn<Result>[] = [
  { key: "time", label: "Time", width: "1fr", cell: ({ timestamp }) => timeText(timestamp) },
  { key: "value", label: "Value", width: "100px", isNumeric: true, cell: ({ value }) => numberText(value) },
];

const noGap = Number.POSITIVE_INFINITY;
const nothing = () => undefined;

export function ResultPreview({ name, results }: ResultPreviewProps) {
  if (results.length === 0)
    return (
      <Empty title="There are no results in this range">
        Choose a longer range. There is a result where every series has a value, and the expression is a
        number.
      </Empty>
    );
  return (
    <>
      <Text size="sm" c="var(--text-quiet)" role="status">
        {results.length === resultsMax
          ? `The first ${countText(resultsMax)} results, up to ${timeText(results.at(-1)!.timestamp)}. ` +
            "Choose an aggregate or a shorter time to see all"
          : `${countText(results.length)} results`}
      </Text>
      <div className={classes["preview"]}>
        <div className={classes["chart"]}>
          <ResultChart {...{ name, results }} />
        </div>
        <div className={classes["results"]}>
          <VirtualTable
            label="Results"
            columns={columns}
            rows={results}
            rowKey={({ timestamp }) => timestamp}
            rowHeight={30}
            empty={null}
          />
        </div>
      </div>
    </>
  );
}

function ResultChart({ name, results }: ResultPreviewProps) {
  const colors = chartColors(useComputedColorScheme("light", { getInitialValueInEffect: false }));
  const [cursorMs, setCursorMs] = useState<number>();
  const whole = useMemo(
    () => ({ startMs: results[0]!.timestamp, endMs: results.at(-1)!.timestamp + 1 }),
    [results],
  );
  const [zoomed, setZoomed] = useState<TimeWindow>();
  const lines = useMemo(
    () => [
      {
        ...{ kind: "numbers" as const, key: "result", label: name, color: lineColor(colors, 0) },
        ...{ axis: "", isStep: false, gapMs: noGap },
        columns: {
          kind: "raw" as const,
          times: Float64Array.from(results, ({ timestamp }) => timestamp),
          values: Float64Array.from(results, ({ value }) => value),
        },
      },
    ],
    [name, results, colors],
  );
  return (
    <Chart
      label={`Results of ${name}`}
      {...{ lines, bands: [], ranges: {}, cursorMs, window: zoomed ?? whole }}
      timeZone={Intl.DateTimeFormat().resolvedOptions().timeZone}
      onMove={setZoomed}
      onMoved={nothing}
      onSelect={({ window }) => setZoomed(window)}
      onReset={() => setZoomed(undefined)}
      onPoint={setCursorMs}
    />
  );
}
