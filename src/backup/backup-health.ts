// The state of the backups that a server makes by itself, for `/health`, `/metrics` and the console.
import { type BackupRun, type CompleteRun, isComplete, type Verdict, verdictOf } from "./backup-history.ts";
import { type BackupPlan, dueTime, incrementLateMs, isLate } from "./backup-plan.ts";

/** The worst is last: a backup that is damaged and late is damaged. */
export const backupStatuses = [
  "off",
  "waiting",
  "ok",
  "unpruned",
  "unverified",
  "incomplete",
  "behind",
  "failed",
  "late",
  "damaged",
] as const;

export type BackupStatus = (typeof backupStatuses)[number];

export interface BackupHealth {
  readonly status: Exclude<BackupStatus, "off">;
  /** Absent while nothing is wrong. */
  readonly problem?: string;
  /** The time that the last backup has the state of; absent without one. */
  readonly lastTime?: number;
  readonly ageSeconds?: number;
  /** The newest time that a restore reaches, with increments; absent without them. */
  readonly reachTime?: number;
  /** When the next backup is due; absent before the first one, which is made by hand. */
  readonly nextTime?: number;
  readonly isRunning: boolean;
  /** The newest first. */
  readonly recent: readonly ShownRun[];
}

interface ShownRun {
  readonly startedTime: number;
  readonly seconds: number;
  readonly outcome: BackupRun["outcome"];
  readonly bytes?: number;
  /** The bytes that it has added to the folder of backups. */
  readonly bytesStored?: number;
  /** Absent until it is verified. */
  readonly verification?: Verdict;
}

interface Known {
  readonly plan: BackupPlan;
  /** The newest first. */
  readonly runs: readonly BackupRun[];
  readonly nowMs: number;
  readonly isRunning: boolean;
  /** The time of the last increment of this process, or of the backup before it. */
  readonly reachMs?: number | undefined;
}

export function backupHealth({ plan, runs, nowMs, isRunning, reachMs }: Known): BackupHealth {
  const last = runs.find(isComplete);
  const reachTime = plan.journalSeconds === undefined ? undefined : (reachMs ?? last?.snapshotMs);
  const nextTime = dueTime(plan.schedule, runs, nowMs);
  return {
    ...stateOf({ plan, runs, nowMs, isRunning, reachTime }),
    ...(last && { lastTime: last.snapshotMs, ageSeconds: Math.round((nowMs - last.snapshotMs) / 1_000) }),
    ...(reachTime !== undefined && { reachTime }),
    ...(nextTime !== undefined && { nextTime }),
    ...{ isRunning },
    recent: runs.map(shown),
  };
}

type State = Pick<BackupHealth, "status" | "problem">;

// Everybody may read `/health`: the reasons, which name folders, are in the log.

type Judged = Omit<Known, "reachMs"> & { readonly reachTime: number | undefined };

function stateOf({ plan, runs, nowMs, ...increments }: Judged): State {
  const complete = runs.filter(isComplete);
  const [last] = complete;
  if (!last)
    return {
      status: "waiting",
      problem: "MILLRACE_BACKUP_TO has no backup of this data folder. Make the first one: millrace backup",
    };
  // While the newest backup is verified, or cannot be, the result of the one before it counts.
  const judged = complete.find(({ check }) => check && verdictOf(check) !== "failed");
  if (judged && verdictOf(judged.check!) === "damaged")
    return {
      status: "damaged",
      problem: `The backup ${judged.id} is damaged. The log of the server names the damaged files`,
    };
  const isFailed = runs[0]?.outcome === "failed";
  const failure = isFailed ? "The last backup failed. The log of the server has the reason" : undefined;
  if (isLate(plan.schedule, last.snapshotMs, nowMs)) {
    const late = `The last complete backup is of ${new Date(last.snapshotMs).toISOString()}`;
    return { status: "late", problem: failure === undefined ? late : `${late}. ${failure}` };
  }
  if (failure !== undefined) return { status: "failed", problem: failure };
  const behind = behindOf(plan, nowMs, increments);
  if (behind !== undefined) return { status: "behind", problem: behind };
  return stateOfComplete(
    last,
    complete.find(({ check }) => check !== undefined),
  );
}

/** During a backup, no increment is made. */
function behindOf(
  { journalSeconds }: BackupPlan,
  nowMs: number,
  { isRunning, reachTime }: Pick<Judged, "isRunning" | "reachTime">,
): string | undefined {
  if (isRunning || journalSeconds === undefined || reachTime === undefined) return undefined;
  if (nowMs - reachTime <= incrementLateMs(journalSeconds)) return undefined;
  return (
    `A restore reaches ${new Date(reachTime).toISOString()} at the latest: increments are not made. ` +
    "The log of the server has the reason"
  );
}

function stateOfComplete(last: CompleteRun, checked: CompleteRun | undefined): State {
  if (last.missing > 0)
    return { status: "incomplete", problem: `The data folder lacks ${last.missing} files of the catalog` };
  const check = checked?.check;
  if (check && "problem" in check)
    return {
      status: "unverified",
      problem: `The backup ${checked.id} could not be verified. The log of the server has the reason`,
    };
  if (check?.removal && "problem" in check.removal)
    return {
      status: "unpruned",
      problem: "Old backups could not be removed. The log of the server has the reason",
    };
  return { status: "ok" };
}

function shown(run: BackupRun): ShownRun {
  const { startedTime, endedTime, outcome } = run;
  const seconds = Math.round((endedTime - startedTime) / 100) / 10;
  if (outcome === "failed") return { startedTime, seconds, outcome };
  const { bytes, bytesStored, check } = run;
  const verification = check && { verification: verdictOf(check) };
  return { startedTime, seconds, outcome, bytes, bytesStored, ...verification };
}
