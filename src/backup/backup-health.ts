// The state of the backups that a server makes by itself, for `/health`, `/metrics` and the console.
import { type BackupCheck, type BackupRun, type CompleteRun, isComplete } from "./backup-history.ts";
import { type BackupPlan, dueTime, isLate } from "./backup-plan.ts";

/** The worst is last: a backup that is damaged and late is damaged. */
export const backupStatuses = [
  "off",
  "waiting",
  "ok",
  "unpruned",
  "unverified",
  "incomplete",
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
  /** When the next backup is due. */
  readonly nextTime: number;
  readonly isRunning: boolean;
  /** The newest first. */
  readonly recent: readonly ShownRun[];
}

interface ShownRun {
  readonly startedTime: number;
  readonly seconds: number;
  readonly outcome: BackupRun["outcome"];
  /** Of a failed one. */
  readonly problem?: string;
  readonly bytes?: number;
  /** What it has added to the folder of backups. */
  readonly bytesStored?: number;
  /** Absent until it is verified. */
  readonly verification?: Verdict;
}

type Verdict = "ok" | "damaged" | "failed";

interface Known {
  readonly plan: BackupPlan;
  /** The newest first. */
  readonly runs: readonly BackupRun[];
  readonly nowMs: number;
  readonly isRunning: boolean;
}

export function backupHealth({ plan, runs, nowMs, isRunning }: Known): BackupHealth {
  const last = runs.find(isComplete);
  return {
    ...stateOf({ plan, runs, nowMs }),
    ...(last && { lastTime: last.snapshotMs, ageSeconds: Math.round((nowMs - last.snapshotMs) / 1_000) }),
    ...{ nextTime: dueTime(plan.schedule, runs, nowMs), isRunning },
    recent: runs.map(shown),
  };
}

type State = Pick<BackupHealth, "status" | "problem">;

function stateOf({ plan, runs, nowMs }: Omit<Known, "isRunning">): State {
  const [newest] = runs;
  if (!newest) return { status: "waiting" };
  const complete = runs.filter(isComplete);
  const [last] = complete;
  // While the newest backup is verified, the result of the one before it counts.
  const checked = complete.find(({ check }) => check !== undefined);
  if (checked && verdictOf(checked.check!) === "damaged")
    return {
      status: "damaged",
      problem: `The backup ${checked.id} is damaged: ${findingIn(checked.check!)}`,
    };
  const failure = newest.outcome === "failed" ? `The last backup failed: ${newest.problem}` : undefined;
  if (last && isLate(plan.schedule, last.snapshotMs, nowMs)) {
    const late = `The last complete backup is of ${new Date(last.snapshotMs).toISOString()}`;
    return { status: "late", problem: failure === undefined ? late : `${late}. ${failure}` };
  }
  if (failure !== undefined) return { status: "failed", problem: failure };
  return last ? stateOfComplete(last, checked) : { status: "waiting" };
}

function stateOfComplete(last: CompleteRun, checked: CompleteRun | undefined): State {
  if (last.missing > 0)
    return { status: "incomplete", problem: `The data folder lacks ${last.missing} files of the catalog` };
  const check = checked?.check;
  if (check && "problem" in check)
    return { status: "unverified", problem: `The backup ${checked.id} is not verified: ${check.problem}` };
  if (check?.removal && "problem" in check.removal)
    return { status: "unpruned", problem: `Old backups stay: ${check.removal.problem}` };
  return { status: "ok" };
}

function shown(run: BackupRun): ShownRun {
  const { startedTime, endedTime, outcome } = run;
  const seconds = Math.round((endedTime - startedTime) / 100) / 10;
  if (outcome === "failed") return { startedTime, seconds, outcome, problem: run.problem };
  const { bytes, bytesStored, check } = run;
  const verification = check && { verification: verdictOf(check) };
  return { startedTime, seconds, outcome, bytes, bytesStored, ...verification };
}

function verdictOf(check: BackupCheck): Verdict {
  if ("problem" in check) return "failed";
  return check.findings.length === 0 ? "ok" : "damaged";
}

const findingIn = (check: BackupCheck): string => ("findings" in check ? check.findings[0]! : "");
