// Times of the browser's time zone as the text that date pickers use: `2026-03-01 07:30:15`.
import { timeText } from "./format.ts";

export const localTimeText = (timeMs: number | undefined): string | null =>
  timeMs === undefined ? null : timeText(timeMs);

/** The time in ms since 1970; undefined for an empty field. */
export function localTimeMs(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  const timeMs = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
