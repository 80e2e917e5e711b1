// Buckets of equal length on the clock of a time zone, such as days that start at midnight.
//
// A bucket starts where the clock shows a whole multiple of the length since 1970-01-01 00:00, plus an
// offset. Where the clock is put forward over such a time, the bucket starts at the change. Where it is put
// back, the repeated time starts no bucket again, unless a bucket is at most as long as the change: then the
// buckets of the repeated hour are repeated too. So a day has 23, 24 or 25 hours, and an hour always has 60
// minutes.

export interface ClockGrid {
  /** A name of the IANA database, such as `Europe/Oslo`, or `UTC`. */
  readonly timeZone: string;
  readonly lengthMs: number;
  /** Moves the start of all buckets. */
  readonly offsetMs: number;
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
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The starts of buckets without end: first that of the bucket with this time. */
export function* bucketStarts(fromMs: number, grid: ClockGrid): Generator<number> {
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
  for (let lastMs = Number.NEGATIVE_INFINITY; ; ) {
    for (; clockMs - segment.zoneMs < segment.endMs; clockMs += lengthMs) {
      const startMs = Math.max(segment.startMs, clockMs - segment.zoneMs);
      if (startMs > lastMs) yield startMs;
      lastMs = startMs;
    }
    segment = segmentAt(segment.endMs, grid);
    clockMs = multipleUntil(segment.clockFromMs - 1) + lengthMs;
  }
}

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
