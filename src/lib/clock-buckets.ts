// Buckets on the clock of a time zone: of equal length, such as days that start at midnight, or of months.
//
// A bucket starts where the clock shows a whole multiple of the length since 1970-01-01 00:00, plus an
// offset. Where the clock is put forward over such a time, the bucket starts at the change. Where it is put
// back, the repeated time starts no bucket again, unless a bucket is at most as long as the change: then the
// buckets of the repeated hour are repeated too. So a day has 23, 24 or 25 hours, and an hour always has 60
// minutes.
import type { TimeRange } from "./time.ts";

export interface ClockGrid {
  /** A name of the IANA database, such as `Europe/Oslo`, or `UTC`. */
  readonly timeZone: string;
  readonly lengthMs: number;
  /** Moves the start of all buckets. */
  readonly offsetMs: number;
}

/** Buckets that start with a month: each `months` since 1970-01, moved by `offsetMonths`. */
export interface MonthGrid {
  readonly timeZone: string;
  readonly months: number;
  readonly offsetMonths: number;
}

/** Consecutive buckets of one length. */
export interface BucketRun {
  readonly startMs: number;
  readonly bucketMs: number;
  readonly count: number;
}

/** Starts of buckets at equal distances; endless in the last segment of a zone. */
interface StartRun {
  readonly firstMs: number;
  readonly stepMs: number;
  readonly count: number;
}

/** A span of time in which the zone has one offset from UTC. */
interface Segment {
  readonly startMs: number;
  readonly endMs: number;
  readonly zoneMs: number;
  /** The first time on the clock that can start a bucket in this segment. */
  readonly clockFromMs: number;
}

/** Whether the time zone is known. */
export function isTimeZone(name: string): boolean {
  try {
    // A bundler may remove a call whose value is not used.
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

/** The time that the clock of the zone shows, in milliseconds since 1970-01-01 00:00 on that clock. */
export function clockMsAt(timeMs: number, timeZone: string): number {
  const zoned = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone);
  return timeMs + zoned.offsetNanoseconds / 1e6;
}

/** The number of months from 1970-01 to the month that the clock of the zone shows. */
export function monthAt(timeMs: number, timeZone: string): number {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone);
  return (year - 1970) * 12 + month - 1;
}

/** The starts of buckets without end: first that of the bucket with this time. */
export function* bucketStarts(fromMs: number, grid: ClockGrid | MonthGrid): Generator<number> {
  for (const { firstMs, stepMs, count } of startRuns(fromMs, grid))
    for (let at = 0; at < count; at += 1) yield firstMs + at * stepMs;
}

/** The buckets that have times of the range, whole: the first can start before it, the last can end after. */
export function bucketRuns({ startMs, endMs }: TimeRange, grid: ClockGrid | MonthGrid): BucketRun[] {
  const runs: BucketRun[] = [];
  const add = (run: BucketRun) => {
    const last = runs.at(-1);
    if (last?.bucketMs === run.bucketMs) runs[runs.length - 1] = { ...last, count: last.count + run.count };
    else if (run.count > 0) runs.push(run);
  };
  if (startMs >= endMs) return runs;
  let lastMs: number | undefined;
  for (const { firstMs, stepMs, count } of startRuns(startMs, grid)) {
    if (lastMs !== undefined) add({ startMs: lastMs, bucketMs: firstMs - lastMs, count: 1 });
    if (firstMs >= endMs) break;
    // The last start of these ends the bucket before it, and starts one whose end follows.
    const whole = Math.min(count - 1, Math.ceil((endMs - firstMs) / stepMs));
    add({ startMs: firstMs, bucketMs: stepMs, count: whole });
    lastMs = firstMs + whole * stepMs;
    if (lastMs >= endMs) break;
  }
  return runs;
}

const startRuns = (fromMs: number, grid: ClockGrid | MonthGrid): Generator<StartRun> =>
  "months" in grid ? monthStarts(fromMs, grid) : clockStarts(fromMs, grid);

function* clockStarts(fromMs: number, grid: ClockGrid): Generator<StartRun> {
  const { lengthMs, offsetMs } = grid;
  const multipleUntil = (clockMs: number) =>
    Math.floor((clockMs - offsetMs) / lengthMs) * lengthMs + offsetMs;
  let segment = segmentAt(fromMs, grid);
  let clockMs = multipleUntil(fromMs + segment.zoneMs);
  while (clockMs < segment.clockFromMs) {
    const beforeMs = segment.startMs - 1;
    segment = segmentAt(beforeMs, grid);
    clockMs = multipleUntil(beforeMs + segment.zoneMs);
  }
  for (;;) {
    const { startMs, endMs, zoneMs } = segment;
    const skipped = Math.max(0, Math.ceil((startMs - (clockMs - zoneMs)) / lengthMs));
    const firstMs = clockMs - zoneMs + skipped * lengthMs;
    if (skipped > 0 && startMs < firstMs) yield { firstMs: startMs, stepMs: lengthMs, count: 1 };
    const count = Math.ceil((endMs - firstMs) / lengthMs);
    if (count > 0) yield { firstMs, stepMs: lengthMs, count };
    segment = segmentAt(endMs, grid);
    clockMs = multipleUntil(segment.clockFromMs - 1) + lengthMs;
  }
}

function* monthStarts(fromMs: number, { timeZone, months, offsetMonths }: MonthGrid): Generator<StartRun> {
  // Clocks that were put back over midnight show the month before again, which has ended.
  const isStarted = (month: number) => monthStartMs(month, timeZone) <= fromMs;
  const shown = monthAt(fromMs, timeZone);
  let month = Math.floor((shown - offsetMonths) / months) * months + offsetMonths;
  if (isStarted(month + months)) month += months;
  for (; ; month += months) yield { firstMs: monthStartMs(month, timeZone), stepMs: 0, count: 1 };
}

/** The first time at which the clock shows the month. */
function monthStartMs(month: number, timeZone: string): number {
  const first = new Temporal.PlainDate(1970 + Math.floor(month / 12), 1 + mod(month, 12), 1);
  return first.toZonedDateTime(timeZone).epochMilliseconds;
}

/** The remainder, never negative. */
export const mod = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

/** The segment with this time. */
function segmentAt(timeMs: number, { timeZone, lengthMs }: ClockGrid): Segment {
  const zoned = Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone);
  const zoneMs = zoned.offsetNanoseconds / 1e6;
  const start = zoned.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
  const end = zoned.getTimeZoneTransition("next");
  const endMs = end?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  if (!start) {
    const whole = { startMs: Number.NEGATIVE_INFINITY, clockFromMs: Number.NEGATIVE_INFINITY };
    return { ...whole, endMs, zoneMs };
  }
  const startMs = start.epochMilliseconds;
  const zoneBeforeMs = start.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6;
  const backMs = zoneBeforeMs - zoneMs;
  const isRepeated = backMs >= lengthMs;
  return { startMs, endMs, zoneMs, clockFromMs: startMs + (isRepeated ? zoneMs : zoneBeforeMs) };
}
