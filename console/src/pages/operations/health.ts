// The health of the server: its response, and the remedy for each state.
import { HttpError } from "@oazapfts/runtime";
import { baseUrl } from "../../api/base.ts";

export interface Health {
  readonly status: "ok" | "degraded" | "failing";
  readonly version: string;
  readonly store: string;
  readonly freeBytes?: number;
  readonly quarantined: readonly Readonly<Record<string, unknown>>[];
  /** Of a server that makes backups by itself. */
  readonly backups?: BackupState;
}

/** docs/operations.md describes the statuses. */
export interface BackupState {
  readonly status:
    | "waiting"
    | "ok"
    | "unpruned"
    | "unverified"
    | "incomplete"
    | "behind"
    | "failed"
    | "late"
    | "damaged";
  readonly problem?: string;
  readonly lastTime?: number;
  /** The newest time that a restore reaches; absent without increments. */
  readonly reachTime?: number;
  /** Absent before the first backup, which is made by hand. */
  readonly nextTime?: number;
  readonly isRunning: boolean;
  /** The newest first. */
  readonly recent: readonly BackupRun[];
}

export interface BackupRun {
  readonly startedTime: number;
  readonly seconds: number;
  readonly outcome: "complete" | "failed";
  readonly bytes?: number;
  readonly bytesStored?: number;
  readonly verification?: "ok" | "damaged" | "failed";
}

/** Reads `GET /health`; its 503 has a body as well. */
export async function readHealth(send: typeof fetch, signal: AbortSignal): Promise<Health> {
  const response = await send(`${baseUrl()}/health`, { signal });
  if (!response.ok && response.status !== 503)
    throw new HttpError(response.status, await response.text(), response.headers);
  return (await response.json()) as Health;
}

export interface Advice {
  readonly color: "green" | "orange" | "red";
  readonly title: string;
  readonly text: string;
}

export function adviceFor({ status, store, quarantined, backups }: Health): Advice {
  if (status === "failing") {
    const text = "Look into the log of the server for the reason, check its disk, and start it again.";
    return {
      color: "red",
      title: "The server does not take data",
      text: `Its store reports: ${store}. ${text}`,
    };
  }
  if (status === "degraded" && store === "open" && backups?.problem !== undefined) {
    const text = `${backups.problem}. The server takes reads and writes.`;
    return { color: "orange", title: "The backups have a problem", text };
  }
  if (status === "degraded") {
    const text = "Free space on the disk of the data folder. The server then takes writes again by itself.";
    return { color: "orange", title: "The server takes no new data", text: `It reports: ${store}. ${text}` };
  }
  if (quarantined.length > 0) {
    const parts =
      quarantined.length === 1
        ? "A part of the stored points is"
        : `${quarantined.length} parts of the stored points are`;
    const text =
      "All other data are served. Stop the server and run “millrace doctor”; it says what can be repaired.";
    return { color: "orange", title: `${parts} damaged`, text };
  }
  return {
    color: "green",
    title: "Everything works",
    text: "The stores are open and take reads and writes.",
  };
}
