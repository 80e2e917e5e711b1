// The range of a value axis: from the data in the window, with some space.
import type { NumberLine, ValueRange } from "./chart-line.ts";
import { indicesIn, type TimeWindow } from "./columns.ts";

/** The part of the range that stays free above and below the lines. */
const margin = 0.06;

/** The range that shows all lines in a window. Lines without data there have no influence. */
export function rangeOf(lines: readonly NumberLine[], window: TimeWindow): ValueRange {
  const [low, high] = valuesIn(lines, window);
  if (low > high) return [0, 1];
  const span = high - low || Math.abs(high) * 0.1 || 1;
  return [low - span * margin, high + span * margin];
}

/** Whether a range shows all lines in a window. */
export function isWithin([from, to]: ValueRange, lines: readonly NumberLine[], window: TimeWindow): boolean {
  const [low, high] = valuesIn(lines, window);
  return low >= from && high <= to;
}

/** The lowest and the highest value of the lines in a window; infinite without data. */
function valuesIn(lines: readonly NumberLine[], window: TimeWindow): ValueRange {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { columns } of lines) {
    if (!columns) continue;
    const [from, to] = indicesIn(columns, window);
    const lows = columns.kind === "buckets" ? columns.mins : columns.values;
    const highs = columns.kind === "buckets" ? columns.maxs : columns.values;
    // Points beside the window count too: the line runs through the window to them.
    const edge = columns.kind === "raw" ? 1 : 0;
    for (let i = Math.max(0, from - edge); i < Math.min(columns.times.length, to + edge); i++) {
      if (lows[i]! < low) low = lows[i]!;
      if (highs[i]! > high) high = highs[i]!;
    }
  }
  return [low, high];
}
