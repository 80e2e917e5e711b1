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

const dayMs = 86_400_000;
const minuteMs = 60_000;

/**
 * Each time in ms since 1970 that the clock shows as this text, ascending: none in the hour that the clock
 * skips in spring, two in the hour that it repeats in autumn.
 */
export function localTimesMs(text: string | null): readonly number[] {
  const parsedMs = localTimeMs(text);
  if (parsedMs === undefined) return [];
  const asUtcMs = Date.parse(`${text!.replace(" ", "T")}Z`);
  const around = [-dayMs, dayMs].map((byMs) => asUtcMs - offsetMinutes(asUtcMs + byMs) * minuteMs);
  return [...new Set([parsedMs, ...around])]
    .filter((timeMs) => localTimeText(timeMs) === text)
    .sort((one, other) => one - other);
}

/** The offset of the clock at this time: `UTC+02:00`. */
export function offsetText(timeMs: number): string {
  const minutes = Math.abs(offsetMinutes(timeMs));
  const parts = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return `UTC${offsetMinutes(timeMs) < 0 ? "-" : "+"}${parts.join(":")}`;
}

const offsetMinutes = (timeMs: number): number => -new Date(timeMs).getTimezoneOffset();
