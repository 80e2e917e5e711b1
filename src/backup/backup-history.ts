// The last backups of a server to the folder of its settings, in a file of the data folder.
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../lib/durable-files.ts";
import { parseJson } from "../lib/json.ts";
import { unlessMissing } from "../lib/missing-file.ts";
import { limits } from "../limits.ts";
import type { Examined } from "./messages.ts";

export type BackupRun = { readonly startedTime: number; readonly endedTime: number } & (
  | { readonly outcome: "failed"; readonly problem: string }
  | CompleteRun
);

export interface CompleteRun {
  readonly outcome: "complete";
  readonly id: string;
  readonly snapshotMs: number;
  readonly bytes: number;
  readonly bytesStored: number;
  /** Files that the catalog names and the data folder lacks. */
  readonly missing: number;
  /** Absent until it is verified. */
  readonly check?: BackupCheck;
}

/** `problem`: why the backup could not be verified. */
export type BackupCheck = { readonly endedTime: number } & (Examined | { readonly problem: string });

export type Verdict = "ok" | "damaged" | "failed";

export function verdictOf(result: Examined | { readonly problem: string }): Verdict {
  if ("problem" in result) return "failed";
  return result.findings.length === 0 ? "ok" : "damaged";
}

const fileName = "backup-history.json";

export class BackupHistory {
  /** The folder of the backups. */
  readonly place: string;
  /** The backups that failed since the start of the server. */
  failures = 0;
  readonly #data: string;
  #runs: readonly BackupRun[];
  #writing: Promise<void> = Promise.resolve();

  private constructor(data: string, { place, runs }: Stored) {
    this.#data = data;
    this.place = place;
    this.#runs = runs;
  }

  /** Without a file, with that of another place, or with a damaged one, no backup is known. */
  static async open(data: string, place: string): Promise<BackupHistory> {
    const found = await unlessMissing(readFile(join(data, fileName), "utf8"));
    const stored = found === undefined ? undefined : storedIn(found);
    return new BackupHistory(data, stored?.place === place ? stored : { place, runs: [] });
  }

  /** The newest first. */
  get runs(): readonly BackupRun[] {
    return this.#runs;
  }

  /** Of backups that were verified and found damaged. */
  get damagedIds(): readonly string[] {
    return this.#runs
      .filter(isComplete)
      .filter(({ check }) => check && verdictOf(check) === "damaged")
      .map(({ id }) => id);
  }

  async add(run: BackupRun): Promise<void> {
    if (run.outcome === "failed") this.failures += 1;
    const lastComplete = this.#runs.find(isComplete);
    const runs = [run, ...this.#runs].slice(0, limits.backupRunsKept);
    await this.#write(runs.some(isComplete) || !lastComplete ? runs : [...runs.slice(0, -1), lastComplete]);
  }

  async addCheck(id: string, check: BackupCheck): Promise<void> {
    await this.#write(this.#runs.map((run) => (isComplete(run) && run.id === id ? { ...run, check } : run)));
  }

  /** One write at a time: all have the same draft. */
  #write(runs: readonly BackupRun[]): Promise<void> {
    this.#runs = runs;
    const write = () => this.#writeFile();
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  async #writeFile(): Promise<void> {
    const stored: Stored = { place: this.place, runs: this.#runs };
    const path = join(this.#data, fileName);
    const draft = `${path}.new`;
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(stored)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(this.#data);
  }
}

export const isComplete = (run: BackupRun): run is BackupRun & CompleteRun => run.outcome === "complete";

interface Stored {
  readonly place: string;
  readonly runs: readonly BackupRun[];
}

function storedIn(text: string): Stored | undefined {
  try {
    const stored = parseJson(text) as Stored;
    return Array.isArray(stored.runs) ? stored : undefined;
  } catch {
    return undefined;
  }
}
