// Numbers of versions of series, in memory that all threads share: another thread may use a point that it has
// read while the version of its series is the same.
import type { SeriesId } from "../points.ts";
import { shardOf } from "../shard-of.ts";
import type { Change } from "./change.ts";

/** Several series share a number: a change of one makes points of all of them out of date. */
const versions = 2 ** 16;

export class SeriesVersions {
  readonly #cells: Int32Array;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  static memory(): Int32Array {
    return new Int32Array(new SharedArrayBuffer(versions * Int32Array.BYTES_PER_ELEMENT));
  }

  /** Read it before you read a point of the series. */
  of(series: SeriesId): number {
    return Atomics.load(this.#cells, shardOf(series, versions));
  }

  /** Call it when a change is stored, before its writer knows. */
  changed(change: Change): void {
    if (change.kind === "delete") this.#changed([change.series]);
    else {
      if (change.batch.numbers) this.#changed(change.batch.numbers.series);
      if (change.batch.strings) this.#changed(change.batch.strings.series);
    }
  }

  #changed(series: ArrayLike<SeriesId>): void {
    const cells = this.#cells;
    for (let at = 0; at < series.length; at += 1) Atomics.add(cells, shardOf(series[at]!, versions), 1);
  }
}
