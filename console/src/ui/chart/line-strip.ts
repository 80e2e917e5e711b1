// The lines of a chart on a canvas that is wider than the window. While the window is panned, each frame
// copies a part of it, and draws only the lines that come into view. Drawing all of 20 lines with 2,000
// buckets takes 30 ms, the copy one.
import type { NumberLine, ValueRange } from "./chart-line.ts";
import { isContinued, type TimeWindow } from "./columns.ts";
import { drawLine } from "./draw-lines.ts";

/** A plot area, in canvas pixels, and the lines in it. */
export interface StripView {
  readonly window: TimeWindow;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly NumberLine[];
  /** From the bottom to the top of the plot area, by axis. */
  readonly ranges: ReadonlyMap<string, ValueRange>;
  /** Canvas pixels in one CSS pixel. */
  readonly ratio: number;
}

/** Pixels of a strip from left to right, without `to`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The strip has this share of the window more on each side. */
export const stripMargin = 0.25;
/** Beside the pixels that come into view, this share of the window is drawn: many small parts cost more. */
const drawnAhead = 1 / 16;
/** Points that are drawn in one frame when all lines are drawn again. At least one line is drawn. */
const pointsPerFrame = 5_000;
/** Points as far outside of a part reach into it with their dots and the ends of their lines. */
const reachPx = 8;

interface Strip {
  readonly canvas: HTMLCanvasElement;
  readonly view: StripView;
  /** The time of the left edge. */
  readonly startMs: number;
  readonly lines: readonly NumberLine[];
  /** Where the lines are drawn. */
  readonly drawn: Span;
}

/** A strip whose lines are drawn over several frames, over its whole width. */
interface Unfinished {
  readonly strip: Strip;
  readonly count: number;
}

export class LineStrip {
  #shown: Strip | undefined;
  /** Replaces the shown strip when it is finished, because data has changed. */
  #next: Unfinished | undefined;
  #spare: HTMLCanvasElement | undefined;

  /** Draws the lines of a view and copies them. */
  draw(context: CanvasRenderingContext2D, view: StripView, at: { left: number; top: number }): void {
    this.#next = undefined;
    this.#shown = completed(emptyStrip(view, this.#shown?.canvas), spanOf(view, startOf(view)));
    copyTo(context, this.#shown, { ...at, from: marginOf(view) });
  }

  /**
   * Copies the lines of a panned view. Returns whether the next frame must be drawn although nothing moves.
   */
  pan(context: CanvasRenderingContext2D, view: StripView, at: { left: number; top: number }): boolean {
    if (!this.#shown || !isSameScale(this.#shown.view, view)) {
      this.draw(context, view, at);
      return false;
    }
    this.#shown = this.#withLines(this.#shown, view);
    const span = spanOf(view, this.#shown.startMs);
    if (span.from < 0 || span.to > this.#shown.canvas.width) this.#shown = this.#moved(this.#shown, view);
    const { from, to } = spanOf(view, this.#shown.startMs);
    this.#shown = completed(this.#shown, { from, to });
    copyTo(context, this.#shown, { ...at, from });
    return this.#next !== undefined;
  }

  /** The shown strip with the lines of the view; the earlier lines stay until changed data is drawn. */
  #withLines(shown: Strip, view: StripView): Strip {
    if (isDrawnIn(shown, view.lines)) {
      this.#next = undefined;
      return { ...shown, lines: view.lines };
    }
    const kept = withAddedData(shown, view);
    if (kept) {
      this.#next = undefined;
      return kept;
    }
    const isUseful = this.#next && haveSame(this.#next.strip.lines, view.lines);
    const next = isUseful ? this.#next! : { strip: emptyStrip(view, this.#takeSpare()), count: 0 };
    this.#next = continued(next);
    if (this.#next.count < view.lines.length) return shown;
    this.#next = undefined;
    this.#spare = shown.canvas;
    return next.strip;
  }

  /** The same pixels with the window in the middle. */
  #moved(shown: Strip, view: StripView): Strip {
    const moved = emptyStrip(view, this.#takeSpare());
    const by = Math.round((moved.startMs - shown.startMs) * perMs(shown.view));
    moved.canvas.getContext("2d")!.drawImage(shown.canvas, -by, 0);
    this.#spare = shown.canvas;
    const { width } = moved.canvas;
    const inside = (at: number) => Math.min(width, Math.max(0, at - by));
    const drawn = { from: inside(shown.drawn.from), to: inside(shown.drawn.to) };
    // A whole number of pixels: the points on both sides of the edge are at the same places.
    return { ...shown, canvas: moved.canvas, startMs: shown.startMs + by / perMs(shown.view), drawn };
  }

  #takeSpare(): HTMLCanvasElement | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }
}

const lengthOf = ({ startMs, endMs }: TimeWindow): number => endMs - startMs;
const perMs = ({ window, width }: StripView): number => width / lengthOf(window);
const marginOf = ({ width }: StripView): number => Math.round(width * stripMargin);
const startOf = (view: StripView): number => view.window.startMs - marginOf(view) / perMs(view);

/** The pixels of a strip that show a view. */
function spanOf(view: StripView, startMs: number): Span {
  const from = Math.round((view.window.startMs - startMs) * perMs(view));
  return { from, to: from + view.width };
}

function isSameScale(one: StripView, other: StripView): boolean {
  const isSameSize = one.width === other.width && one.height === other.height && one.ratio === other.ratio;
  const isSameLength = Math.abs(lengthOf(one.window) * perMs(other) - one.width) < 0.5;
  return (
    isSameSize && isSameLength && [...other.ranges].every(([axis, range]) => isSameRange(one, axis, range))
  );
}

function isSameRange({ ranges }: StripView, axis: string, [low, high]: ValueRange): boolean {
  const range = ranges.get(axis);
  return range !== undefined && range[0] === low && range[1] === high;
}

const haveSame = (some: readonly NumberLine[], others: readonly NumberLine[]): boolean =>
  some.length === others.length && some.every((line, index) => line === others[index]);

/** Whether these lines are the same where the strip is drawn. They may have more data beside it. */
function isDrawnIn(strip: Strip, lines: readonly NumberLine[]): boolean {
  if (haveSame(strip.lines, lines)) return true;
  const range = timesOf(strip, strip.drawn);
  return (
    strip.lines.length === lines.length &&
    strip.lines.every((line, index) => isSameLine(line, lines[index]!, range))
  );
}

/** The most that is drawn at once when data was added, as a share of the window. */
const addedMost = 1 / 8;

/**
 * The strip without the pixels that data changes which was added at the ends of the lines: they are drawn
 * again when they come into view. Undefined when other data has changed or too much would be drawn at once.
 */
function withAddedData(strip: Strip, view: StripView): Strip | undefined {
  if (strip.lines.length !== view.lines.length) return undefined;
  const drawn = unchangedSpan(strip, view.lines);
  const shown = spanOf(view, strip.startMs);
  const missing = Math.max(0, drawn.from - shown.from) + Math.max(0, shown.to - drawn.to);
  const kept = { ...strip, drawn };
  if (drawn.from >= drawn.to || missing > addedMost * view.width || !isDrawnIn(kept, view.lines))
    return undefined;
  const context = strip.canvas.getContext("2d")!;
  const { from, to } = strip.drawn;
  context.clearRect(from, 0, drawn.from - from, strip.canvas.height);
  context.clearRect(drawn.to, 0, to - drawn.to, strip.canvas.height);
  return { ...kept, lines: view.lines };
}

/** The drawn pixels between the ends of those lines that have other data now. */
function unchangedSpan(strip: Strip, lines: readonly NumberLine[]): Span {
  const { view, startMs } = strip;
  let { from, to } = strip.drawn;
  const reach = reachPx * view.ratio + 1;
  const x = (timeMs: number) => (timeMs - startMs) * perMs(view);
  for (const [index, line] of lines.entries()) {
    const before = strip.lines[index]!;
    for (const columns of line === before ? [] : [before.columns, line.columns]) {
      const { times } = columns ?? { times: [] };
      // The last points before an end are connected to it.
      from = Math.max(from, Math.ceil(x(times[1] ?? Number.POSITIVE_INFINITY) + reach));
      to = Math.min(to, Math.floor(x(times.at(-2) ?? Number.NEGATIVE_INFINITY) - reach));
    }
  }
  return { from, to };
}

function isSameLine(one: NumberLine, other: NumberLine, range: TimeWindow): boolean {
  if (one === other) return true;
  const isSameStyle = one.color === other.color && one.isDashed === other.isDashed;
  const isSameShape = one.axis === other.axis && one.isStep === other.isStep && one.gapMs === other.gapMs;
  if (!isSameStyle || !isSameShape || !one.columns || !other.columns) return false;
  return isContinued(one.columns, other.columns, range);
}

/** The time of these pixels, and of points beside them that reach into them. */
function timesOf({ view, startMs }: Strip, { from, to }: Span): TimeWindow {
  const reach = reachPx * view.ratio;
  const timeAt = (x: number) => startMs + x / perMs(view);
  return { startMs: timeAt(from - reach), endMs: timeAt(to + reach) };
}

/** Takes over a canvas that is no longer shown. */
function emptyStrip(view: StripView, canvas = document.createElement("canvas")): Strip {
  const margin = marginOf(view);
  // This clears it, too.
  canvas.width = view.width + 2 * margin;
  canvas.height = view.height;
  return { canvas, view, startMs: startOf(view), lines: view.lines, drawn: { from: margin, to: margin } };
}

/** Draws the lines where they are missing in a span, and some more on that side. */
function completed(strip: Strip, { from, to }: Span): Strip {
  const { drawn, canvas, view } = strip;
  const ahead = Math.round(view.width * drawnAhead);
  if (drawn.from === drawn.to || from > drawn.to || to < drawn.from) {
    drawSpan(strip, { from, to });
    return { ...strip, drawn: { from, to } };
  }
  const first = from < drawn.from ? Math.max(0, from - ahead) : drawn.from;
  const end = to > drawn.to ? Math.min(canvas.width, to + ahead) : drawn.to;
  if (first < drawn.from) drawSpan(strip, { from: first, to: drawn.from });
  if (end > drawn.to) drawSpan(strip, { from: drawn.to, to: end });
  return { ...strip, drawn: { from: first, to: end } };
}

function drawSpan(strip: Strip, span: Span): void {
  for (const line of strip.lines) drawIn(strip, line, span);
}

function drawIn(strip: Strip, line: NumberLine, span: Span): void {
  const { canvas, view, startMs } = strip;
  const context = canvas.getContext("2d")!;
  const scale = perMs(view);
  const [low, high] = view.ranges.get(line.axis)!;
  const x = (timeMs: number) => (timeMs - startMs) * scale;
  const y = (value: number) => view.height * (1 - (value - low) / (high - low));
  context.save();
  context.beginPath();
  context.rect(span.from, 0, span.to - span.from, view.height);
  context.clip();
  drawLine(context, line, timesOf(strip, span), { x, y, ratio: view.ratio, whole: view.window });
  context.restore();
}

/** Draws some more lines. */
function continued({ strip, count }: Unfinished): Unfinished {
  const whole = { from: 0, to: strip.canvas.width };
  let end = count;
  for (let points = 0; end < strip.lines.length && points < pointsPerFrame; end++) {
    const line = strip.lines[end]!;
    points += line.columns?.times.length ?? 0;
    drawIn(strip, line, whole);
  }
  return { strip: { ...strip, drawn: whole }, count: end };
}

function copyTo(
  context: CanvasRenderingContext2D,
  { canvas }: Strip,
  { left, top, from }: { left: number; top: number; from: number },
): void {
  context.drawImage(canvas, left - from, top);
}
