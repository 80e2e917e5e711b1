// The window of time of a trend: relative to now, or fixed.
import { durationText } from "../../lib/format.ts";
import type { TimeWindow } from "../../ui/chart/columns.ts";
import { relativeMs, type TrendSearch } from "./search.ts";

export const defaultStart = "6h-ago";
const defaultMs = 6 * 3_600_000;
/** Windows are at least this long, and end at most this far from 1970: the limits of timestamps. */
const shortestMs = 20;
const longestMs = 60 * 365 * 86_400_000;

/** The window; a relative one ends at `nowMs`. */
export function windowOf({ start = defaultStart, end }: TrendSearch, nowMs: number): TimeWindow {
  const agoMs = relativeMs(start);
  const endMs = end === undefined ? nowMs : Date.parse(end);
  if (agoMs !== undefined) return { startMs: endMs - agoMs, endMs };
  const startMs = Date.parse(start);
  return startMs < endMs ? { startMs, endMs } : { startMs, endMs: startMs + defaultMs };
}

/** Whether the window ends now. */
export const isRelative = ({ start = defaultStart, end }: TrendSearch): boolean =>
  end === undefined && relativeMs(start) !== undefined;

/** Whether the window follows the present time. */
export const isLive = (search: TrendSearch): boolean => search.live === true && isRelative(search);

/** Search parameters of a fixed window. */
export function fixedWindow(window: TimeWindow): Pick<TrendSearch, "start" | "end" | "live"> {
  const { startMs, endMs } = bounded(window);
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString(), live: undefined };
}

/** The nearest window with a length and times that the server accepts. */
export function bounded({ startMs, endMs }: TimeWindow): TimeWindow {
  const lengthMs = Math.min(longestMs, Math.max(shortestMs, endMs - startMs));
  const middleMs = (startMs + endMs) / 2;
  const first = Math.round(Math.max(0, middleMs - lengthMs / 2));
  return { startMs: first, endMs: Math.round(first + lengthMs) };
}

/** The length of a window as text: `6 h`. */
export const lengthText = ({ startMs, endMs }: TimeWindow): string => durationText(endMs - startMs);
