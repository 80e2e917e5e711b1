// The metrics of the backups that a server makes by itself. Without a schedule all but the status are NaN.
import { Counter, Gauge, type Registry } from "prom-client";
import { type BackupHealth, backupStatuses } from "./backup-health.ts";

export interface MeasuredBackups {
  readonly health: BackupHealth;
  /** Failed backups since the start of the server. */
  readonly failures: number;
}

/** Registers the metrics of backups; `backups` is undefined without a schedule. */
export function measureBackups(registry: Registry, backups: MeasuredBackups | undefined): void {
  new Gauge({
    name: "millrace_backup_status",
    help: "1 for the status of the backups by the server that /health has now, 0 for the others",
    labelNames: ["status"],
    registers: [registry],
    collect() {
      const now = backups?.health.status ?? "off";
      for (const status of backupStatuses) this.set({ status }, status === now ? 1 : 0);
    },
  });
  new Counter({
    name: "millrace_backup_failures_total",
    help: "Backups of the schedule that failed",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(backups?.failures ?? 0);
    },
  });
  for (const [name, [help, figureOf]] of Object.entries(figures))
    new Gauge({
      ...{ name, help, registers: [registry] },
      collect() {
        this.set((backups && figureOf(backups.health)) ?? Number.NaN);
      },
    });
}

const lastOf = ({ recent }: BackupHealth) => recent.find(({ outcome }) => outcome === "complete");
const secondsOf = (ms: number | undefined) => ms && ms / 1_000;

function verified(health: BackupHealth): number | undefined {
  const checked = health.recent.find(({ verification }) => verification !== undefined);
  return checked && (checked.verification === "ok" ? 1 : 0);
}

type Figure = readonly [help: string, figureOf: (health: BackupHealth) => number | undefined];

const figures: Readonly<Record<string, Figure>> = {
  millrace_backup_last_success_timestamp_seconds: [
    "The time that the last complete backup has the state of",
    ({ lastTime }) => secondsOf(lastTime),
  ],
  millrace_backup_reach_timestamp_seconds: [
    "The newest time that a restore reaches, with increments",
    ({ reachTime }) => secondsOf(reachTime),
  ],
  millrace_backup_next_timestamp_seconds: [
    "When the next backup is due",
    ({ nextTime }) => secondsOf(nextTime),
  ],
  millrace_backup_last_duration_seconds: [
    "How long the last complete backup took",
    (health) => lastOf(health)?.seconds,
  ],
  millrace_backup_last_bytes: ["The size of the last complete backup", (health) => lastOf(health)?.bytes],
  millrace_backup_last_written_bytes: [
    "What the last complete backup added to the folder of backups",
    (health) => lastOf(health)?.bytesStored,
  ],
  millrace_backup_last_verified: [
    "1 if the last verification found a backup in order, 0 if it found damage or was not possible",
    verified,
  ],
};
