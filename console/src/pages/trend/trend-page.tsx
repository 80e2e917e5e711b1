// The trend: series over time, as fine as the screen can show, down to every point.
import { ActionIcon, Alert, Button, Group, Switch, Text, Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { ChartSpline, RefreshCw, Ruler, Sigma, Table2, TriangleAlert, ZoomOut } from "lucide-react";
import { memo, type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { messageOf, unreadText } from "../../api/errors.ts";
import { durationText } from "../../lib/format.ts";
import { formulaEntry, formulasIn } from "../../lib/formula.ts";
import { browserZone } from "../../lib/zoned-time.ts";
import { useProject } from "../../session/session.ts";
import { Chart } from "../../ui/chart/chart.tsx";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { zoomed } from "../../ui/chart/gestures.ts";
import { MeasureCursors } from "../../ui/chart/measure-cursors.tsx";
import { useFollowedWindow } from "../../ui/chart/moving-window.ts";
import { Navigator } from "../../ui/chart/navigator.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/page-states.tsx";
import { CopyLink, ExportMenu } from "./export-menu.tsx";
import { FindSimilar } from "./find-similar.tsx";
import { FormulaEditor } from "./formula-editor.tsx";
import { measureIn, measureOf, measureSearch } from "./measure.ts";
import { NothingChosen } from "./nothing-chosen.tsx";
import { OverlayMenu } from "./overlay-menu.tsx";
import { RangeControl } from "./range-control.tsx";
import { formulaItem } from "./read-points.ts";
import { bucketFor, granularityOf, haveSameData, pictureText } from "./resolution.ts";
import { SavedTrends } from "./saved-trends.tsx";
import type { TrendSearch } from "./search.ts";
import { SeriesPicker } from "./series-picker.tsx";
import { SeriesTable, type TrendRow } from "./series-table.tsx";
import { TableView } from "./table-view.tsx";
import classes from "./trend.module.css";
import { type FoundSeries, formulaKey, isStored, type TrendSeries, useTrendSeries } from "./trend-series.ts";
import { useEarlyData, useFirstData } from "./use-early-data.ts";
import { type TrendState, useTrend } from "./use-trend.ts";
import { type TrendData, useTrendData } from "./use-trend-data.ts";
import { fixedWindow, lengthText } from "./window.ts";

const none: readonly string[] = [];

export function TrendPage() {
  const trend = useTrend();
  const { search, correct, open } = trend;
  const found = useTrendSeries(search);
  /** The place of the formula that is edited. */
  const [edited, setEdited] = useState<number>();
  const names = search.series ?? none;
  const place = useRef<HTMLDivElement>(null);
  useFirstData(trend, place);
  const openOther = (other: TrendSearch) => {
    setEdited(undefined);
    open(other);
  };
  const closeFormula = () => setEdited(undefined);
  const formula = (rows: readonly TrendRow[]) =>
    edited !== undefined && (
      <FormulaEditor
        key={edited}
        {...{ search, rows, index: edited, window: trend.window }}
        onChange={correct}
        onClose={closeFormula}
      />
    );
  return (
    <Page
      title="Trend"
      fills
      note={lengthText(trend.window)}
      actions={
        <>
          <SavedTrends search={search} onOpen={openOther} />
          <CopyLink />
          <CopyTrend series={found.series} trend={trend} />
        </>
      }
      toolbar={
        <Toolbar
          {...{ trend, names, series: found.series }}
          onFormula={() => setEdited(formulasIn(search.calc ?? none).length)}
        />
      }
    >
      <div ref={place} />
      {found.isPending && <Loading what="the series" />}
      <NotDrawn
        found={found}
        onRemove={(name) => trend.change({ series: names.filter((one) => one !== name) })}
      />
      {names.length === 0 && found.series.length === 0 && edited === undefined && <NothingChosen />}
      {(found.series.length > 0 || edited !== undefined) && !found.isPending && (
        <TrendView trend={trend} series={found.series} formula={formula} onEdit={setEdited} />
      )}
    </Page>
  );
}

interface NotDrawnProps {
  readonly found: FoundSeries;
  onRemove(name: string): void;
}

/** Says which series are not drawn, and why. The others are drawn. */
function NotDrawn({ found: { missing, failed }, onRemove }: NotDrawnProps) {
  const reasons = [
    ...missing.map((name) => ({
      name,
      reason: "is not drawn: it was deleted or renamed, or you may not read it.",
    })),
    ...failed.map(({ name, problem }) => ({ name, reason: `is not drawn: ${messageOf(problem)}` })),
  ];
  if (reasons.length === 0) return null;
  return (
    <Alert color="orange" mb="xs" p="xs" role="alert" icon={<TriangleAlert size={16} aria-hidden />}>
      {reasons.map(({ name, reason }) => (
        <Group key={name} gap="xs">
          <Text size="sm">
            <strong>{name}</strong> {reason}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => onRemove(name)}>
            Remove {name}
          </Button>
        </Group>
      ))}
    </Alert>
  );
}

interface ToolbarProps {
  readonly trend: TrendState;
  readonly names: readonly string[];
  readonly series: readonly TrendSeries[];
  /** Starts a new formula. */
  onFormula(): void;
}

function Toolbar({ trend, names, series, onFormula }: ToolbarProps) {
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
      <Button size="xs" variant="default" leftSection={<Sigma size={15} aria-hidden />} onClick={onFormula}>
        Add formula
      </Button>
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
      {series.some(isStored) && (
        <FindSimilar {...{ series: series.filter(isStored), search, window }} onChange={change} />
      )}
      <Switch
        size="sm"
        label="Live"
        checked={isLive}
        onChange={(event) => follow(event.currentTarget.checked)}
      />
    </Group>
  );
}

interface TrendViewProps {
  readonly trend: TrendState;
  readonly series: readonly TrendSeries[];
  /** The editor of a formula, if one is open. */
  formula(rows: readonly TrendRow[]): ReactNode;
  onEdit(index: number | undefined): void;
}

function TrendView({ trend, series, formula, onEdit }: TrendViewProps) {
  const { ranges, change, search, gestures } = trend;
  const timeZone = search.zone ?? browserZone();
  const { ref, width } = useElementSize();
  const isOther = useCallback(
    (one: TimeWindow, other: TimeWindow) => !haveSameData(one, other, width),
    [width],
  );
  const window = useFollowedWindow(trend.moving, trend.window, isOther);
  useEarlyData(trend, series, width);
  const measure = useMemo(() => measureOf(search), [search]);
  const [cursorMs, setCursorMs] = useState<number>();
  const { rows, visible, lines, strip, whole, events, isLoading } = useTrendData({
    ...{ trend, series, window, widthPx: width },
  });
  return (
    <div className={classes["page"]}>
      {formula(rows)}
      <div className={classes["chart"]} ref={ref}>
        {search.table ? (
          <TableView {...{ lines, window, timeZone }} />
        ) : (
          <Chart
            moving={trend.moving}
            label={`Trend of ${visible.map(({ label }) => label).join(", ")}`}
            {...{ lines, bands: events.bands, window, ranges, timeZone, cursorMs, ...gestures }}
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
      <Status {...{ rows, visible, lines, isLoading, events, trend }} />
      <Navigator
        moving={trend.moving}
        {...{ lines: strip, whole, window, timeZone }}
        onMove={gestures.onMove}
        onMoved={gestures.onMoved}
      />
      <SeriesTable
        {...{ rows, window, timeZone, cursorMs, measure }}
        {...useRowActions(search, change, onEdit)}
      />
    </div>
  );
}

/** The same functions in each render, so that names and buttons of the rows are not rendered again. */
function useRowActions(search: TrendSearch, change: TrendState["change"], onEdit: TrendViewProps["onEdit"]) {
  return useMemo(
    () => ({
      onToggle: (key: string) =>
        change({
          hidden: search.hidden?.includes(key)
            ? without(search.hidden, key)
            : [...(search.hidden ?? []), key],
        }),
      onRemove: (key: string) => {
        onEdit(undefined);
        change(withoutSeries(search, key));
      },
      onEdit: (name: string) => onEdit(formulasIn(search.calc ?? none).findIndex((one) => one.name === name)),
    }),
    [search, change, onEdit],
  );
}

const without = (list: readonly string[] | undefined, key: string) => list?.filter((one) => one !== key);

const withoutSeries = ({ series, calc, hidden }: TrendSearch, key: string): Partial<TrendSearch> => ({
  series: without(series, key),
  hidden: without(hidden, key),
  calc: calc && formulasIn(calc).flatMap((one) => (formulaKey(one.name) === key ? [] : formulaEntry(one))),
});

interface StatusProps extends Pick<TrendData, "rows" | "visible" | "lines" | "events" | "isLoading"> {
  readonly trend: TrendState;
}

/** Says which picture this is, and that it is still loading. */
const Status = memo(function Status({ rows, visible, lines, events, isLoading, trend }: StatusProps) {
  const { search, change, window } = trend;
  const measure = measureOf(search);
  const columns = visible.flatMap((line) => line.columns ?? []);
  return (
    <div className={classes["status"]}>
      <span role="status" className={classes["statusText"]}>
        <span>
          {pictureText(columns)}
          {events.isCut && " · too many events: zoom in to see all"}
          {events.problem !== null && ` · no events: ${unreadText("events", events.problem)}`}
          {measure && ` · A to B: ${durationText(Math.abs(measure[1] - measure[0]))}`}
        </span>{" "}
        <span className={classes["loading"]}>{isLoading && "· loading…"}</span>
      </span>
      {search.y && (
        <Button variant="subtle" size="compact-xs" onClick={() => change({ y: undefined })}>
          Fit the value axes
        </Button>
      )}
      <Group gap="sm">
        {!search.table && !search.y && (
          <Text span size="xs" visibleFrom="sm">
            Drag to zoom, Shift-drag to pan, wheel to zoom
          </Text>
        )}
        <Button
          variant="default"
          size="compact-xs"
          leftSection={
            search.table ? <ChartSpline size={14} aria-hidden /> : <Table2 size={14} aria-hidden />
          }
          onClick={() => change({ table: search.table ? undefined : true })}
        >
          {search.table ? "Show as chart" : "Show as table"}
        </Button>
        <OverlayMenu search={search} events={events} onChange={change} />
        <ExportMenu {...{ rows, lines, window }} />
      </Group>
    </div>
  );
});

function CopyTrend({ series, trend }: { series: readonly TrendSeries[]; trend: TrendState }) {
  const project = useProject();
  const { startMs, endMs } = trend.window;
  const bucketMs = bucketFor(trend.window, copiedBuckets);
  const body = {
    items: series.filter((one) => isStored(one) || one.isReady).map((one) => itemOf(one, bucketMs)),
    ...{ start: Math.round(startMs), end: Math.round(endMs), limit: 10_000 },
    ...{ aggregates: "average,min,max", granularity: granularityOf(bucketMs) },
  };
  return <CopyAs request={{ method: "POST", project, path: "/timeseries/dataquery", body }} />;
}

/** About so many buckets are in the request that is copied. */
const copiedBuckets = 1_200;

function itemOf(series: TrendSeries, bucketMs: number) {
  if (series.kind === "calculated") return formulaItem(series.name, series.formula, bucketMs);
  const { name, isString } = series;
  return isString ? { name, aggregates: "" } : { name };
}
