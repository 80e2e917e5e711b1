// Draws lines on a canvas: raw points, averages with a band from min to max, steps, and gaps.
import type { NumberLine } from "./chart-line.ts";
import {
  type BucketColumns,
  indicesIn,
  isGapBefore,
  type NumberColumns,
  type RawColumns,
  type TimeWindow,
  withNeighbours,
} from "./columns.ts";

/** Turns times and values into pixels of the canvas. */
export interface Scales {
  x(timeMs: number): number;
  y(value: number): number;
  /** Canvas pixels in one CSS pixel. */
  readonly ratio: number;
  /** When a part of a window is drawn, the whole one: lines look the same in each part. */
  readonly whole?: TimeWindow;
}

const bandOpacity = 0.2;
/** Points have dots when there is at least this much space for each, in CSS pixels. */
const dotSpacePx = 14;
/**
 * With less space than this for each point, in CSS pixels, lines are a pixel wide, and bands are made of
 * them. Without a graphics processor, browsers draw such lines five times as fast as wider ones and areas.
 */
const denseSpacePx = 2;

export function drawLine(
  context: CanvasRenderingContext2D,
  line: NumberLine,
  window: TimeWindow,
  scales: Scales,
): void {
  if (!line.columns) return;
  const [first, end] = withNeighbours(line.columns, window);
  context.strokeStyle = line.color;
  context.fillStyle = line.color;
  const spacePx = spaceOf(line.columns, scales.whole ?? window, scales);
  const isDense = spacePx < denseSpacePx;
  context.lineWidth = (line.isDashed || isDense ? 1 : 1.5) * scales.ratio;
  context.lineJoin = "round";
  context.setLineDash(line.isDashed ? [5 * scales.ratio, 3 * scales.ratio] : []);
  if (line.columns.kind === "buckets")
    drawBuckets(context, { line, columns: line.columns, first, end, isDense }, scales);
  else drawRaw(context, { line, columns: line.columns, first, end, window, spacePx }, scales);
  context.setLineDash([]);
}

/** CSS pixels of a window for each of its points. */
function spaceOf(columns: NumberColumns, window: TimeWindow, { x, ratio }: Scales): number {
  const [from, to] = indicesIn(columns, window);
  return (x(window.endMs) - x(window.startMs)) / Math.max(1, to - from) / ratio;
}

interface Part<Columns> {
  readonly line: NumberLine;
  readonly columns: Columns;
  readonly first: number;
  readonly end: number;
}

interface RawPart extends Part<RawColumns> {
  readonly window: TimeWindow;
  /** CSS pixels for each point. */
  readonly spacePx: number;
}

function drawRaw(
  context: CanvasRenderingContext2D,
  { line, columns, first, end, window, spacePx }: RawPart,
  scales: Scales,
): void {
  const { x, y, ratio } = scales;
  const { times, values } = columns;
  const dots: number[] = [];
  context.beginPath();
  let isAlone = false;
  for (let i = first; i < end; i++) {
    const left = x(times[i]!);
    const top = y(values[i]!);
    if (i === first || isGapBefore(columns, i, line)) {
      if (isAlone) dots.push(i - 1);
      context.moveTo(left, top);
      isAlone = true;
    } else {
      if (line.isStep) context.lineTo(left, y(values[i - 1]!));
      context.lineTo(left, top);
      isAlone = false;
    }
  }
  if (isAlone) dots.push(end - 1);
  if (line.isStep && end > first && end === times.length)
    context.lineTo(Math.min(x(window.endMs), x(Date.now())), y(values[end - 1]!));
  context.stroke();
  if (line.isDashed) return;
  if (spacePx >= dotSpacePx) for (let i = first; i < end; i++) dots.push(i);
  for (const i of dots) {
    context.beginPath();
    context.arc(x(times[i]!), y(values[i]!), 2.4 * ratio, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Runs of buckets without a gap are drawn as one band and one line. */
function drawBuckets(
  context: CanvasRenderingContext2D,
  { line, columns, first, end, isDense }: Part<BucketColumns> & { readonly isDense: boolean },
  scales: Scales,
): void {
  const band = isDense ? drawDenseBand : drawBand;
  let from = first;
  for (let i = first + 1; i <= end; i++) {
    if (i < end && !isGapBefore(columns, i, line)) continue;
    if (!line.isDashed) band(context, { line, columns, first: from, end: i }, scales);
    drawAverages(context, { line, columns, first: from, end: i }, scales);
    from = i;
  }
}

function drawBand(
  context: CanvasRenderingContext2D,
  { columns, first, end, line }: Part<BucketColumns>,
  { x, y, ratio }: Scales,
): void {
  const { times, mins, maxs, bucketMs } = columns;
  const isWide = end - first === 1 || line.isStep;
  context.beginPath();
  if (isWide) {
    for (let i = first; i < end; i++) {
      const width = Math.max(ratio, x(times[i]! + bucketMs) - x(times[i]!));
      context.rect(x(times[i]!), y(maxs[i]!), width, Math.max(1, y(mins[i]!) - y(maxs[i]!)));
    }
  } else {
    for (let i = first; i < end; i++) context.lineTo(x(times[i]! + bucketMs / 2), y(maxs[i]!));
    for (let i = end - 1; i >= first; i--) context.lineTo(x(times[i]! + bucketMs / 2), y(mins[i]!));
    context.closePath();
  }
  context.globalAlpha = bandOpacity;
  context.fill();
  context.globalAlpha = 1;
}

/** A vertical line in each column of pixels, over all buckets in it. */
function drawDenseBand(
  context: CanvasRenderingContext2D,
  { columns, first, end }: Part<BucketColumns>,
  { x, y }: Scales,
): void {
  const { times, mins, maxs, bucketMs } = columns;
  let [column, low, high] = [Number.NaN, 0, 0];
  const drawColumn = () => {
    const top = y(high);
    context.moveTo(column + 0.5, top);
    context.lineTo(column + 0.5, Math.max(top + 1, y(low)));
  };
  const { lineWidth } = context;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = first; i < end; i++) {
    const from = Math.floor(x(times[i]!));
    const to = Math.max(from + 1, Math.floor(x(times[i]! + bucketMs)));
    for (let at = from; at < to; at++) {
      if (at !== column) {
        if (column < at) drawColumn();
        [column, low, high] = [at, mins[i]!, maxs[i]!];
      }
      if (mins[i]! < low) low = mins[i]!;
      if (maxs[i]! > high) high = maxs[i]!;
    }
  }
  drawColumn();
  context.globalAlpha = bandOpacity;
  context.stroke();
  context.globalAlpha = 1;
  context.lineWidth = lineWidth;
}

function drawAverages(
  context: CanvasRenderingContext2D,
  { columns, first, end, line }: Part<BucketColumns>,
  { x, y }: Scales,
): void {
  const { times, values, bucketMs } = columns;
  context.beginPath();
  for (let i = first; i < end; i++) {
    const top = y(values[i]!);
    if (line.isStep || end - first === 1) {
      if (i === first) context.moveTo(x(times[i]!), top);
      else context.lineTo(x(times[i]!), top);
      context.lineTo(x(times[i]! + bucketMs), top);
    } else context.lineTo(x(times[i]! + bucketMs / 2), top);
  }
  context.stroke();
}
