// Parses times and granularities of requests, and computes the buckets of a granularity.

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const agoUnitMs: Record<string, number> = {
  w: 7 * dayMs,
  d: dayMs,
  h: hourMs,
  m: minuteMs,
  s: secondMs,
};
const granularityUnitMs: Record<string, number> = {
  d: dayMs,
  day: dayMs,
  h: hourMs,
  hour: hourMs,
  m: minuteMs,
  minute: minuteMs,
  s: secondMs,
  second: secondMs,
};

/** A time: absolute, or a duration before now. */
export interface TimePoint {
  readonly kind: "at" | "ago";
  readonly ms: number;
}

export const now: TimePoint = { kind: "ago", ms: 0 };

export const timePointMs = ({ kind, ms }: TimePoint, nowMs: number): number =>
  kind === "at" ? ms : nowMs - ms;

/**
 * Epoch milliseconds as a number or in digits (whole floats such as `0.0` too), `now`, or `N<unit>-ago`
 * with the units w d h m s (docs/reference/common.md#times); undefined for anything else.
 */
export function parseTimePoint(input: string | number): TimePoint | undefined {
  const text = String(input).toLowerCase();
  if (text === "now") return now;
  const [, count, unit] = /^(\d+)([wdhms])-ago$/.exec(text) ?? [];
  const ms = unit
    ? Number(count) * agoUnitMs[unit]!
    : /^-?\d+(\.\d*)?(e\+?\d+)?$/.test(text)
      ? Number(text)
      : Number.NaN;
  if (!Number.isSafeInteger(ms)) return undefined;
  return { kind: unit ? "ago" : "at", ms: ms + 0 };
}

export interface Granularity {
  readonly unitMs: number;
  /** A multiple of the unit. */
  readonly bucketMs: number;
}

/**
 * Parses `d`/`day`, `h`/`hour`, `m`/`minute`, `s`/`second`, optionally after a multiple of at least 1;
 * returns undefined for anything else, and for more than `daysMax` days.
 */
export function parseGranularity(input: string, daysMax: number): Granularity | undefined {
  const [, count = "1", unit = ""] = /^(\d*)([a-z]+)$/.exec(input.toLowerCase()) ?? [];
  const unitMs = granularityUnitMs[unit];
  const bucketMs = Number(count || 1) * (unitMs ?? 0);
  return unitMs && bucketMs > 0 && bucketMs <= daysMax * dayMs ? { unitMs, bucketMs } : undefined;
}

/** A range of times, in milliseconds since 1970-01-01 UTC. */
export interface TimeRange {
  /** Inclusive. */
  readonly startMs: number;
  /** Exclusive. */
  readonly endMs: number;
}

/**
 * Rounds the start down to the unit in UTC (not to the bucket) and the end up, so that the last bucket is
 * complete.
 */
export function wholeBuckets(range: TimeRange, { unitMs, bucketMs }: Granularity): TimeRange {
  const startMs = Math.floor(range.startMs / unitMs) * unitMs;
  const buckets = range.endMs > range.startMs ? Math.ceil((range.endMs - startMs) / bucketMs) : 0;
  return { startMs, endMs: startMs + buckets * bucketMs };
}
