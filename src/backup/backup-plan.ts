// The backups that a server makes by itself, as its settings say.
import { isTimeZone } from "../lib/clock-buckets.ts";
import { type CronTimes, hasCronTimes, nextCronTime } from "../lib/cron.ts";
import { limits } from "../limits.ts";
import { type BackupRun, isComplete } from "./backup-history.ts";
import type { Keep } from "./keep.ts";

export interface BackupPlan {
  /** The folder or the S3 store of backups, as `placeNamed` writes it. */
  readonly place: string;
  readonly schedule: CronTimes;
  /** The old backups that stay; without it, all do. */
  readonly keep?: Keep;
  readonly passphraseFile?: string;
  /** How often the server makes an increment; without it, it makes none. */
  readonly journalSeconds?: number;
}

/** Five fields of cron and a time zone: `0 2 * * * Europe/Oslo`; undefined for another text. */
export function parseSchedule(text: string): CronTimes | undefined {
  const words = text.trim().split(/\s+/);
  const times = { cron: words.slice(0, 5).join(" "), timeZone: words[5] ?? "" };
  return words.length === 6 && isTimeZone(times.timeZone) && hasCronTimes(times) ? times : undefined;
}

/**
 * When the next backup is due, after these, the newest first: at the first time of the schedule after the
 * start of the last one, so that times that passed while no server was up are one backup. Never before the
 * first one, which is made by hand: the folder may be that of another installation, whose backups the
 * schedule would remove, or that of a disk that is away.
 */
export function dueTime(schedule: CronTimes, runs: readonly BackupRun[], nowMs: number): number | undefined {
  if (!runs.some(isComplete)) return undefined;
  // A clock that was wrong must not stop the backups.
  const last = runs.find(({ startedTime }) => startedTime <= nowMs + limits.backupRetryMs);
  if (!last) return nowMs;
  const next = nextCronTime(schedule, last.startedTime) ?? Number.POSITIVE_INFINITY;
  return last.outcome === "failed" ? Math.min(next, last.endedTime + limits.backupRetryMs) : next;
}

/** Whether two times of the schedule have passed since the snapshot. */
export function isLate(schedule: CronTimes, snapshotMs: number, nowMs: number): boolean {
  const missed = nextCronTime(schedule, snapshotMs);
  const second = missed === undefined ? undefined : nextCronTime(schedule, missed);
  return second !== undefined && second <= nowMs;
}

/**
 * How long nothing new was copied before increments count as late: three of them, and a minute, because their
 * process has low priority.
 */
export const incrementLateMs = (journalSeconds: number): number => 3 * journalSeconds * 1_000 + 60_000;
