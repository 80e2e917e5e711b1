// Numbers of versions of series, in memory that all threads share: another thread may use a point that it has
// read while the version of its series is the same.
import { threadId } from "node:worker_threads";
import { invariant } from "../../lib/invariant.ts";
import type { SeriesId } from "../points.ts";
import { shardOf } from "../shard-of.ts";
import type { Change } from "./change.ts";

/** Several series share a number: a change of one makes points of all of them out of date. */
const versions = 2 ** 16;
/** The cell after them, which no series has. */
const barrier = versions;
/** The cell with the number of the thread that made the memory. */
const owner = versions + 1;
const cellCount = versions + 2;

export class SeriesVersions {
  readonly #cells: Int32Array;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  static memory(): Int32Array {
    const cells = new Int32Array(new SharedArrayBuffer(cellCount * Int32Array.BYTES_PER_ELEMENT));
    cells[owner] = threadId;
    return cells;
  }

  /** Read it before you read a point of the series. */
  of(series: SeriesId): number {
    return Atomics.load(this.#cells, shardOf(series, versions));
  }

  /**
   * Call it when a change is stored, before its writer knows, and only in the thread that made the memory, as
   * two threads would lose counts of each other. This thread adds without `Atomics`, each call of which takes
   * a hundred times as long as an addition. The two calls order these additions between what the thread has
   * done before and what it does after them, as others see it.
   */
  changed(change: Change): void {
    invariant(this.#cells[owner] === threadId, "only the thread that made the versions counts them");
    Atomics.add(this.#cells, barrier, 1);
    if (change.kind === "delete") this.#changed([change.series]);
    else {
      if (change.batch.numbers) this.#changed(change.batch.numbers.series);
      if (change.batch.strings) this.#changed(change.batch.strings.series);
    }
    Atomics.add(this.#cells, barrier, 1);
  }

  #changed(series: ArrayLike<SeriesId>): void {
    const cells = this.#cells;
    for (let at = 0; at < series.length; at += 1) cells[shardOf(series[at]!, versions)]! += 1;
  }
}
