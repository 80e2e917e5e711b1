// The newest point of the series that are asked for it, kept on the main thread: asking a shard costs more
// than everything else that such a query takes.
import { LruCache } from "../../lib/lru-cache.ts";
import type { PointRuns, SeriesId } from "../points.ts";
import type { Change } from "./change.ts";
import type { FoundPoint } from "./series-reader.ts";

/** Series surely known, and at most twice as many: about 10 MB. */
const knownMax = 50_000;
/** Longer texts are not kept. */
const textLengthMax = 256;

export class LastPoints {
  readonly #known = new LruCache<SeriesId, FoundPoint>(knownMax);
  /** What each series that is being asked for was told to wait for; a change takes it away. */
  readonly #asking = new Map<SeriesId, object>();
  #hasAny = false;

  /** The last point before `beforeMs`, if it is known. */
  find(series: SeriesId, beforeMs: number): FoundPoint | undefined {
    const last = this.#known.get(series);
    return last !== undefined && last.timeMs < beforeMs ? last : undefined;
  }

  /** Before a shard is asked; what it answers may be learned with the token if nothing came in between. */
  ask(series: SeriesId): object {
    const token = {};
    this.#asking.set(series, token);
    this.#hasAny = true;
    return token;
  }

  /** `last`: the newest point of the series as its shard found it, if it told. */
  learn(series: SeriesId, token: object, last: FoundPoint | undefined): void {
    if (this.#asking.get(series) !== token) return;
    this.#asking.delete(series);
    if (last !== undefined && isShort(last.value)) this.#known.set(series, last);
  }

  /** Every change, in order, when it is handed to the shards. */
  note(change: Change): void {
    if (!this.#hasAny) return;
    if (change.kind === "erase") this.#forget(change.series);
    else {
      this.#noteRuns(change.batch.numbers);
      this.#noteRuns(change.batch.strings);
    }
  }

  #noteRuns(runs: PointRuns<Float64Array | readonly string[]> | undefined): void {
    if (runs === undefined) return;
    const { series, ends, times, values } = runs;
    for (let run = 0, from = 0; run < series.length; from = ends[run++]!) {
      const one = series[run]!;
      this.#asking.delete(one);
      const known = this.#known.get(one);
      if (known === undefined) continue;
      let newest = -1;
      let newestMs = known.timeMs;
      for (let index = from; index < ends[run]!; index += 1)
        if (times[index]! >= newestMs) {
          newestMs = times[index]!;
          newest = index;
        }
      if (newest < 0) continue;
      const value = values[newest]!;
      if (isShort(value)) this.#known.set(one, { timeMs: newestMs, value });
      else this.#known.delete(one);
    }
  }

  #forget(series: SeriesId): void {
    this.#asking.delete(series);
    this.#known.delete(series);
  }
}

const isShort = (value: number | string): boolean =>
  typeof value === "number" || value.length <= textLengthMax;
