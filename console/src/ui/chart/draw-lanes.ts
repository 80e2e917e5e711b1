// Draws string series as lanes of bands with their values, and events as shaded time spans.

import { pageScale } from "../page-scale.ts";
import type { ChartColors } from "./chart-colors.ts";
import type { ChartBand, TextLine } from "./chart-line.ts";
import { indicesIn, type TimeWindow } from "./columns.ts";

export const laneHeightPx = 24 * pageScale;
const textPaddingPx = 5 * pageScale;

interface LaneArea {
  readonly x: (timeMs: number) => number;
  readonly top: number;
  readonly ratio: number;
  readonly window: TimeWindow;
  readonly colors: ChartColors;
}

/** Equal values have the same colour in all lanes. */
function colorOf(text: string, { lines }: ChartColors): string {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return lines[hash % lines.length]!;
}

export function drawLane(context: CanvasRenderingContext2D, line: TextLine, area: LaneArea): void {
  const { columns } = line;
  if (!columns) return;
  const { x, top, ratio, window, colors } = area;
  const [from, to] = indicesIn(columns, window);
  const height = (laneHeightPx - 4) * ratio;
  const right = Math.min(x(window.endMs), x(columns.completeToMs), x(Date.now()));
  context.font = `${11 * pageScale * ratio}px ${colors.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = line.color;
  context.fillRect(x(window.startMs) - 5 * ratio, top, 4 * ratio, height);
  let next = Math.max(0, from - 1);
  for (let i = next; i < to; i = next) {
    const text = columns.texts[i]!;
    next = endOfRun(columns.texts, i);
    const left = Math.max(x(window.startMs), x(columns.times[i]!));
    const end = Math.min(right, next < columns.times.length ? x(columns.times[next]!) : right);
    if (end <= left) continue;
    context.globalAlpha = 0.28;
    context.fillStyle = colorOf(text, colors);
    context.fillRect(left, top, Math.max(1, end - left - ratio), height);
    context.globalAlpha = 1;
    context.fillRect(left, top, 2 * ratio, height);
    drawText(context, { text, left, width: end - left }, area);
  }
}

/** The index of the first value after `from` that is another one. */
function endOfRun(texts: readonly string[], from: number): number {
  let next = from + 1;
  while (next < texts.length && texts[next] === texts[from]) next++;
  return next;
}

function drawText(
  context: CanvasRenderingContext2D,
  { text, left, width }: { readonly text: string; readonly left: number; readonly width: number },
  { top, ratio, colors }: LaneArea,
): void {
  const free = width - 2 * textPaddingPx * ratio;
  if (free < 14 * ratio) return;
  context.save();
  context.beginPath();
  context.rect(left, top, width - textPaddingPx * ratio, laneHeightPx * ratio);
  context.clip();
  context.fillStyle = colors.text;
  context.fillText(text, left + textPaddingPx * ratio + ratio, top + ((laneHeightPx - 4) / 2) * ratio);
  context.restore();
}

interface BandArea {
  readonly x: (timeMs: number) => number;
  readonly top: number;
  readonly height: number;
  readonly ratio: number;
  readonly window: TimeWindow;
}

const stripHeightPx = 4 * pageScale;
const stripGapPx = 1;
/** Further lanes share the last strip. */
const stripsMax = 8;

/** Shades the chart over each lane once, also where its bands overlap, and draws a strip for each lane. */
export function drawBands(
  context: CanvasRenderingContext2D,
  bands: readonly ChartBand[],
  area: BandArea,
): void {
  const { top, height, ratio } = area;
  const lanes = Map.groupBy(bands, ({ lane }) => lane);
  const names = [...lanes.keys()].sort();
  for (const [index, name] of names.entries()) {
    const own = lanes.get(name)!;
    context.fillStyle = own[0]!.color;
    const strip = Math.min(index, stripsMax - 1) * (stripHeightPx + stripGapPx) * ratio;
    for (const [left, right] of spansOf(own, area)) {
      context.globalAlpha = names.length > 2 ? 0.06 : 0.1;
      context.fillRect(left, top, right - left, height);
      context.globalAlpha = 0.9;
      context.fillRect(left, top + strip, right - left, stripHeightPx * ratio);
    }
  }
  context.globalAlpha = 1;
}

/** The spans of the bands from left to right; those that overlap or touch are one. */
function spansOf(bands: readonly ChartBand[], { x, ratio, window }: BandArea): [number, number][] {
  const spans: [left: number, right: number][] = [];
  for (const { startMs, endMs = Date.now() } of bands.toSorted((a, b) => a.startMs - b.startMs)) {
    if (startMs >= window.endMs || endMs < window.startMs) continue;
    const left = Math.max(x(window.startMs), x(startMs));
    const right = Math.max(left + 2 * ratio, Math.min(x(window.endMs), x(endMs)));
    const last = spans.at(-1);
    if (last && left <= last[1]) last[1] = Math.max(last[1], right);
    else spans.push([left, right]);
  }
  return spans;
}
