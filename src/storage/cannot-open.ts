// A store that cannot be opened, with the remedy for its operator.

export class CannotOpen extends Error {
  readonly nextStep: string;
  constructor(problem: string, nextStep: keyof typeof nextSteps) {
    super(problem);
    this.name = "CannotOpen";
    this.nextStep = nextSteps[nextStep];
  }
}

const nextSteps = {
  newer:
    "A newer version of Millrace wrote it: start that version. To go back, restore a backup that this " +
    "version made (millrace restore).",
  older:
    "An older version of Millrace wrote it. Start that version, write each project into an archive " +
    "(millrace export), and load the archives into a new data folder (millrace import archive).",
  incomplete:
    "Restore the whole data folder from a backup, not a part of it; `millrace doctor` lists what is missing.",
  here: "Start without MILLRACE_POINTS, or with a new data folder (docs/scale.md).",
  unset: "Set MILLRACE_POINTS to this address, with the password of its user (docs/scale.md).",
  away: "Check the address in MILLRACE_POINTS, and that ClickHouse is running.",
  emptied:
    "Restore the database, or let MILLRACE_POINTS name the one that has the datapoints. " +
    "To give them up, see docs/scale.md.",
  elsewhere: "Let MILLRACE_POINTS name another database, or all shards in their first order (docs/scale.md).",
  server: "Let MILLRACE_CATALOG name another database (docs/scale.md).",
  full: "Free disk space, then start again: nothing is damaged.",
  damaged: "`millrace doctor` shows the damage; what it cannot repair comes back with a backup.",
} as const;

/** The next step for the operator after a problem. */
export function nextStepAfter(problem: unknown): string {
  if (problem instanceof CannotOpen) return problem.nextStep;
  return /ENOSPC|EDQUOT|disk is full/.test((problem as Error).message) ? nextSteps.full : nextSteps.damaged;
}

/** Refuses a format that this version does not read; `what` names the store that has it. */
export function refuseOtherFormat(what: string, found: unknown, format: number): void {
  if (found === format) return;
  const problem = `${what} has format ${String(found)}; this version reads format ${format}`;
  if (!Number.isSafeInteger(found)) throw new CannotOpen(`${what} is damaged: it has no format`, "damaged");
  throw new CannotOpen(problem, (found as number) > format ? "newer" : "older");
}
