// A chart of lines over time: any number of series, an axis for each unit, a cursor with a tool tip.
import "uplot/dist/uPlot.min.css";
import { Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import classes from "./chart.module.css";
import { chartColors } from "./chart-colors.ts";
import type { ChartLine } from "./chart-line.ts";
import { indexAt, shownTime, type TimeWindow } from "./columns.ts";
import { type Gestures, panned, zoomed } from "./gestures.ts";
import { type MovingWindow, useMovingWindow } from "./moving-window.ts";
import { type Picture, Plot, type PlotArea } from "./plot.ts";
import { Tooltip } from "./tooltip.tsx";

interface Moving {
  readonly window: TimeWindow;
  /** The chart shows this window while it moves. */
  readonly moving?: MovingWindow | undefined;
}

interface ChartProps extends Omit<Picture, "isMoving" | "window">, Moving, Gestures {
  /** Names the chart for people who cannot see it. */
  readonly label: string;
  readonly timeZone: string;
  /** The time that the cursor is at. */
  readonly cursorMs: number | undefined;
  /**
   * Elements over the plot area, such as measuring cursors. They are rendered in each frame of a movement.
   */
  readonly children?: ((area: PlotArea, window: TimeWindow) => ReactNode) | undefined;
}

const helpId = "chart-help";
const keyZoom = 2;
const keyPan = 0.2;
const keyValueZoom = 1.25;
const keySteps = 100;

export const Chart = memo(function Chart(props: ChartProps) {
  const { label, lines, bands, timeZone, cursorMs, children, onPoint, onRanges } = props;
  const { ref, width, height } = useElementSize();
  const [area, setArea] = useState<PlotArea>();
  const plot = useRef<Plot>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const isReady = width > 0 && height > 0;
  return (
    <div
      className={classes["chart"]}
      role="application"
      aria-roledescription="chart"
      aria-label={label}
      aria-describedby={helpId}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the role application takes the keyboard.
      tabIndex={0}
      onKeyDown={(event) => onKey(event, props, plot.current)}
      onBlur={() => onPoint(undefined)}
    >
      <Text id={helpId} className={classes["help"]}>
        The arrow keys left and right move the cursor, with Shift they pan. Plus and minus zoom.{" "}
        {onRanges ? "The arrow keys up and down zoom the value axes, 0 resets these." : "0 resets the zoom."}
      </Text>
      <div ref={ref} className={classes["canvas"]}>
        {isReady && (
          <PlotHost
            key={`${axesOf(lines).join("|")} ${scheme} ${timeZone}`}
            {...{ props, plot, width, height, scheme, setArea }}
          />
        )}
      </div>
      {area && children && <WithWindow {...props}>{(window) => children(area, window)}</WithWindow>}
      {area && cursorMs !== undefined && (
        <WithWindow {...props}>
          {(window) => <Tooltip {...{ area, lines, bands, window, timeZone, cursorMs }} />}
        </WithWindow>
      )}
    </div>
  );
});

interface WithWindowProps extends Moving {
  children(window: TimeWindow): ReactNode;
}

/** Renders its children with the window of each frame. */
function WithWindow({ moving, window, children }: WithWindowProps) {
  return children(useMovingWindow(moving) ?? window);
}

/** The window that the chart shows now. */
const windowNow = ({ moving, window }: Moving): TimeWindow => moving?.now() ?? window;

const pictureNow = ({ moving, window, ...picture }: Moving & Picture): Picture => ({
  ...{ ...picture, window: windowNow({ moving, window }) },
  isMoving: moving?.now() !== undefined,
});

const axesOf = (lines: readonly ChartLine[]): string[] => {
  const axes = lines.flatMap((line) => (line.kind === "numbers" ? [line.axis] : []));
  return axes.length === 0 ? [""] : [...new Set(axes)];
};

interface PlotHostProps {
  readonly props: ChartProps;
  readonly plot: RefObject<Plot | null>;
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
  setArea(area: PlotArea): void;
}

/** Owns the plot; a change of axes or colours makes another host. */
function PlotHost({ props, plot, width, height, scheme, setArea }: PlotHostProps) {
  const { lines, window, bands, ranges, timeZone, moving } = props;
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const [first] = useState({ width, height, lines, window, bands, ranges, timeZone, scheme });
  useLayoutEffect(() => {
    const { width, height, timeZone, scheme, ...picture } = first;
    const created = new Plot(host.current!, picture, {
      ...{ axes: axesOf(picture.lines), colors: chartColors(scheme), timeZone, size: { width, height } },
      gestures: forwarded(() => latest.current),
      onArea: (area) => queueMicrotask(() => setArea(area)),
    });
    plot.current = created;
    return () => created.destroy();
  }, [first, plot, setArea]);
  useEffect(() => plot.current?.resize({ width, height }), [plot, width, height]);
  useLayoutEffect(() => {
    const show = () => plot.current?.show(pictureNow({ lines, window, bands, ranges, moving }));
    show();
    return moving?.subscribe(show);
  }, [plot, lines, window, bands, ranges, moving]);
  return <div ref={host} />;
}

/** Gestures go to the properties of the latest render. */
const forwarded = (latest: () => Gestures): Gestures => ({
  onMove: (window) => latest().onMove(window),
  onMoved: () => latest().onMoved(),
  onSelect: (selection) => latest().onSelect(selection),
  onRanges: (ranges) => latest().onRanges?.(ranges),
  onReset: () => latest().onReset(),
  onPoint: (timeMs) => latest().onPoint(timeMs),
});

function onKey(event: KeyboardEvent<HTMLDivElement>, props: ChartProps, plot: Plot | null): void {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const { cursorMs, onMove, onMoved, onPoint, onRanges, onReset } = props;
  const window = windowNow(props);
  const move = (to: TimeWindow) => {
    onMove(to);
    onMoved();
  };
  const center = cursorMs ?? (window.startMs + window.endMs) / 2;
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (direction !== undefined && event.shiftKey) move(panned(window, direction * keyPan));
  else if (direction !== undefined) onPoint(nextTime(props, direction));
  else if (event.key === "+" || event.key === "=") move(zoomed(window, 1 / keyZoom, center));
  else if (event.key === "-") move(zoomed(window, keyZoom, center));
  else if (event.key === "ArrowUp" && plot && onRanges) onRanges(plot.zoomedRanges(1 / keyValueZoom));
  else if (event.key === "ArrowDown" && plot && onRanges) onRanges(plot.zoomedRanges(keyValueZoom));
  else if (event.key === "0") onReset();
  else if (event.key === "Home") onPoint(window.startMs);
  else if (event.key === "End") onPoint(window.endMs);
  else if (event.key === "Escape") onPoint(undefined);
  else return;
  event.preventDefault();
}

/** The cursor goes from point to point of the first line, and in equal steps where that has none. */
function nextTime(props: ChartProps, direction: number): number {
  const { lines, cursorMs } = props;
  const { startMs, endMs } = windowNow(props);
  if (cursorMs === undefined) return (startMs + endMs) / 2;
  const step = cursorMs + (direction * (endMs - startMs)) / keySteps;
  const line = lines.find(({ kind, columns }) => kind === "numbers" && columns);
  const to = line?.columns && nextPoint(line, cursorMs, direction);
  return Math.min(endMs, Math.max(startMs, to ?? step));
}

function nextPoint(line: ChartLine, cursorMs: number, direction: number): number | undefined {
  if (line.kind === "texts" || !line.columns) return undefined;
  const index = indexAt(line.columns, cursorMs, line);
  if (index === undefined) return undefined;
  const isThere = Math.abs(shownTime(line.columns, index) - cursorMs) < 1;
  const next = isThere ? index + direction : index;
  return next >= 0 && next < line.columns.times.length ? shownTime(line.columns, next) : undefined;
}
