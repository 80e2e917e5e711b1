// Times of cron in a time zone.
import { Cron } from "croner";

export interface CronTimes {
  /** Minute, hour, day of month, month, weekday. */
  readonly cron: string;
  /** Such as Europe/Oslo. */
  readonly timeZone: string;
}

export function isTimeZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone }));
  } catch {
    return false;
  }
}

/** Whether the expression has five fields and a time after 1970. */
export const hasCronTimes = (times: CronTimes): boolean =>
  times.cron.trim().split(/\s+/).length === 5 && nextCronTime(times, 0) !== undefined;

/** The first time after `afterMs`; undefined if there is none. */
export function nextCronTime({ cron, timeZone }: CronTimes, afterMs: number): number | undefined {
  try {
    return new Cron(cron, { timezone: timeZone, paused: true }).nextRun(new Date(afterMs))?.getTime();
  } catch {
    return undefined;
  }
}
