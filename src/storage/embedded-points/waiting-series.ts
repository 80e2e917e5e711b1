// The series whose heads the running checkpoint has not emptied yet, in ascending order.
//
// They are a binary heap, the smallest first. To sort half a million ids takes 90 ms, during which the shard
// would serve no read; to make a heap of them takes 1 to 8 ms, and each series then 0.1 to 0.4 us.
import type { SeriesId } from "../points.ts";

export class WaitingSeries {
  /** A million series as an array would take three times the memory. */
  #heap: Float64Array = new Float64Array();
  #count = 0;
  readonly #putBack: SeriesId[] = [];

  get isEmpty(): boolean {
    return this.#count === 0 && this.#putBack.length === 0;
  }

  /** The series, in any order, replace those that are left. Changes the array. */
  start(series: Float64Array): void {
    this.#heap = series;
    this.#count = series.length;
    for (let at = (this.#count >>> 1) - 1; at >= 0; at--) this.#moveDown(at, series[at]!);
  }

  /** Takes the smallest one; those that were put back come first. */
  next(): SeriesId | undefined {
    if (this.#putBack.length > 0) return this.#putBack.pop();
    if (this.#count === 0) return undefined;
    const first = this.#heap[0]!;
    this.#count -= 1;
    if (this.#count > 0) this.#moveDown(0, this.#heap[this.#count]!);
    else this.#heap = new Float64Array();
    return first;
  }

  /** Takes all that are left, in any order. */
  takeAll(): SeriesId[] {
    const all = [...this.#putBack.splice(0), ...this.#heap.subarray(0, this.#count)];
    this.start(new Float64Array());
    return all;
  }

  putBack(series: SeriesId): void {
    this.#putBack.push(series);
  }

  /** Puts the series at this place of the heap, or, while one below is smaller, moves that one up. */
  #moveDown(place: number, series: SeriesId): void {
    const [heap, count] = [this.#heap, this.#count];
    let at = place;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= count) break;
      if (below + 1 < count && heap[below + 1]! < heap[below]!) below += 1;
      if (heap[below]! >= series) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = series;
  }
}
