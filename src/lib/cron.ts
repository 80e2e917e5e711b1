// Times of cron in a time zone.
import { Cron } from "croner";

export interface CronTimes {
  /** Minute, hour, day of month, month, weekday. */
  readonly cron: string;
  /** Such as Europe/Oslo. */
  readonly timeZone: string;
}

/** Whether the expression has five fields and a time after 1970. */
export const hasCronTimes = (times: CronTimes): boolean =>
  times.cron.trim().split(/\s+/).length === 5 && nextCronTime(times, 0) !== undefined;

/**
 * The first time after `afterMs`; undefined if there is none. Local times that exist twice, when the clocks
 * go back: a schedule with the hour `*` runs in both hours, each other one only in the first. Local times
 * that the clocks skip: such a schedule leaves them out, each other one runs at the change of the clocks,
 * once.
 */
export function nextCronTime({ cron, timeZone }: CronTimes, afterMs: number): number | undefined {
  try {
    const walls = new Cron(cron, { utcOffset: 0, paused: true });
    const after = zoned(afterMs, timeZone);
    return everyHour.test(cron.trim().split(/\s+/)[1]!)
      ? nextOfEveryHour(walls, after)
      : nextOfHours(walls, after);
  } catch {
    return undefined;
  }
}

const everyHour = /^(\*|0-23)(\/1)?$/;

const zoned = (timeMs: number, timeZone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(timeZone);

/** The local time, as if it were one of UTC: croner sees no change of the clocks. */
const wallOf = (time: Temporal.ZonedDateTime): number => time.epochMilliseconds + offsetOf(time);
const offsetOf = (time: Temporal.ZonedDateTime): number => time.offsetNanoseconds / 1e6;
const nextWall = (walls: Cron, wallMs: number): number | undefined =>
  walls.nextRun(new Date(wallMs))?.getTime();

/** Every instant whose local time matches. */
function nextOfEveryHour(walls: Cron, after: Temporal.ZonedDateTime): number | undefined {
  let wallMs = wallOf(after);
  for (let from = after; ; ) {
    const wall = nextWall(walls, wallMs);
    if (wall === undefined) return undefined;
    const timeMs = wall - offsetOf(from);
    const change = from.getTimeZoneTransition("next");
    if (!change || timeMs < change.epochMilliseconds) return timeMs;
    from = change;
    wallMs = wallOf(change) - 1; // The time of the change may match.
  }
}

/** The first instant of each local time that matches; these instants never decrease. */
function nextOfHours(walls: Cron, after: Temporal.ZonedDateTime): number | undefined {
  for (let wall = nextWall(walls, wallOf(after)); wall !== undefined; wall = nextWall(walls, wall)) {
    const timeMs = firstInstantOf(wall, after.timeZoneId);
    if (timeMs > after.epochMilliseconds) return timeMs;
  }
  return undefined;
}

/** Of a local time that the clocks skip, the instant of the change. */
function firstInstantOf(wallMs: number, timeZone: string): number {
  const local = zoned(wallMs, "UTC").toPlainDateTime();
  const time = local.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  const isSkipped = !time.toPlainDateTime().equals(local);
  return (isSkipped ? time.getTimeZoneTransition("next")! : time).epochMilliseconds;
}
