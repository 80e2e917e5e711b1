// Uploads a CSV file in batches, with progress, cancellation and continuation after the last written batch.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type CsvFormat, requireEncoding } from "../../lib/csv-file.ts";
import { waitingText, withRetries } from "../../uploads/transfer.ts";
import { warnBeforeUnload } from "../../uploads/warn-before-unload.ts";
import { batchesOf, type RowMapping } from "./csv-file.ts";
import { type TableName, writeRows } from "./raw-data.ts";

export interface UploadPlan {
  readonly file: File;
  readonly format: CsvFormat;
  readonly mapping: RowMapping;
  readonly target: TableName;
}

export interface UploadState {
  readonly status: "idle" | "running" | "stopped" | "done";
  readonly bytesRead: number;
  /** The records of the file that are written or left out. */
  readonly recordsDone: number;
  readonly withoutKey: number;
  /** It runs, but writes nothing now: why. */
  readonly waiting?: string | undefined;
  readonly problem?: unknown;
}

const idle: UploadState = { status: "idle", bytesRead: 0, recordsDone: 0, withoutKey: 0 };

export function useUpload() {
  const [state, setState] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => controller.current?.abort(), []);
  useEffect(() => (state.status === "running" ? warnBeforeUnload(() => true) : undefined), [state.status]);
  const run = async (plan: UploadPlan, skip: number) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setState((now) => ({ ...now, status: "running", recordsDone: skip, problem: undefined }));
    const wait = (waiting: string | undefined) => setState((now) => ({ ...now, waiting }));
    const onWaiting = (problem: unknown) => wait(waitingText(problem));
    try {
      await requireEncoding(plan.file, plan.format, { signal, onCheck: wait });
      wait(undefined);
      for await (const batch of batchesOf(plan.file, plan.format, { mapping: plan.mapping, skip })) {
        signal.throwIfAborted();
        const write = () => writeRows(plan.target, batch.rows, signal);
        // Writing rows again leaves the same rows.
        if (batch.rows.length > 0) await withRetries(write, { signal, onWaiting });
        rememberUpload(plan, batch.recordsRead);
        setState(({ withoutKey }) => ({
          ...{ status: "running", bytesRead: batch.bytesRead, recordsDone: batch.recordsRead },
          withoutKey: withoutKey + batch.withoutKey,
        }));
      }
      rememberUpload(plan, 0);
      setState((now) => ({ ...now, status: "done" }));
    } catch (problem) {
      setState((now) => ({
        ...now,
        status: "stopped",
        waiting: undefined,
        ...(!signal.aborted && { problem }),
      }));
    }
    await queryClient.invalidateQueries({ queryKey: ["raw"] });
  };
  return {
    state,
    /** Writes the records after the first `skip` ones. */
    start: (plan: UploadPlan, skip: number) => void run(plan, skip),
    cancel: () => controller.current?.abort(),
    reset: () => setState(idle),
  };
}

/** One file with one mapping into one table. Another mapping starts at the first record. */
const rememberedName = ({
  file,
  mapping,
  format,
  target: { project, database, table },
}: UploadPlan): string =>
  `millrace upload ${JSON.stringify([
    ...[project, database, table, file.name, file.size, file.lastModified],
    ...[format, mapping.keyIndex, mapping.hasNumbers],
  ])}`;

/** Remembers in the browser how much of the file is written, also after the page is closed. */
function rememberUpload(plan: UploadPlan, recordsDone: number): void {
  const name = rememberedName(plan);
  if (recordsDone === 0) localStorage.removeItem(name);
  else localStorage.setItem(name, String(recordsDone));
}

/** The records of this file that an earlier upload has written; 0 after a whole upload. */
export const rememberedRecords = (plan: UploadPlan): number =>
  Number(localStorage.getItem(rememberedName(plan)) ?? 0);
