// Sends the points of a file in batches, with progress, cancellation, and continuation after the last batch.
import { HttpError } from "@oazapfts/runtime";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Batch, batchesOf, type Refusal } from "../../../../src/import/batches.ts";
import { load } from "../../../../src/import/load.ts";
import type { Row } from "../../../../src/import/row.ts";
import { defaults } from "../../api/generated.ts";
import { requireEncoding } from "../../lib/csv-file.ts";
import { waitingText, withRetries } from "../../uploads/transfer.ts";
import { warnBeforeUnload } from "../../uploads/warn-before-unload.ts";
import { createMissing, type PointsPlan } from "./points-plan.ts";
import { rowsOf } from "./points-rows.ts";
import { batchSettings, type PointsSettings } from "./points-settings.ts";

export interface ImportJob {
  readonly project: string;
  readonly file: File;
  readonly settings: PointsSettings;
  readonly plan: PointsPlan;
  /** Reads and checks the whole file, and writes nothing. */
  readonly isCheck: boolean;
}

export interface ImportState {
  readonly status: "idle" | "running" | "stopped" | "done";
  readonly isCheck: boolean;
  readonly bytesRead: number;
  /** Points that the server has on disk, or that a check has read. */
  readonly points: number;
  /** The last line of the file whose points are all counted. */
  readonly line: number;
  /** The first refused cells; `refusedCount` counts all of them. */
  readonly refused: readonly Refusal[];
  readonly refusedCount: number;
  readonly waiting?: string | undefined;
  readonly problem?: unknown;
}

const refusedShownMax = 200;
const requestsInFlight = 2;

const idle: ImportState = {
  ...{ status: "idle", isCheck: false, bytesRead: 0, points: 0, line: 0, refused: [], refusedCount: 0 },
};

export function usePointsImport() {
  const [state, setState] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => controller.current?.abort(), []);
  const isWriting = state.status === "running" && !state.isCheck;
  useEffect(() => (isWriting ? warnBeforeUnload(() => true) : undefined), [isWriting]);
  const run = async (job: ImportJob, from: ImportState) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    const change: Loading["onState"] = (part) => setState((now) => ({ ...now, ...part(now) }));
    setState({ ...from, status: "running", isCheck: job.isCheck, problem: undefined });
    try {
      if (!job.isCheck && from.line === 0) {
        const onCheck = (waiting: string) => change(() => ({ waiting }));
        await requireEncoding(job.file, job.settings, { signal, onCheck });
        change(() => ({ waiting: undefined }));
      }
      if (!job.isCheck) await createMissing(job.project, job.plan, signal);
      await loadFrom(job, { from, signal, onState: change });
      signal.throwIfAborted();
      setState((now) => ({ ...now, status: "done", waiting: undefined }));
    } catch (problem) {
      const reason = signal.aborted ? {} : { problem };
      setState((now) => ({ ...now, status: "stopped", waiting: undefined, ...reason }));
    }
    if (!job.isCheck) await queryClient.invalidateQueries();
  };
  return {
    state,
    start: (job: ImportJob) => void run(job, idle),
    /** Sends what follows the last line that is counted. */
    proceed: (job: ImportJob) => void run(job, state),
    cancel: () => controller.current?.abort(),
    reset: () => setState(idle),
  };
}

export type PointsImport = ReturnType<typeof usePointsImport>;

interface Loading {
  readonly from: ImportState;
  readonly signal: AbortSignal;
  onState(change: (now: ImportState) => Partial<ImportState>): void;
}

async function loadFrom(job: ImportJob, { from, signal, onState }: Loading): Promise<void> {
  const { file, settings, plan, project } = job;
  const rows = rowsAfter(rowsOf(file, settings), Math.max(from.line, plan.header.line), signal);
  const onWaiting = (problem: unknown) => onState(() => ({ waiting: waitingText(problem) }));
  const send = job.isCheck
    ? async () => {}
    : (batch: Batch) => withRetries(() => insert(project, batch.body, signal), { signal, onWaiting });
  const acknowledge = (batch: Batch) =>
    onState((now) => ({
      ...{ bytesRead: batch.end.endBytes, line: batch.end.line, points: now.points + batch.points },
      refused: [...now.refused, ...batch.refused.slice(0, refusedShownMax - now.refused.length)],
      refusedCount: now.refusedCount + batch.refused.length,
      waiting: undefined,
    }));
  const batches = batchesOf(rows, plan, batchSettings(settings));
  await load(batches, { inFlightMax: requestsInFlight, send, acknowledge, stop: signal });
}

async function* rowsAfter(rows: AsyncIterable<Row>, line: number, signal: AbortSignal): AsyncGenerator<Row> {
  for await (const row of rows) {
    signal.throwIfAborted();
    if (row.line > line) yield row;
  }
}

/** Writing points again leaves the same points. */
async function insert(project: string, body: string, signal: AbortSignal): Promise<void> {
  const path = `/api/0.6/projects/${encodeURIComponent(project)}/timeseries/data`;
  // The headers say as which group this window sees.
  const headers = { ...(defaults.headers as Record<string, string>), "Content-Type": "application/json" };
  const response = await defaults.fetch!(`${defaults.baseUrl}${path}`, {
    ...{ method: "POST", body, headers, signal },
  });
  if (!response.ok) throw new HttpError(response.status, await response.text(), response.headers);
}
