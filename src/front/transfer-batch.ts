// Prepares a batch of points for another thread: its columns move there instead of being copied.
import type { Transferable } from "node:worker_threads";
import { freeChunk } from "../lib/free-memory.ts";
import type { PointBatch, PointRuns } from "../storage/points.ts";

export interface MovedBatch {
  readonly input: PointBatch;
  readonly transfer: Transferable[];
}

/**
 * The caller must not use the batch afterwards. The ids of a write plan stay, because plans are used again.
 */
export function transferable({ numbers, strings }: PointBatch): MovedBatch {
  const transfer: Transferable[] = [];
  const moved = <Column extends Float64Array | Uint32Array>(column: Column): Column => {
    // A message copies the whole buffer of a view.
    const own = (column.buffer.byteLength === column.byteLength ? column : column.slice()) as Column;
    transfer.push(own.buffer as ArrayBuffer);
    return own;
  };
  const runsOf = <Values>({ series, ends, times, values }: PointRuns<Values>): PointRuns<Values> => ({
    series: moved(series.slice()),
    ends: moved(ends),
    times: moved(times),
    values: values instanceof Float64Array ? (moved(values) as Values) : values,
  });
  const input: PointBatch = {
    ...(numbers && { numbers: runsOf(numbers) }),
    ...(strings && { strings: runsOf(strings) }),
  };
  return { input, transfer };
}

/** Frees the columns of a batch from another thread, once it is stored. */
export function freeBatch({ numbers, strings }: PointBatch): void {
  for (const runs of [numbers, strings]) {
    if (runs === undefined) continue;
    for (const column of [runs.series, runs.ends, runs.times]) freeChunk(column);
    if (runs.values instanceof Float64Array) freeChunk(runs.values);
  }
}
