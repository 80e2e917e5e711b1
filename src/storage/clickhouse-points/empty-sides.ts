// Remembers which series had no points before or after the ranges of recent aggregates. It is a guess: an
// aggregate that reads beyond its range on the strength of it is right in any case. If points have been
// written there since, the aggregate only reads more rows.
import { LruCache } from "../../lib/lru-cache.ts";
import { limits } from "../../limits.ts";
import type { SeriesId } from "../points.ts";

interface EmptySides {
  /** No points were before this time. */
  readonly beforeMs: number;
  /** No points were at or after this time. */
  readonly fromMs: number;
  /** By the monotonic clock. */
  readonly seenMs: number;
}

const unknown: EmptySides = { beforeMs: -Infinity, fromMs: Infinity, seenMs: 0 };

export class EmptySidesOfSeries {
  readonly #known = new LruCache<SeriesId, EmptySides>(limits.clickHouseEmptySidesMax);
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether all of the series had no points before `timeMs`. */
  areEmptyBefore(series: readonly SeriesId[], timeMs: number): boolean {
    return series.every((id) => this.#of(id).beforeMs >= timeMs);
  }

  areEmptyFrom(series: readonly SeriesId[], timeMs: number): boolean {
    return series.every((id) => this.#of(id).fromMs <= timeMs);
  }

  /** Records whether these series have points before `timeMs`. */
  sawBefore(series: readonly SeriesId[], timeMs: number, isEmpty: (id: SeriesId) => boolean): void {
    for (const id of series) this.#set(id, { beforeMs: isEmpty(id) ? timeMs : unknown.beforeMs });
  }

  sawFrom(series: readonly SeriesId[], timeMs: number, isEmpty: (id: SeriesId) => boolean): void {
    for (const id of series) this.#set(id, { fromMs: isEmpty(id) ? timeMs : unknown.fromMs });
  }

  #set(id: SeriesId, side: Partial<EmptySides>): void {
    this.#known.set(id, { ...this.#of(id), ...side, seenMs: this.#monotonicMs() });
  }

  #of(id: SeriesId): EmptySides {
    const found = this.#known.get(id);
    const isOld = found && this.#monotonicMs() - found.seenMs > limits.clickHouseEmptySidesMsMax;
    return found === undefined || isOld ? unknown : found;
  }
}
