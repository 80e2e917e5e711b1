// Makes the backups of the settings: at times of cron, one at a time. Each is verified, then old ones are
// removed.
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { StartRefused } from "../data-folder.ts";
import type { System } from "../lib/system.ts";
import { startTicks } from "../lib/ticks.ts";
import { limits } from "../limits.ts";
import type { S3Access } from "../s3-access.ts";
import { BackgroundProcess } from "./background-process.ts";
import { type BackupHealth, backupHealth } from "./backup-health.ts";
import { type BackupCheck, type BackupHistory, isComplete, verdictOf } from "./backup-history.ts";
import { type BackupPlan, dueTime } from "./backup-plan.ts";
import type { Backups } from "./backups.ts";
import type { Increments } from "./increments.ts";
import { type Examined, type ExamineTask, type FromExamineProcess, firstFindings } from "./messages.ts";

const program = fileURLToPath(new URL("./examine-process.ts", import.meta.url));

interface Options {
  readonly plan: BackupPlan;
  readonly backups: Backups;
  /** If the settings want them. */
  readonly increments?: Increments | undefined;
  readonly history: BackupHistory;
  /** Reaches S3 stores of backups. */
  readonly s3?: S3Access | undefined;
  readonly system: System;
  readonly log: Logger;
}

export class ScheduledBackups {
  readonly #options: Options;
  readonly #ended = new AbortController();
  readonly #startedMs: number;

  constructor(options: Options) {
    this.#options = options;
    this.#startedMs = options.system.nowMs();
  }

  /** Makes backups that are due; returns the function that stops it. */
  start(): () => Promise<void> {
    const { plan, history, log } = this.#options;
    const report = (problem: unknown) =>
      log.error({ err: problem }, "A fault ended the work on scheduled backups");
    if (!history.runs.some(isComplete))
      log.warn(
        { place: plan.place },
        "The folder of backups has none of this data folder. The schedule begins after the first one, " +
          "which is made by hand: millrace backup",
      );
    const ticks = { everyMs: limits.backupTickMs, report };
    // Apart from each other: a verification takes long.
    const stops = [startTicks(ticks, () => this.#work()), startTicks(ticks, () => this.#increment())];
    return async () => {
      this.#ended.abort();
      void this.#options.increments?.stop();
      await Promise.all(stops.map((stop) => stop()));
    };
  }

  get health(): BackupHealth {
    const { plan, backups, increments, history, system } = this.#options;
    const isRunning = backups.state.running !== undefined;
    const reachMs = increments?.reachMs;
    return backupHealth({ plan, runs: history.runs, nowMs: system.nowMs(), isRunning, reachMs });
  }

  /** Failed backups since the start of the server. */
  get failures(): number {
    return this.#options.history.failures;
  }

  async #work(): Promise<void> {
    const { plan, backups, history, system } = this.#options;
    if (backups.state.running) return;
    const dueMs = dueTime(plan.schedule, history.runs, system.nowMs());
    // An empty folder may be that of a disk that is away.
    if (dueMs !== undefined && (dueMs <= system.nowMs() || this.#isBaseDue))
      return backups.start({ place: plan.place, mustExist: true }, { isScheduled: true });
    const last = history.runs.find(isComplete);
    if (last && this.#isCheckDue(last.check)) await this.#examine(last.id);
  }

  /** Increments need a backup of this process. One after a failure, or after one of it, is made later. */
  get #isBaseDue(): boolean {
    const { increments, history, system } = this.#options;
    if (!increments || increments.reachMs !== undefined) return false;
    const [last] = history.runs;
    if (!last || last.endedTime + limits.backupRetryMs <= system.nowMs()) return true;
    return last.outcome === "complete" && last.endedTime < this.#startedMs;
  }

  async #increment(): Promise<void> {
    const { increments, backups } = this.#options;
    if (increments?.isDue && !backups.state.running) await increments.make();
  }

  #isCheckDue(last: BackupCheck | undefined): boolean {
    if (!last) return true;
    return "problem" in last && last.endedTime + limits.backupRetryMs <= this.#options.system.nowMs();
  }

  async #examine(id: string): Promise<void> {
    const { plan, history, s3, system, log } = this.#options;
    const { place, passphraseFile, keep } = plan;
    const task = {
      ...{ place, id, temporary: tmpdir(), damaged: history.damagedIds },
      ...(passphraseFile !== undefined && { passphraseFile }),
      ...(keep && { keep }),
      ...(s3 && { s3 }),
    };
    const result = await examined(task, this.#ended.signal).catch((problem: Error) => {
      if (this.#ended.signal.aborted) return undefined;
      if (!(problem instanceof StartRefused)) log.error({ err: problem, id }, "Could not verify a backup");
      return { problem: problem.message };
    });
    if (!result) return; // The next start verifies it.
    const isPruned = !("removal" in result && result.removal && "problem" in result.removal);
    const isGood = verdictOf(result) === "ok" && isPruned;
    log[isGood ? "info" : "error"]({ id, place, ...result }, "Verified a backup");
    await history.addCheck(id, { endedTime: system.nowMs(), ...shortened(result) });
  }
}

/** Verifies a backup and removes old ones in another process. Throws `StartRefused`. */
async function examined(task: ExamineTask, signal: AbortSignal): Promise<Examined> {
  signal.throwIfAborted();
  const child = new BackgroundProcess<ExamineTask, FromExamineProcess>({
    ...{ program, name: "The process that verifies" },
    isProgress: () => false,
  });
  const stop = () => void child.stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return (await child.request(task)).result;
  } finally {
    signal.removeEventListener("abort", stop);
    await child.stop();
  }
}

const findingsKeptMax = 5;

/** The log has more findings. */
const shortened = (result: Examined | { readonly problem: string }) =>
  "findings" in result ? { ...result, ...firstFindings(result, findingsKeptMax) } : result;
