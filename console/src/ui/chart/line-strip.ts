// The lines of a chart on a canvas that is wider than the window. While the window is panned, each frame
// copies a part of it: this takes less than a millisecond. Drawing 20 lines of 2,000 points takes 20 ms.
import type { NumberLine, ValueRange } from "./chart-line.ts";
import type { TimeWindow } from "./columns.ts";
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

/** The strip has this share of the window more on each side. */
export const stripMargin = 0.25;
/** When less than this share is left on one side, the next strip is drawn. */
const leastMargin = 0.05;
/** Points that are drawn in one frame beside the copy. At least one line is drawn. */
const pointsPerFrame = 3_000;

interface Strip {
  readonly canvas: HTMLCanvasElement;
  readonly view: StripView;
  readonly part: TimeWindow;
  /** How many lines are drawn. */
  drawn: number;
}

export class LineStrip {
  #shown: Strip | undefined;
  /** The strip that will replace the shown one. Its lines are drawn over several frames. */
  #next: Strip | undefined;

  /** Copies the lines of a view. Returns whether the next frame must be drawn although nothing moves. */
  copy(context: CanvasRenderingContext2D, view: StripView, at: { left: number; top: number }): boolean {
    if (!this.#shown || !isSameScale(this.#shown.view, view)) {
      this.#next = undefined;
      this.#shown = drawnUpTo(emptyStrip(view, this.#shown?.canvas), view.lines.length);
    } else this.#continue(this.#shown, view);
    const { canvas, part } = this.#shown;
    const from = Math.round((view.window.startMs - part.startMs) * perMs(view));
    context.drawImage(canvas, at.left - from, at.top);
    return this.#next !== undefined;
  }

  /** Draws some lines of the next strip if the shown one is out of date. */
  #continue(shown: Strip, view: StripView): void {
    if (!isOutOfDate(shown, view)) {
      this.#next = undefined;
      return;
    }
    if (!this.#next || isOutOfDate(this.#next, view)) this.#next = emptyStrip(view, this.#next?.canvas);
    const { lines } = this.#next.view;
    let to = this.#next.drawn;
    for (let points = 0; to < lines.length && points < pointsPerFrame; to++)
      points += lines[to]!.columns?.times.length ?? 0;
    drawnUpTo(this.#next, to);
    if (to < lines.length) return;
    [this.#shown, this.#next] = [this.#next, undefined];
  }
}

const lengthOf = ({ startMs, endMs }: TimeWindow): number => endMs - startMs;
const perMs = ({ window, width }: StripView): number => width / lengthOf(window);

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

function isOutOfDate({ view, part }: Strip, { window, lines }: StripView): boolean {
  const least = lengthOf(window) * leastMargin;
  const isNearEdge = window.startMs - part.startMs < least || part.endMs - window.endMs < least;
  return isNearEdge || lines.some((line, index) => line !== view.lines[index]);
}

/** Takes over a canvas that is no longer shown. */
function emptyStrip(view: StripView, canvas = document.createElement("canvas")): Strip {
  const margin = Math.round(view.width * stripMargin);
  canvas.width = view.width + 2 * margin;
  canvas.height = view.height;
  const marginMs = margin / perMs(view);
  const part = { startMs: view.window.startMs - marginMs, endMs: view.window.endMs + marginMs };
  return { canvas, view, part, drawn: 0 };
}

/** Draws the lines up to this index that are not drawn yet. */
function drawnUpTo(strip: Strip, end: number): Strip {
  const { canvas, view, part } = strip;
  const context = canvas.getContext("2d")!;
  const scale = perMs(view);
  const x = (timeMs: number) => (timeMs - part.startMs) * scale;
  for (; strip.drawn < end; strip.drawn++) {
    const line = view.lines[strip.drawn]!;
    const [low, high] = view.ranges.get(line.axis)!;
    const y = (value: number) => view.height * (1 - (value - low) / (high - low));
    drawLine(context, line, part, { x, y, ratio: view.ratio });
  }
  return strip;
}
