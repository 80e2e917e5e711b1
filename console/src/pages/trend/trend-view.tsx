// The chart of the trend, with the status, the navigator and the table of its series below.
import { Button, Group, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { ChartSpline, Table2 } from "lucide-react";
import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { unreadText } from "../../api/errors.ts";
import { durationText } from "../../lib/format.ts";
import { formulaEntry, formulasIn } from "../../lib/formula.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { MeasureCursors } from "../../ui/chart/measure-cursors.tsx";
import { useFollowedWindow } from "../../ui/chart/moving-window.ts";
import { Navigator } from "../../ui/chart/navigator.tsx";
import { type Exported, ExportMenu } from "./export-menu.tsx";
import { FormulaEditor } from "./formula-editor.tsx";
import { measureOf, measureSearch } from "./measure.ts";
import { OverlayMenu } from "./overlay-menu.tsx";
import { haveSameData, pictureText } from "./resolution.ts";
import type { TrendSearch } from "./search.ts";
import { SeriesTable } from "./series-table.tsx";
import { TableView } from "./table-view.tsx";
import classes from "./trend.module.css";
import { formulaKey, type TrendSeries } from "./trend-series.ts";
import { rangesOf, useTrendActions, useTrendSearch, useTrendShown } from "./trend-state.tsx";
import { useEarlyData } from "./use-early-data.ts";
import { type TrendData, useTrendData } from "./use-trend-data.ts";

interface TrendViewProps {
  readonly series: readonly TrendSeries[];
  /** The place of the formula that is edited, if there is one. */
  readonly edited: number | undefined;
  onEdit(index: number | undefined): void;
}

export function TrendView({ series, edited, onEdit }: TrendViewProps) {
  const shown = useTrendShown();
  const { search } = shown;
  const { change, gestures, moving } = useTrendActions();
  const timeZone = search.zone ?? browserZone();
  const { ref, width } = useElementSize();
  const isOther = useCallback(
    (one: TimeWindow, other: TimeWindow) => !haveSameData(one, other, width),
    [width],
  );
  const window = useFollowedWindow(moving, shown.window, isOther);
  useEarlyData(series, width);
  const measure = useMemo(() => measureOf(search), [search]);
  const ranges = useMemo(() => rangesOf(search.y), [search.y]);
  const [cursorMs, setCursorMs] = useState<number>();
  const data = useTrendData({ shown, series, window, widthPx: width });
  const { rows, visible, lines, strip, whole, events } = data;
  return (
    <div className={classes["page"]}>
      {edited !== undefined && (
        <FormulaEditor key={edited} index={edited} rows={rows} onClose={() => onEdit(undefined)} />
      )}
      <div className={classes["chart"]} ref={ref}>
        {search.table ? (
          <TableView {...{ lines, window, timeZone }} />
        ) : (
          <Chart
            {...{ lines, bands: events.bands, window, moving, ranges, timeZone, cursorMs, ...gestures }}
            label={`Trend of ${visible.map(({ label }) => label).join(", ")}`}
            onPoint={setCursorMs}
          >
            {measure &&
              ((area, window) => (
                <MeasureCursors
                  {...{ area, window, timeZone, measure }}
                  onChange={(to) => change(measureSearch(to))}
                />
              ))}
          </Chart>
        )}
      </div>
      <div className={classes["status"]}>
        <Status data={data} />
        <FitButton />
        <StatusActions events={events} exported={useLatest({ rows, lines, window: shown.window })} />
      </div>
      <Navigator
        {...{ lines: strip, whole, window, moving, timeZone }}
        onMove={gestures.onMove}
        onMoved={gestures.onMoved}
      />
      <SeriesTable {...{ rows, window, timeZone, cursorMs, measure }} {...useRowActions(onEdit)} />
    </div>
  );
}

/** The same function in each render. It returns the value of the latest one. */
function useLatest<Value>(value: Value): () => Value {
  const latest = useRef(value);
  useLayoutEffect(() => {
    latest.current = value;
  });
  return useCallback(() => latest.current, []);
}

/** The same functions in each render, so that names and buttons of the rows are not rendered again. */
function useRowActions(onEdit: TrendViewProps["onEdit"]) {
  const { shown, change } = useTrendActions();
  return useMemo(() => {
    const search = () => shown().search;
    return {
      onToggle: (key: string) => {
        const { hidden = [] } = search();
        change({ hidden: hidden.includes(key) ? without(hidden, key) : [...hidden, key] });
      },
      onRemove: (key: string) => {
        onEdit(undefined);
        change(withoutSeries(search(), key));
      },
      onEdit: (name: string) => onEdit(formulasIn(search().calc ?? []).findIndex((one) => one.name === name)),
    };
  }, [shown, change, onEdit]);
}

const without = (list: readonly string[] | undefined, key: string) => list?.filter((one) => one !== key);

const withoutSeries = ({ series, calc, hidden }: TrendSearch, key: string): Partial<TrendSearch> => ({
  series: without(series, key),
  hidden: without(hidden, key),
  calc: calc && formulasIn(calc).flatMap((one) => (formulaKey(one.name) === key ? [] : formulaEntry(one))),
});

/** Says which picture this is, and that it is still loading. */
function Status({ data: { visible, events, isLoading } }: { readonly data: TrendData }) {
  const { search } = useTrendShown();
  const measure = measureOf(search);
  const columns = visible.flatMap((line) => line.columns ?? []);
  return (
    <span role="status" className={classes["statusText"]}>
      <span>
        {pictureText(columns)}
        {events.isCut && " · too many events: zoom in to see all"}
        {events.problem !== null && ` · no events: ${unreadText("events", events.problem)}`}
        {measure && ` · A to B: ${durationText(Math.abs(measure[1] - measure[0]))}`}
      </span>{" "}
      <span className={classes["loading"]}>{isLoading && "· loading…"}</span>
    </span>
  );
}

const FitButton = memo(function FitButton() {
  const { change } = useTrendActions();
  return (
    useTrendSearch(({ y }) => y !== undefined) && (
      <Button variant="subtle" size="compact-xs" onClick={() => change({ y: undefined })}>
        Fit the value axes
      </Button>
    )
  );
});

interface StatusActionsProps extends Pick<TrendData, "events"> {
  exported(): Exported;
}

/** Does not render again with the window. */
const StatusActions = memo(function StatusActions({ events, exported }: StatusActionsProps) {
  const { change } = useTrendActions();
  const isTable = useTrendSearch(({ table }) => table === true);
  const isFitted = useTrendSearch(({ y }) => y === undefined);
  return (
    <Group gap="sm">
      {!isTable && isFitted && (
        <Text span size="xs" visibleFrom="sm">
          Drag to zoom, Shift-drag to pan, wheel to zoom
        </Text>
      )}
      <Button
        variant="default"
        size="compact-xs"
        leftSection={isTable ? <ChartSpline size={14} aria-hidden /> : <Table2 size={14} aria-hidden />}
        onClick={() => change({ table: isTable ? undefined : true })}
      >
        {isTable ? "Show as chart" : "Show as table"}
      </Button>
      <OverlayMenu found={events} />
      <ExportMenu exported={exported} />
    </Group>
  );
});
