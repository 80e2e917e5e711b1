// The time that the navigator strip shows: much more than the window, in round lengths.
import type { TimeWindow } from "../../ui/chart/columns.ts";

const dayMs = 86_400_000;
const lengths = [1, 3, 7, 30, 90, 365, 5 * 365, 20 * 365].map((days) => days * dayMs);
/** The strip is at least so many times as long as the window. */
const timesWindow = 5;
/** The strip moves in parts of its length, so that its data stays while the window moves in it. */
const parts = 16;

export function navigatorRange({ startMs, endMs }: TimeWindow, nowMs: number): TimeWindow {
  const wanted = (endMs - startMs) * timesWindow;
  const length = lengths.find((one) => one >= wanted) ?? lengths.at(-1)!;
  const part = length / parts;
  const latest = Math.ceil(nowMs / part) * part;
  const centered = Math.ceil(((startMs + endMs) / 2 + length / 2) / part) * part;
  const end = Math.max(Math.min(latest, centered), endMs);
  return { startMs: Math.min(startMs, end - length), endMs: end };
}
