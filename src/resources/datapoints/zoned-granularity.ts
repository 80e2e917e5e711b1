// Granularities on the clock of a time zone, and the buckets of all granularities in a range.

import {
  type BucketRun,
  bucketRuns,
  type ClockGrid,
  clockMsAt,
  type MonthGrid,
  mod,
  monthAt,
} from "../../lib/clock-buckets.ts";
import { type Granularity, type TimeRange, wholeBuckets } from "../../lib/time.ts";
import { limits } from "../../limits.ts";

export interface MonthGranularity {
  /** 1 for a month, 12 for a year. */
  readonly unitMonths: number;
  /** A multiple of the unit. */
  readonly months: number;
}

/** Weeks from Monday to Sunday. */
export interface WeekGranularity extends Granularity {
  /** The first Monday of 1970, on the clock. */
  readonly firstMs: number;
}

/** A length that only a time zone gives a meaning; UTC without one. */
export type CalendarGranularity = MonthGranularity | WeekGranularity;

/** Buckets on the clock of a time zone. */
export interface ZonedGranularity {
  readonly timeZone: string;
  readonly length: Granularity | CalendarGranularity;
  /** The first bucket starts at a unit; otherwise all start at multiples of their length since 1970. */
  readonly isFromStart: boolean;
}

const unitMonths: Readonly<Record<string, number>> = { mo: 1, month: 1, y: 12, year: 12 };
const weekMs = 7 * 86_400_000;
const firstMondayMs = Date.UTC(1970, 0, 5);

/**
 * Parses `w`/`week`, `mo`/`month` and `y`/`year`, optionally after a multiple of at least 1; undefined for
 * others.
 */
export function parseCalendarGranularity(input: string): CalendarGranularity | undefined {
  const [, digits = "1", name = ""] = /^(\d*)([a-z]+)$/.exec(input.toLowerCase()) ?? [];
  const count = Number(digits || 1);
  if (name === "w" || name === "week")
    return count > 0 && count <= limits.granularityWeeksMax
      ? { unitMs: weekMs, bucketMs: count * weekMs, firstMs: firstMondayMs }
      : undefined;
  const unit = unitMonths[name];
  const months = count * (unit ?? 0);
  return unit && months > 0 && months <= limits.granularityMonthsMax
    ? { unitMonths: unit, months }
    : undefined;
}

export const isCalendar = (length: Granularity | CalendarGranularity): length is CalendarGranularity =>
  "months" in length || "firstMs" in length;

/** The whole buckets that have times of the range, as runs of equal length in ascending order. */
export function bucketRunsOf(range: TimeRange, granularity: Granularity | ZonedGranularity): BucketRun[] {
  if ("timeZone" in granularity) {
    // Time zones have no rules for other times, and there are no points.
    const startMs = Math.max(range.startMs, limits.timeMsMin);
    const endMs = Math.min(range.endMs, limits.timeMsMax + 1);
    return startMs < endMs ? bucketRuns({ startMs, endMs }, gridOf(granularity, startMs)) : [];
  }
  const { startMs, endMs } = wholeBuckets(range, granularity);
  const { bucketMs } = granularity;
  return startMs < endMs ? [{ startMs, bucketMs, count: (endMs - startMs) / bucketMs }] : [];
}

function gridOf({ timeZone, length, isFromStart }: ZonedGranularity, startMs: number): ClockGrid | MonthGrid {
  const unitStart = (shown: number, unit: number) => Math.floor(shown / unit) * unit;
  if ("months" in length) {
    const { unitMonths, months } = length;
    const offset = isFromStart ? unitStart(monthAt(startMs, timeZone), unitMonths) : 0;
    return { timeZone, months, offsetMonths: mod(offset, months) };
  }
  const { unitMs, bucketMs } = length;
  const firstMs = "firstMs" in length ? length.firstMs : 0;
  const offset = firstMs + (isFromStart ? unitStart(clockMsAt(startMs, timeZone) - firstMs, unitMs) : 0);
  return { timeZone, lengthMs: bucketMs, offsetMs: mod(offset, bucketMs) };
}
