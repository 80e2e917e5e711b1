// One uPlot: it lays out the axes, draws the ticks and follows the pointer. The lines are drawn here, because
// each has times of its own, a band and gaps.
import UPlot from "uplot";
import { pageScale } from "../page-scale.ts";
import type { ChartColors } from "./chart-colors.ts";
import type { ChartBand, ChartLine, NumberLine, TextLine, ValueRange } from "./chart-line.ts";
import type { TimeWindow } from "./columns.ts";
import { drawBands, drawLane, laneHeightPx } from "./draw-lanes.ts";
import { type Gestures, listenToGestures, zoomed } from "./gestures.ts";
import { LineStrip, stripMargin } from "./line-strip.ts";
import { timeLabels } from "./time-labels.ts";
import { isWithin, rangeOf } from "./value-range.ts";

export interface Picture {
  readonly window: TimeWindow;
  readonly lines: readonly ChartLine[];
  readonly bands: readonly ChartBand[];
  /** Ranges of axes that are fixed; the others follow the data. */
  readonly ranges: Readonly<Record<string, ValueRange>>;
  /** Whether a person moves the window now: a movement of pixels must be fast. */
  readonly isMoving?: boolean;
}

export interface PlotOptions {
  /** The units, in the order of their axes. */
  readonly axes: readonly string[];
  readonly colors: ChartColors;
  readonly timeZone: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly gestures: Gestures;
  /** The plot area moved or changed its size: its box in CSS pixels. */
  onArea(area: PlotArea): void;
}

export interface PlotArea {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const narrowPx = 560;
/** Axes beyond these do not fit on narrow screens; the legend has their values. */
const axesOnNarrow = 2;
/** Whole: uPlot reads the height of a line from its digits before "px". */
const axisFontPx = Math.round(11 * pageScale);
const axisSpacePx = 42 * pageScale;
const timeSpacePx = 76 * pageScale;

const sides = ["left", "top", "width", "height"] as const;

/** In CSS pixels. Reading it from the elements would lay out the page in every frame. */
function areaOf({ left, top, width, height }: UPlot.BBox): PlotArea {
  const ratio = devicePixelRatio;
  return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio };
}

/** Windows have whole milliseconds, so that one that is panned may change its length by rounding. */
const isSameLength = (one: TimeWindow, other: TimeWindow): boolean =>
  Math.abs(one.endMs - one.startMs - (other.endMs - other.startMs)) <= 1;

/** Whether two pictures have the same window and the same objects in it. */
function isSamePicture(one: Picture, other: Picture): boolean {
  const { window, lines } = other;
  const isSameWindow = one.window.startMs === window.startMs && one.window.endMs === window.endMs;
  const haveSameLines =
    one.lines.length === lines.length && one.lines.every((line, index) => line === lines[index]);
  const isSameMovement = (one.isMoving ?? false) === (other.isMoving ?? false);
  const isSameRest = one.bands === other.bands && one.ranges === other.ranges && isSameMovement;
  return isSameWindow && haveSameLines && isSameRest;
}

export const scaleOf = (axis: string): string => `unit ${axis}`;

export class Plot {
  readonly #plot: UPlot;
  readonly #options: PlotOptions;
  #picture: Picture;
  #ranges = new Map<string, ValueRange>();
  readonly #stopGestures: () => void;
  readonly #strip = new LineStrip();
  /** Whether the window is panned now. */
  #isPanned = false;
  #nextFrame = 0;
  #area: PlotArea | undefined;

  constructor(host: HTMLElement, picture: Picture, options: PlotOptions) {
    this.#options = options;
    this.#picture = picture;
    const { startMs, endMs } = picture.window;
    this.#plot = new UPlot(
      this.#uplotOptions(),
      [[startMs, endMs], ...options.axes.map(() => [null, null])],
      host,
    );
    this.#stopGestures = listenToGestures(this.#plot, options.axes, options.gestures);
    this.#show(picture);
  }

  /** Draws this picture now, unless it is drawn already. */
  show(picture: Picture): void {
    if (!isSamePicture(picture, this.#picture)) this.#show(picture);
  }

  #show(picture: Picture): void {
    this.#isPanned = picture.isMoving === true && isSameLength(picture.window, this.#picture.window);
    this.#picture = picture;
    const { window, ranges } = picture;
    this.#plot.batch(() => {
      this.#plot.setScale("x", { min: window.startMs, max: window.endMs });
      for (const axis of this.#options.axes) {
        const range = ranges[axis] ?? this.#rangeOf(axis);
        this.#ranges.set(axis, range);
        const [min, max] = this.#aboveLanes(range);
        this.#plot.setScale(scaleOf(axis), { min, max });
      }
      this.#plot.redraw(false, true);
    });
  }

  /** While the window is panned, the range stays until data leaves it. */
  #rangeOf(axis: string): ValueRange {
    const { window } = this.#picture;
    const own = this.#numbers().filter((line) => line.axis === axis);
    if (!this.#isPanned) return rangeOf(own, window);
    const current = this.#ranges.get(axis);
    if (current && isWithin(current, own, window)) return current;
    return rangeOf(own, zoomed(window, 1 + 2 * stripMargin, (window.startMs + window.endMs) / 2));
  }

  /** The ranges of the value axes, this many times as long around their middle. */
  zoomedRanges(factor: number): [axis: string, range: ValueRange][] {
    return [...this.#ranges].map(([axis, [low, high]]) => {
      const middle = (low + high) / 2;
      const half = ((high - low) / 2) * factor;
      return [axis, [middle - half, middle + half]];
    });
  }

  resize(size: { readonly width: number; readonly height: number }): void {
    if (size.width === this.#plot.width && size.height === this.#plot.height) return;
    this.#plot.setSize(size);
    this.#show(this.#picture);
  }

  destroy(): void {
    cancelAnimationFrame(this.#nextFrame);
    this.#stopGestures();
    this.#plot.destroy();
  }

  timeAt(left: number): number {
    return this.#plot.posToVal(left, "x");
  }

  leftOf(timeMs: number): number {
    return this.#plot.valToPos(timeMs, "x");
  }

  topOf(axis: string, value: number): number {
    return this.#plot.valToPos(value, scaleOf(axis));
  }

  /** The part of the page over the plot area, which holds cursors. */
  get over(): HTMLElement {
    return this.#plot.over;
  }

  /** Extends a range downwards, so that the lines keep clear of the lanes of string series. */
  #aboveLanes([low, high]: ValueRange): ValueRange {
    const heightPx = this.#plot.bbox.height / devicePixelRatio || this.#options.size.height;
    const lanesPx = Math.min(this.#lanes().length * laneHeightPx, heightPx * 0.6);
    return lanesPx === 0 ? [low, high] : [low - ((high - low) * lanesPx) / (heightPx - lanesPx), high];
  }

  #numbers(): NumberLine[] {
    return this.#picture.lines.filter((line): line is NumberLine => line.kind === "numbers");
  }

  #lanes(): TextLine[] {
    return this.#picture.lines.filter((line): line is TextLine => line.kind === "texts");
  }

  #draw = (plot: UPlot): void => {
    const { ctx, bbox } = plot;
    const { window, bands } = this.#picture;
    const ratio = devicePixelRatio;
    const perMs = bbox.width / (window.endMs - window.startMs);
    const x = (timeMs: number) => bbox.left + (timeMs - window.startMs) * perMs;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    drawBands(ctx, bands, { x, top: bbox.top, height: bbox.height, ratio, window });
    this.#drawNumbers(plot);
    ctx.restore();
    const lanes = this.#lanes();
    lanes.forEach((lane, index) => {
      const top = bbox.top + bbox.height - (lanes.length - index) * laneHeightPx * ratio + 2 * ratio;
      drawLane(ctx, lane, { x, top, ratio, window, colors: this.#options.colors });
    });
  };

  #drawNumbers(plot: UPlot): void {
    const { ctx, bbox, scales } = plot;
    const ranges = this.#options.axes.map((axis): [string, ValueRange] => {
      const { min, max } = scales[scaleOf(axis)]!;
      return [axis, [min!, max!]];
    });
    const view = {
      ...{ window: this.#picture.window, lines: this.#numbers(), ranges: new Map(ranges) },
      ...{ width: bbox.width, height: bbox.height, ratio: devicePixelRatio },
    };
    cancelAnimationFrame(this.#nextFrame);
    if (!this.#isPanned) this.#strip.draw(ctx, view, bbox);
    // In the frame after the next one, because a movement draws the next one.
    else if (this.#strip.pan(ctx, view, bbox))
      this.#nextFrame = requestAnimationFrame(() => {
        this.#nextFrame = requestAnimationFrame(() => plot.redraw(false, false));
      });
  }

  #uplotOptions(): UPlot.Options {
    const { axes, size, gestures, timeZone, onArea } = this.#options;
    const fixed: UPlot.Scale = { auto: false, range: (_, min, max) => [min, max] };
    const area = ({ bbox }: UPlot) => {
      const last = this.#area;
      const now = areaOf(bbox);
      if (last && sides.every((side) => last[side] === now[side])) return;
      this.#area = now;
      onArea(now);
    };
    return {
      ...size,
      ms: 1,
      padding: [10, axes.length > 1 ? 4 : 14, 0, 4],
      legend: { show: false },
      tzDate: (timeMs) => UPlot.tzDate(new Date(timeMs), timeZone),
      series: [
        {},
        ...axes.map((axis) => ({ scale: scaleOf(axis), paths: () => null, points: { show: false } })),
      ],
      scales: {
        x: { ...fixed, time: true },
        ...Object.fromEntries(axes.map((axis) => [scaleOf(axis), { ...fixed }])),
      },
      axes: [this.#timeAxis(), ...axes.map((axis, index) => this.#valueAxis(axis, index))],
      cursor: {
        points: { show: false },
        y: false,
        drag: { x: true, y: true, uni: 24, dist: 5, setScale: false },
        bind: {
          mousedown: (_, __, start) => (event) =>
            event.shiftKey || event.button !== 0 ? null : start(event),
          dblclick: () => () => {
            gestures.onReset();
            return null;
          },
        },
      },
      hooks: {
        draw: [this.#draw],
        ready: [area],
        setSize: [area],
        drawAxes: [area],
        setSelect: [this.#select],
      },
    };
  }

  #select = (plot: UPlot): void => {
    const { left, top, width, height } = plot.select;
    if (width + height === 0) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const isWhole = height >= plot.over.clientHeight - 1;
    const ranges = this.#options.axes.map((axis): readonly [string, ValueRange] => [
      axis,
      [plot.posToVal(top + height, scaleOf(axis)), plot.posToVal(top, scaleOf(axis))],
    ]);
    this.#options.gestures.onSelect({
      window: { startMs: plot.posToVal(left, "x"), endMs: plot.posToVal(left + width, "x") },
      ranges: isWhole ? [] : ranges,
    });
  };

  #timeAxis(): UPlot.Axis {
    const { colors, timeZone } = this.#options;
    const label = timeLabels(timeZone);
    return {
      stroke: colors.text,
      font: `${axisFontPx}px ${colors.font}`,
      size: 40 * pageScale,
      space: timeSpacePx,
      grid: { stroke: colors.grid, width: 1 },
      ticks: { stroke: colors.grid, width: 1, size: 5 },
      values: (...[, ticks, , , stepMs]) => label(ticks, stepMs),
    };
  }

  #valueAxis(axis: string, index: number): UPlot.Axis {
    const { colors, size } = this.#options;
    const only = this.#picture.lines.filter((line) => line.kind === "numbers" && line.axis === axis);
    const color = only.length === 1 ? only[0]!.color : colors.text;
    const isInRange = (_: UPlot, ticks: number[]) =>
      ticks.map((tick) => (tick < (this.#ranges.get(axis)?.[0] ?? tick) ? null : tick));
    return {
      scale: scaleOf(axis),
      side: index % 2 === 0 ? 3 : 1,
      show: index < axesOnNarrow || size.width > narrowPx,
      stroke: color,
      font: `${axisFontPx}px ${colors.font}`,
      label: axis === "" ? "no unit" : axis,
      labelFont: `600 ${axisFontPx}px ${colors.font}`,
      labelSize: 18 * pageScale,
      labelGap: 0,
      gap: 4,
      size: (_, labels) =>
        (14 + Math.max(...(labels ?? ["0000"]).map((text) => (text ?? "").length)) * 6.4) * pageScale,
      space: axisSpacePx,
      filter: isInRange,
      grid: { show: index === 0, stroke: colors.grid, width: 1, filter: isInRange },
      ticks: { stroke: colors.grid, width: 1, size: 4, filter: isInRange },
    };
  }
}
