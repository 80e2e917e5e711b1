// The trend: series over time, as fine as the screen can show, down to every point.
import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Switch,
  Text,
  Tooltip,
  useComputedColorScheme,
} from "@mantine/core";
import { useDebouncedValue, useElementSize } from "@mantine/hooks";
import { ChartSpline, RefreshCw, Ruler, ZoomOut } from "lucide-react";
import { useMemo, useState } from "react";
import { durationText } from "../../lib/format.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { useProject } from "../../session/session.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import { chartColors, lineColor } from "../../ui/chart/chart-colors.ts";
import type { ChartLine, NumberLine } from "../../ui/chart/chart-line.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { zoomed } from "../../ui/chart/gestures.ts";
import { gapOf } from "../../ui/chart/interval.ts";
import { MeasureCursors } from "../../ui/chart/measure-cursors.tsx";
import { Navigator } from "../../ui/chart/navigator.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { CopyLink, ExportMenu } from "./export-menu.tsx";
import { measureIn, measureOf, measureSearch } from "./measure.ts";
import { navigatorRange } from "./navigator-range.ts";
import { RangeControl } from "./range-control.tsx";
import { bucketFor, granularityOf, pictureText } from "./resolution.ts";
import { SavedTrends } from "./saved-trends.tsx";
import { SeriesPicker } from "./series-picker.tsx";
import { SeriesTable, type TrendRow } from "./series-table.tsx";
import classes from "./trend.module.css";
import { type TrendSeries, useSeriesByName } from "./trend-series.ts";
import { type LoadedColumns, useColumns } from "./use-columns.ts";
import { type TrendState, useTrend } from "./use-trend.ts";
import { fixedWindow, lengthText } from "./window.ts";

const none: readonly string[] = [];

export function TrendPage() {
  const trend = useTrend();
  const names = trend.search.series ?? none;
  const found = useSeriesByName(names);
  const series = useTrendSeries(found.series, trend.search.hidden ?? none);
  return (
    <Page
      title="Trend"
      fills
      note={lengthText(trend.window)}
      actions={
        <>
          <SavedTrends search={trend.search} onOpen={trend.open} />
          <CopyLink />
          <CopyTrend series={series} trend={trend} />
        </>
      }
      toolbar={<Toolbar trend={trend} names={names} />}
    >
      {names.length === 0 && (
        <Empty title="Choose what to look at" icon={<ChartSpline size={40} aria-hidden />}>
          Add series with the button above. The picture is in the address: copy it to share what you see.
        </Empty>
      )}
      {found.isPending && <Loading what="the series" />}
      {found.problem !== undefined && found.problem !== null && <Failure problem={found.problem} />}
      {found.missing.length > 0 && (
        <Alert color="orange" mb="xs">
          There is no series {found.missing.join(", ")} that you may read.
        </Alert>
      )}
      {series.length > 0 && !found.isPending && <TrendView trend={trend} series={series} />}
    </Page>
  );
}

/** The series with their colours: a series keeps its colour while others are hidden. */
function useTrendSeries(
  records: ReturnType<typeof useSeriesByName>["series"],
  hidden: readonly string[],
): readonly TrendSeries[] {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  return useMemo(
    () =>
      records.map(({ id, name, description = "", unit = "", isStep, isString }, index) => ({
        ...{ key: name, id, name, description, unit, isStep, isString },
        isHidden: hidden.includes(name),
        color: lineColor(chartColors(scheme), index),
      })),
    [records, hidden, scheme],
  );
}

function Toolbar({ trend, names }: { trend: TrendState; names: readonly string[] }) {
  const { search, window, change, refresh, isLive } = trend;
  const toggle = (name: string) =>
    change({ series: names.includes(name) ? names.filter((one) => one !== name) : [...names, name] });
  const follow = (live: boolean) =>
    change(
      live
        ? { live, ...(search.end !== undefined && { start: undefined, end: undefined }) }
        : { live: undefined },
    );
  return (
    <Group gap="xs">
      <SeriesPicker names={names} onToggle={toggle} />
      <RangeControl search={search} window={window} onChange={change} />
      <Tooltip label="Zoom out">
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Zoom out"
          onClick={() => change(fixedWindow(zoomed(window, 2, (window.startMs + window.endMs) / 2)))}
        >
          <ZoomOut size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Read again">
        <ActionIcon variant="default" size={30} aria-label="Refresh" onClick={refresh}>
          <RefreshCw size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Button
        size="xs"
        variant={search.cursors ? "light" : "default"}
        aria-pressed={search.cursors !== undefined}
        leftSection={<Ruler size={15} aria-hidden />}
        onClick={() => change(search.cursors ? { cursors: undefined } : measureSearch(measureIn(window)))}
      >
        Measure
      </Button>
      <Switch
        size="sm"
        label="Live"
        checked={isLive}
        onChange={(event) => follow(event.currentTarget.checked)}
      />
    </Group>
  );
}

const pauseMs = 60;

function TrendView({ trend, series }: { trend: TrendState; series: readonly TrendSeries[] }) {
  const { window, isLive, version, ranges, change, search, gestures } = trend;
  const timeZone = search.zone ?? browserZone();
  const { ref, width } = useElementSize();
  const measure = useMemo(() => measureOf(search), [search]);
  const [cursorMs, setCursorMs] = useState<number>();
  const [loadedWindow] = useDebouncedValue(window, pauseMs, { leading: true });
  const whole = useMemo(() => navigatorRange(loadedWindow, Date.now()), [loadedWindow]);
  const loaded = useColumns({ series, window: loadedWindow, widthPx: width, isLive, version });
  const overview = useColumns({ series, window: whole, widthPx: width / 2, isLive: false, version });
  const rows = useRows(series, loaded, overview);
  const visible = useMemo(() => rows.flatMap(({ series, line }) => (series.isHidden ? [] : [line])), [rows]);
  const strip = useStrip(rows, overview);
  const without = (list: readonly string[] | undefined, key: string) => list?.filter((one) => one !== key);
  return (
    <div className={classes["page"]}>
      <div className={classes["chart"]} ref={ref}>
        <Chart
          label={`Trend of ${visible.map(({ label }) => label).join(", ")}`}
          {...{ lines: visible, bands: noBands, window, ranges, timeZone, cursorMs, ...gestures }}
          onPoint={setCursorMs}
        >
          {(area) =>
            measure && (
              <MeasureCursors
                {...{ area, window, timeZone, measure }}
                onChange={(to) => change(measureSearch(to))}
              />
            )
          }
        </Chart>
      </div>
      <Status {...{ rows, loaded, search, change, window }} />
      <Navigator
        {...{ lines: strip, whole, window, timeZone }}
        onMove={gestures.onMove}
        onMoved={gestures.onMoved}
      />
      <SeriesTable
        {...{ rows, window, timeZone, cursorMs, measure }}
        onToggle={(key) =>
          change({
            hidden: search.hidden?.includes(key)
              ? without(search.hidden, key)
              : [...(search.hidden ?? []), key],
          })
        }
        onRemove={(key) =>
          change({ series: without(search.series, key), hidden: without(search.hidden, key) })
        }
      />
    </div>
  );
}

const noBands: readonly never[] = [];

function useRows(
  series: readonly TrendSeries[],
  loaded: readonly LoadedColumns[],
  overview: readonly LoadedColumns[],
): readonly TrendRow[] {
  return useMemo(
    () =>
      series.map((one, index) => {
        const { columns, problem } = loaded[index]!;
        const gapMs = gapOf(overview[index]!.columns) ?? gapOf(columns) ?? Number.POSITIVE_INFINITY;
        return { series: one, line: lineOf(one, columns, gapMs), problem };
      }),
    [series, loaded, overview],
  );
}

function lineOf(series: TrendSeries, columns: LoadedColumns["columns"], gapMs: number): ChartLine {
  const { key, name: label, color, unit: axis, isStep } = series;
  if (series.isString)
    return { kind: "texts", key, label, color, columns: columns?.kind === "text" ? columns : undefined };
  const numbers = columns?.kind === "text" ? undefined : columns;
  return { kind: "numbers", key, label, color, axis, isStep, gapMs, columns: numbers };
}

/** The lines of the navigator: those of numbers that are not hidden, with the data of the whole strip. */
function useStrip(rows: readonly TrendRow[], overview: readonly LoadedColumns[]): readonly NumberLine[] {
  return useMemo(
    () =>
      rows.flatMap(({ series, line }, index) => {
        const { columns } = overview[index]!;
        if (series.isHidden || line.kind === "texts" || columns?.kind === "text") return [];
        return [{ ...line, columns }];
      }),
    [rows, overview],
  );
}

interface StatusProps {
  readonly rows: readonly TrendRow[];
  readonly loaded: readonly LoadedColumns[];
  readonly search: TrendState["search"];
  readonly change: TrendState["change"];
  readonly window: TimeWindow;
}

/** Says which picture this is, and that it is still loading. */
function Status({ rows, loaded, search, change, window }: StatusProps) {
  const shown = rows.flatMap(({ series, line }) => (series.isHidden || !line.columns ? [] : [line.columns]));
  const measure = measureOf(search);
  const isLoading = loaded.some((one) => one.isLoading) && search.live !== true;
  return (
    <div className={classes["status"]}>
      <span role="status">
        {pictureText(shown)}
        {isLoading && " · loading…"}
        {measure && ` · A to B: ${durationText(Math.abs(measure[1] - measure[0]))}`}
      </span>
      {search.y && (
        <Button variant="subtle" size="compact-xs" onClick={() => change({ y: undefined })}>
          Fit the value axes
        </Button>
      )}
      <Group gap="sm">
        <Text span size="xs" visibleFrom="sm">
          Drag to zoom, Shift-drag to pan, wheel to zoom
        </Text>
        <ExportMenu rows={rows} window={window} />
      </Group>
    </div>
  );
}

function CopyTrend({ series, trend }: { series: readonly TrendSeries[]; trend: TrendState }) {
  const project = useProject();
  const { startMs, endMs } = trend.window;
  const body = {
    items: series.map(({ name, isString }) => (isString ? { name, aggregates: "" } : { name })),
    ...{ start: Math.round(startMs), end: Math.round(endMs), limit: 10_000 },
    ...{ aggregates: "average,min,max", granularity: granularityOf(bucketFor(trend.window, 1_200)) },
  };
  return <CopyAs request={{ method: "POST", project, path: "/timeseries/dataquery", body }} />;
}
