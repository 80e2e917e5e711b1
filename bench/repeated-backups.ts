// Backups of a measured server, one after the other, each to a new folder, so that all bytes are written.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { backupsPath, backupToken } from "../src/backup/backup-routes.ts";
import type { BackupsState } from "../src/backup/backups.ts";
import { secretOf } from "../src/data-folder.ts";
import { secretFor } from "../src/installation.ts";
import { realSystem } from "../src/lib/system.ts";
import type { Running } from "./systems/system.ts";

const pollMs = 50;

export interface BackupFigures {
  readonly backups: number;
  /** How long changes of the catalog waited at most. */
  readonly pausedMsMax: number;
}

/** Backs up the server until the signal; the last backup is completed. */
export async function repeatBackups(running: Running, stop: AbortSignal): Promise<BackupFigures> {
  const { folder } = running.started;
  const url = `http://127.0.0.1:${running.port}${backupsPath}`;
  const token = backupToken(secretFor("backups", secretOf(join(folder, "data"), realSystem)));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ask = async (method: string, body?: string) => {
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${method} ${url}: ${await response.text()}`);
    return (await response.json()) as BackupsState;
  };
  const figures = { backups: 0, pausedMsMax: 0 };
  while (!stop.aborted) {
    const place = join(folder, `backups-${figures.backups}`);
    let state = await ask("POST", JSON.stringify({ place }));
    for (; state.running; state = await ask("GET")) await pause(pollMs);
    const { last } = state;
    if (last?.outcome !== "complete") throw new Error(`No backup was made: ${JSON.stringify(last)}`);
    figures.backups += 1;
    figures.pausedMsMax = Math.max(figures.pausedMsMax, last.pausedMs);
    rmSync(place, { recursive: true });
  }
  return figures;
}
