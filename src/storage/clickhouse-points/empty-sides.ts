// Remembers which series had no points before or after the ranges of recent aggregates. This is a hint: with
// a wrong one, an aggregate reads more rows, and its result is the same.
import { LruCache } from "../../lib/lru-cache.ts";
import { limits } from "../../limits.ts";
import type { SeriesId } from "../points.ts";

interface EmptySide {
  /** The end of the range that had no points on this side. */
  readonly timeMs: number;
  /** By the monotonic clock. */
  readonly seenMs: number;
}

export class EmptySidesOfSeries {
  readonly #before = new LruCache<SeriesId, EmptySide>(limits.clickHouseEmptySidesMax);
  readonly #from = new LruCache<SeriesId, EmptySide>(limits.clickHouseEmptySidesMax);
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether all of the series had no points before `timeMs`. */
  areEmptyBefore(series: readonly SeriesId[], timeMs: number): boolean {
    return series.every((id) => (this.#timeIn(this.#before, id) ?? -Infinity) >= timeMs);
  }

  areEmptyFrom(series: readonly SeriesId[], timeMs: number): boolean {
    return series.every((id) => (this.#timeIn(this.#from, id) ?? Infinity) <= timeMs);
  }

  /** Records whether these series have points before `timeMs`. */
  sawBefore(series: readonly SeriesId[], timeMs: number, isEmpty: (id: SeriesId) => boolean): void {
    for (const id of series) this.#record(this.#before, id, isEmpty(id) ? timeMs : undefined);
  }

  sawFrom(series: readonly SeriesId[], timeMs: number, isEmpty: (id: SeriesId) => boolean): void {
    for (const id of series) this.#record(this.#from, id, isEmpty(id) ? timeMs : undefined);
  }

  #record(side: LruCache<SeriesId, EmptySide>, id: SeriesId, timeMs: number | undefined): void {
    if (timeMs === undefined) side.delete(id);
    else side.set(id, { timeMs, seenMs: this.#monotonicMs() });
  }

  #timeIn(side: LruCache<SeriesId, EmptySide>, id: SeriesId): number | undefined {
    const found = side.get(id);
    if (found === undefined) return undefined;
    return this.#monotonicMs() - found.seenMs > limits.clickHouseEmptySidesMsMax ? undefined : found.timeMs;
  }
}
