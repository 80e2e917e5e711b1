// A naive reference for buckets on the clock of a time zone: walks over time in quarters of an hour. All
// changes of the zones in tests are multiples of these.
import type { ClockGrid, MonthGrid } from "../../src/lib/clock-buckets.ts";

const stepMs = 15 * 60_000;
const dayMs = 24 * 60 * 60_000;

/** The starts of the buckets that have times of the range. */
export function naiveBucketStarts(
  startMs: number,
  endMs: number,
  { timeZone, lengthMs, offsetMs }: ClockGrid,
): number[] {
  const clock = clockOf(timeZone);
  const starts: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  let beforeMs: number | undefined;
  const first = Math.floor((startMs - 2 * lengthMs - 2 * dayMs) / stepMs) * stepMs;
  for (let atMs = first; atMs < endMs; atMs += stepMs) {
    const clockMs = clock(atMs);
    const backMs = beforeMs === undefined ? 0 : beforeMs + stepMs - clockMs;
    // Buckets are repeated: the next one starts where the clock shows a whole multiple again.
    if (backMs >= lengthMs) highest = Math.ceil((clockMs - offsetMs) / lengthMs) - 1;
    const number = Math.floor((clockMs - offsetMs) / lengthMs);
    if (number > highest) starts.push(atMs);
    highest = Math.max(highest, number);
    beforeMs = clockMs;
  }
  const firstShown = starts.findLastIndex((one) => one <= startMs);
  return starts.slice(firstShown);
}

/** The starts of the buckets of months that have times of the range. */
export function naiveMonthStarts(
  startMs: number,
  endMs: number,
  { timeZone, months, offsetMonths }: MonthGrid,
): number[] {
  const starts: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  const first = Math.floor((startMs - (months + 1) * 31 * dayMs) / stepMs) * stepMs;
  const clock = clockOf(timeZone);
  for (let atMs = first; atMs < endMs; atMs += stepMs) {
    const shown = new Date(clock(atMs));
    const month = (shown.getUTCFullYear() - 1970) * 12 + shown.getUTCMonth();
    const number = Math.floor((month - offsetMonths) / months);
    if (number > highest) starts.push(atMs);
    highest = Math.max(highest, number);
  }
  return starts.slice(starts.findLastIndex((one) => one <= startMs));
}

/** The time that a clock shows, in ms. */
export function clockOf(timeZone: string): (timeMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" },
  });
  return (timeMs) => {
    const parts = Object.fromEntries(
      format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year, month, day, hour, minute } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day!, hour!, minute!);
  };
}
