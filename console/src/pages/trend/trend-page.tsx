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
import { useElementSize } from "@mantine/hooks";
import { ChartSpline, RefreshCw, Ruler, ZoomOut } from "lucide-react";
import { useMemo, useState } from "react";
import { durationText } from "../../lib/format.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { useProject } from "../../session/session.ts";
import { chartColors, lineColor } from "../../ui/chart/chart-colors.ts";
import { zoomed } from "../../ui/chart/gestures.ts";
import { MeasureCursors } from "../../ui/chart/measure-cursors.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/page-states.tsx";
import { CopyLink, ExportMenu } from "./export-menu.tsx";
import { FindSimilar } from "./find-similar.tsx";
import { measureIn, measureOf, measureSearch } from "./measure.ts";
import { MovingChart, MovingNavigator } from "./moving-chart.tsx";
import { OverlayMenu } from "./overlay-menu.tsx";
import { RangeControl } from "./range-control.tsx";
import { bucketFor, granularityOf, pictureText } from "./resolution.ts";
import { SavedTrends } from "./saved-trends.tsx";
import { SeriesPicker } from "./series-picker.tsx";
import { SeriesTable } from "./series-table.tsx";
import classes from "./trend.module.css";
import { type TrendSeries, useSeriesByName } from "./trend-series.ts";
import { type TrendState, useTrend } from "./use-trend.ts";
import { type TrendData, useTrendData } from "./use-trend-data.ts";
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
      toolbar={<Toolbar trend={trend} names={names} series={series} />}
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

interface ToolbarProps {
  readonly trend: TrendState;
  readonly names: readonly string[];
  readonly series: readonly TrendSeries[];
}

function Toolbar({ trend, names, series }: ToolbarProps) {
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
      {series.length > 0 && <FindSimilar {...{ series, search, window }} onChange={change} />}
      <Switch
        size="sm"
        label="Live"
        checked={isLive}
        onChange={(event) => follow(event.currentTarget.checked)}
      />
    </Group>
  );
}

function TrendView({ trend, series }: { trend: TrendState; series: readonly TrendSeries[] }) {
  const { window, ranges, change, search, gestures } = trend;
  const timeZone = search.zone ?? browserZone();
  const { ref, width } = useElementSize();
  const measure = useMemo(() => measureOf(search), [search]);
  const [cursorMs, setCursorMs] = useState<number>();
  const { rows, visible, lines, strip, whole, events, isLoading } = useTrendData(trend, series, width);
  const without = (list: readonly string[] | undefined, key: string) => list?.filter((one) => one !== key);
  return (
    <div className={classes["page"]}>
      <div className={classes["chart"]} ref={ref}>
        <MovingChart
          moving={trend.moving}
          label={`Trend of ${visible.map(({ label }) => label).join(", ")}`}
          {...{ lines, bands: events.bands, window, ranges, timeZone, cursorMs, ...gestures }}
          onPoint={setCursorMs}
        >
          {(area, window) =>
            measure && (
              <MeasureCursors
                {...{ area, window, timeZone, measure }}
                onChange={(to) => change(measureSearch(to))}
              />
            )
          }
        </MovingChart>
      </div>
      <Status {...{ rows, visible, isLoading, events, trend }} />
      <MovingNavigator
        moving={trend.moving}
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

interface StatusProps extends Pick<TrendData, "rows" | "visible" | "events" | "isLoading"> {
  readonly trend: TrendState;
}

/** Says which picture this is, and that it is still loading. */
function Status({ rows, visible, events, isLoading, trend }: StatusProps) {
  const { search, change, window } = trend;
  const measure = measureOf(search);
  const columns = visible.flatMap((line) => line.columns ?? []);
  return (
    <div className={classes["status"]}>
      <span role="status">
        {pictureText(columns)}
        {isLoading && " · loading…"}
        {events.isCut && " · too many events: zoom in to see all"}
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
        <OverlayMenu search={search} types={events.types} onChange={change} />
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
