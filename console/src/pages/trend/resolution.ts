// The resolution of a picture: buckets of about one pixel, and the words that say so.
import type { Columns, TimeWindow } from "../../ui/chart/columns.ts";

const [s, m, h, d] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

/** Lengths of buckets that people know, ascending. */
const bucketLengths: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * s),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * m),
  ...[1, 2, 3, 6, 12].map((count) => count * h),
  ...[1, 2, 5, 10, 20, 50, 100].map((count) => count * d),
];

/** Buckets may be a little narrower than a pixel, so that lengths that people know fit better. */
const bucketsPerPixel = 1.3;

/** The length of the buckets of a picture: the smallest one with about one bucket a pixel. */
export const bucketFor = (window: TimeWindow, widthPx: number): number =>
  bucketOfAtMost(window, Math.max(100, widthPx) * bucketsPerPixel);

/** The smallest length that divides a window into at most so many buckets. */
export function bucketOfAtMost({ startMs, endMs }: TimeWindow, countMax: number): number {
  const wanted = (endMs - startMs) / countMax;
  return bucketLengths.find((length) => length >= wanted) ?? bucketLengths.at(-1)!;
}

/** The range to load for a window: some more on each side, the same one for windows nearby. */
export function loadedRange({ startMs, endMs }: TimeWindow, bucketMs: number): TimeWindow {
  const part = 2 ** Math.ceil(Math.log2((endMs - startMs) / bucketMs / 8)) * bucketMs;
  const stepMs = Math.max(bucketMs, part);
  const first = Math.floor((startMs - stepMs / 2) / stepMs) * stepMs;
  return { startMs: Math.max(0, first), endMs: Math.ceil((endMs + stepMs / 2) / stepMs) * stepMs };
}

/** Whether the same data is loaded for two windows. */
export function haveSameData(one: TimeWindow, other: TimeWindow, widthPx: number): boolean {
  const [bucketMs, otherMs] = [bucketFor(one, widthPx), bucketFor(other, widthPx)];
  if (bucketMs !== otherMs) return false;
  const [range, otherRange] = [loadedRange(one, bucketMs), loadedRange(other, bucketMs)];
  return range.startMs === otherRange.startMs && range.endMs === otherRange.endMs;
}

const units = [
  { ms: d, text: "day", letter: "d" },
  { ms: h, text: "h", letter: "h" },
  { ms: m, text: "min", letter: "m" },
  { ms: s, text: "s", letter: "s" },
] as const;

/** The length of buckets as the API writes it: `15m`. */
export function granularityOf(bucketMs: number): string {
  const { ms, letter } = units.find((unit) => bucketMs % unit.ms === 0)!;
  return `${bucketMs / ms}${letter}`;
}

/** The length of a granularity as the API writes it: `15m`, `hour`. */
export function lengthOfGranularity(granularity: string): number | undefined {
  const [, count, letter] = /^(\d{0,6})([smhd])/.exec(granularity) ?? [];
  const unit = units.find((one) => one.letter === letter);
  return unit && Math.max(1, Number(count || 1)) * unit.ms;
}

function bucketText(bucketMs: number): string {
  const { ms, text } = units.find((unit) => bucketMs % unit.ms === 0)!;
  return `${bucketMs / ms} ${text}`;
}

/** Says what one line shows. */
export function resolutionText(columns: Columns): string {
  if (columns.kind === "raw") return "raw points";
  if (columns.kind === "text") return "every value";
  const length = bucketText(columns.bucketMs);
  return columns.averagesMs === undefined ? `${length} averages` : `from ${length} aggregates`;
}

/** Says what the whole picture shows. */
export function pictureText(all: readonly Columns[]): string {
  const buckets = all.find((columns) => columns.kind === "buckets");
  const hasRaw = all.some(({ kind }) => kind !== "buckets");
  if (!buckets) return all.length === 0 ? "" : "Raw points: every point drawn";
  const text = `${bucketText(buckets.bucketMs)} averages with min and max`;
  const isOne = all.every((columns) => columns.kind !== "buckets" || columns.bucketMs === buckets.bucketMs);
  if (!isOne) return "Averages with min and max; the table has their lengths";
  return hasRaw ? `${text}; raw points where they fit (see the table)` : text;
}
