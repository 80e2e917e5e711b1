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

/** Buckets on the clock of a time zone. */
export interface ZonedGranularity {
  readonly timeZone: string;
  readonly length: Granularity | MonthGranularity;
  /** The first bucket starts at a unit; otherwise all start at multiples of their length since 1970. */
  readonly isFromStart: boolean;
}

const unitMonths: Readonly<Record<string, number>> = { mo: 1, month: 1, y: 12, year: 12 };

/** The longest bucket, longer than the range of times. */
const monthsMax = 12_000;

/** Parses `mo`/`month` and `y`/`year`, optionally after a multiple of at least 1; undefined for others. */
export function parseMonthGranularity(input: string): MonthGranularity | undefined {
  const [, count = "1", name = ""] = /^(\d*)([a-z]+)$/.exec(input.toLowerCase()) ?? [];
  const unit = unitMonths[name];
  const months = Number(count || 1) * (unit ?? 0);
  return unit && months > 0 && months <= monthsMax ? { unitMonths: unit, months } : undefined;
}

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
  const offset = isFromStart ? unitStart(clockMsAt(startMs, timeZone), unitMs) : 0;
  return { timeZone, lengthMs: bucketMs, offsetMs: mod(offset, bucketMs) };
}
