// Numbers, times, durations and sizes as text for people.

const integers = new Intl.NumberFormat("en-US");

/** A value with at most six significant digits: `12.3457`, `1.2e+9`. */
export function numberText(value: number, significantDigits = 6): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15)
    return integers.format(value).replaceAll(",", "\u202f");
  return String(Number(value.toPrecision(significantDigits)));
}

/** A count with thin spaces between groups of three digits. */
export const countText = (count: number): string => numberText(Math.round(count));

/** A count with its noun: `1 run`, `20 runs`. */
export const countOf = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A value of a point: a number with at most six significant digits, a text as it is. */
export const valueText = (value: number | string): string =>
  typeof value === "number" ? numberText(value) : value;

/** Formats of times by time zone: making one takes fifty times as long as using it. */
const timeFormats = new Map<string | undefined, Intl.DateTimeFormat>();

function timeFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  const made = new Intl.DateTimeFormat("sv-SE", {
    ...{ year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone },
  });
  timeFormats.set(timeZone, made);
  return made;
}

/** A time as `2026-03-01 07:30:15` in a time zone; the browser's when absent. */
export const timeText = (timeMs: number, timeZone?: string): string =>
  (timeFormats.get(timeZone) ?? timeFormat(timeZone)).format(timeMs);

const units = [
  { ms: 365 * 86_400_000, name: "y" },
  { ms: 86_400_000, name: "d" },
  { ms: 3_600_000, name: "h" },
  { ms: 60_000, name: "min" },
  { ms: 1_000, name: "s" },
] as const;

/** A duration in its two largest units: `3 d 4 h`, `15 s`. */
export function durationText(durationMs: number): string {
  const first = units.findIndex(({ ms }) => durationMs >= ms);
  if (first === -1) return `${Math.round(durationMs)} ms`;
  const { ms, name } = units[first]!;
  const whole = Math.floor(durationMs / ms);
  const next = units[first + 1];
  const rest = next ? Math.floor((durationMs - whole * ms) / next.ms) : 0;
  return rest > 0 && next ? `${whole} ${name} ${rest} ${next.name}` : `${whole} ${name}`;
}

/** A time that is ahead by no more than this is of a clock that is ahead, and counts as now. */
const clockAheadMsMax = 60_000;

/** The age of a time: `15 s ago`; `now` for the last second; `in 3 d` for a time in the future. */
export function ageText(timeMs: number, nowMs: number): string {
  const ageMs = nowMs - timeMs;
  if (ageMs < -clockAheadMsMax) return `in ${durationText(-ageMs)}`;
  return ageMs < 1_000 ? "now" : `${durationText(ageMs)} ago`;
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A size in bytes: `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${sizes[power]}`;
}
