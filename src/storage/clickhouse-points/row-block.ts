// The points of several batches as one block of rows, in the order of their series.
//
// ClickHouse stores rows in order of series and time. Of rows that come in that order, it sorts none.
import type { BufferPool } from "../../lib/buffer-pool.ts";
import type { PointBatch, PointRuns } from "../points.ts";
import { BlockWriter, bytesOfBlock, encodeStrings } from "./native-format.ts";

const pointsIn = (runs: PointRuns<unknown> | undefined): number => runs?.ends.at(-1) ?? 0;

/** The points of a batch. */
export const rowsOf = ({ numbers, strings }: PointBatch): number => pointsIn(numbers) + pointsIn(strings);

/** The points from index `from` up to `to`. */
interface Run {
  readonly series: number;
  readonly from: number;
  readonly to: number;
  readonly times: Float64Array;
  readonly values: Float64Array | readonly string[];
}

export class RowBlock {
  readonly hasNumbers: boolean;
  readonly hasStrings: boolean;
  readonly #runs: readonly Run[];
  readonly #rows: number;
  readonly #versionStarts: readonly number[];

  constructor(batches: readonly PointBatch[]) {
    this.#runs = runsInOrder(batches);
    this.#rows = this.#runs.reduce((sum, { from, to }) => sum + to - from, 0);
    this.hasNumbers = batches.some(({ numbers }) => pointsIn(numbers) > 0);
    this.hasStrings = batches.some(({ strings }) => pointsIn(strings) > 0);
    this.#versionStarts = versionStartsOf(this.#runs);
  }

  /** How many versions `encode` needs. */
  get versionCount(): number {
    return this.#versionStarts.length;
  }

  /** The caller puts the buffer back into the pool. */
  encode(versions: Float64Array, pool: BufferPool): Buffer {
    const strings = this.hasStrings ? encodeStrings(this.#strings()) : undefined;
    const integers = ["series", "t", "version"] as const;
    const columns = integers.length + (this.hasNumbers ? 1 : 0) + (strings ? 1 : 0);
    const bytes = bytesOfBlock({ columns, rows: this.#rows }) + (strings?.length ?? 0);
    const writer = new BlockWriter(pool.take(bytes), { columns, rows: this.#rows });
    writer.begin("series", "UInt64");
    for (const { series, from, to } of this.#runs) writer.repeat(series, to - from);
    writer.begin("t", "Int64");
    for (const { times, from, to } of this.#runs) writer.integers(times, from, to);
    writer.begin("version", "UInt64");
    for (const [at, start] of this.#versionStarts.entries())
      writer.repeat(versions[at]!, (this.#versionStarts[at + 1] ?? this.#rows) - start);
    if (this.hasNumbers) {
      writer.begin("v", "Float64");
      for (const { values, from, to } of this.#runs)
        if (values instanceof Float64Array) writer.floats(values, from, to);
        else writer.repeat(0, to - from);
    }
    if (strings) {
      writer.begin("s", "String");
      writer.bytes(strings);
    }
    return writer.block;
  }

  #strings(): string[] {
    const strings: string[] = [];
    for (const { values, from, to } of this.#runs)
      for (let at = from; at < to; at++) strings.push(values instanceof Float64Array ? "" : values[at]!);
    return strings;
  }
}

/** All runs in the order of their series, those of one series in the order of the batches. */
function runsInOrder(batches: readonly PointBatch[]): Run[] {
  const runs: Run[] = [];
  for (const { numbers, strings } of batches)
    for (const some of [numbers, strings]) {
      if (some === undefined) continue;
      const { series, ends, times, values } = some;
      let from = 0;
      for (let run = 0; run < ends.length; run++) {
        const to = ends[run]!;
        runs.push({ series: series[run]!, from, to, times, values });
        from = to;
      }
    }
  // The sort of arrays is stable. It takes little time for batches that name their series in ascending order.
  return runs.sort((one, other) => one.series - other.series);
}

/**
 * The first row of each version. Rows in ascending order of series and time share a version, because their
 * keys differ. Any other row begins the next version. So of equal keys the later row wins, and the column
 * compresses well.
 */
function versionStartsOf(runs: readonly Run[]): number[] {
  const starts = [0];
  let row = 0;
  let [lastSeries, lastMs] = [-1, 0];
  for (const { series, from, to, times } of runs) {
    if (series !== lastSeries) lastMs = -Infinity;
    lastSeries = series;
    for (let at = from; at < to; at++, row++) {
      const timeMs = times[at]!;
      if (timeMs <= lastMs) starts.push(row);
      lastMs = timeMs;
    }
  }
  return starts;
}
