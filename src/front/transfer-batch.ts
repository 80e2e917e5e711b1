// Prepares a batch of points for another thread: its columns move there instead of being copied.
import type { Transferable } from "node:worker_threads";
import { freeBuffer, freeChunk } from "../lib/free-memory.ts";
import type { PointBatch, PointRuns } from "../storage/points.ts";

export interface MovedBatch {
  readonly input: PointBatch;
  readonly transfer: Transferable[];
}

/**
 * Columns with so few bytes are copied into one buffer: moving several buffers takes longer than the copy.
 */
const packedBytesMax = 2 ** 16;

/**
 * The caller must not use the batch afterwards. The ids of a write plan stay, because plans are used again.
 */
export function transferable({ numbers, strings }: PointBatch): MovedBatch {
  const transfer: Transferable[] = [];
  const input: PointBatch = {
    ...(numbers && { numbers: movedRuns(numbers, transfer) }),
    ...(strings && { strings: movedRuns(strings, transfer) }),
  };
  return { input, transfer };
}

function movedRuns<Values>(runs: PointRuns<Values>, transfer: Transferable[]): PointRuns<Values> {
  const { series, ends, times, values } = runs;
  const numbers = values instanceof Float64Array ? values : undefined;
  const bytes = series.byteLength + times.byteLength + (numbers?.byteLength ?? 0) + ends.byteLength;
  if (bytes <= packedBytesMax) return packedRuns(runs, new ArrayBuffer(bytes), transfer);
  const moved = <Column extends Float64Array | Uint32Array>(column: Column): Column => {
    // A message copies the whole buffer of a view.
    const own = (column.buffer.byteLength === column.byteLength ? column : column.slice()) as Column;
    transfer.push(own.buffer as ArrayBuffer);
    return own;
  };
  return {
    series: moved(series.slice()),
    ends: moved(ends),
    times: moved(times),
    values: numbers ? (moved(numbers) as Values) : values,
  };
}

function packedRuns<Values>(
  { series, ends, times, values }: PointRuns<Values>,
  buffer: ArrayBuffer,
  transfer: Transferable[],
): PointRuns<Values> {
  let at = 0;
  const doubles = (column: Float64Array): Float64Array => {
    const packed = new Float64Array(buffer, at, column.length);
    packed.set(column);
    at += column.byteLength;
    return packed;
  };
  const packed = {
    series: doubles(series),
    times: doubles(times),
    values: values instanceof Float64Array ? (doubles(values) as Values) : values,
  };
  const packedEnds = new Uint32Array(buffer, at, ends.length);
  packedEnds.set(ends);
  transfer.push(buffer);
  for (const column of [ends, times, values]) if (!Array.isArray(column)) freeChunk(column as Float64Array);
  return { ...packed, ends: packedEnds };
}

/** Frees the columns of a batch from another thread, once it is stored. */
export function freeBatch({ numbers, strings }: PointBatch): void {
  for (const runs of [numbers, strings]) {
    if (runs === undefined) continue;
    for (const column of [runs.series, runs.ends, runs.times]) freeBuffer(column.buffer);
    if (runs.values instanceof Float64Array) freeBuffer(runs.values.buffer);
  }
}
