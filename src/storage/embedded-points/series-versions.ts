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
    if (change.kind === "delete") this.#changed(change.series);
    else {
      for (const id of change.batch.numbers?.series ?? []) this.#changed(id);
      for (const id of change.batch.strings?.series ?? []) this.#changed(id);
    }
  }

  #changed(series: SeriesId): void {
    Atomics.add(this.#cells, shardOf(series, versions), 1);
  }
}
