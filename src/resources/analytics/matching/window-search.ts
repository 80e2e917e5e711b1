// Compares a window with every window of a stream of samples, chunk by chunk.
import { BestWindows, type FoundWindow } from "./best-windows.ts";
import { type DistanceMode, SlidingDistance } from "./sliding-distance.ts";

/** Samples in ascending time; a row in which a column is NaN is a gap. */
export interface Samples {
  readonly times: Float64Array;
  readonly columns: readonly Float64Array[];
}

export interface WindowQuery {
  /** The window to search for, by column. All columns have the same length. */
  readonly window: readonly Float64Array[];
  readonly mode: DistanceMode;
  readonly count: number;
}

/** Values beyond it count as gaps: their squares would overflow. */
const valueMax = 1e100;
/** Samples compared by the direct formula between two yields. */
const samplesPerStep = 100_000;

/**
 * The distance of several columns is the root of the sum of their squared distances. A window has no gap in
 * it. All methods are generators that yield after a few milliseconds.
 */
export class WindowSearch {
  readonly #length: number;
  readonly #distances: readonly SlidingDistance[];
  readonly #best: BestWindows;
  readonly #windowsMax: number;
  readonly #times: Float64Array;
  readonly #columns: readonly Float64Array[];
  /** Samples without a gap up to each sample of the chunk. */
  readonly #unbroken: Uint32Array;
  readonly #squared: Float64Array;
  readonly #errors: Float64Array;
  #size = 0;
  /** Position of the first sample of the chunk. */
  #position = 0;

  constructor({ window, mode, count }: WindowQuery) {
    this.#length = window[0]!.length;
    this.#distances = window.map((column) => new SlidingDistance(column, mode));
    this.#best = new BestWindows({ length: this.#length, count });
    this.#windowsMax = this.#distances[0]!.windowsMax;
    const room = this.#windowsMax + this.#length - 1;
    this.#times = new Float64Array(room);
    this.#columns = window.map(() => new Float64Array(room));
    this.#unbroken = new Uint32Array(room);
    this.#squared = new Float64Array(this.#windowsMax);
    this.#errors = new Float64Array(this.#windowsMax);
  }

  *add(samples: Samples): Generator<number, void> {
    for (let from = 0; from < samples.times.length; ) {
      const to = Math.min(samples.times.length, from + this.#times.length - this.#size);
      this.#take(samples, from, to);
      from = to;
      if (this.#size === this.#times.length) yield* this.#compare();
      yield 0;
    }
  }

  /** The best windows of all samples. No samples may follow. */
  *best(): Generator<number, FoundWindow[]> {
    if (this.#size >= this.#length) yield* this.#compare();
    return yield* this.#best.best();
  }

  /** A gap takes one sample, with the value before it, and ends the run of samples without a gap. */
  #take({ times, columns }: Samples, from: number, to: number): void {
    this.#times.set(times.subarray(from, to), this.#size);
    for (let i = from, at = this.#size; i < to; i += 1, at += 1) {
      let isGap = false;
      for (const column of columns) if (!(Math.abs(column[i]!) <= valueMax)) isGap = true;
      const before = at === 0 ? 0 : this.#unbroken[at - 1]!;
      this.#unbroken[at] = isGap ? 0 : Math.min(before + 1, this.#length);
      for (let c = 0; c < columns.length; c += 1) {
        const own = this.#columns[c]!;
        own[at] = isGap ? (at === 0 ? 0 : own[at - 1]!) : columns[c]![i]!;
      }
    }
    this.#size += to - from;
  }

  /** Keeps the samples of windows that are not complete yet. */
  *#compare(): Generator<number, void> {
    const windows = this.#size - this.#length + 1;
    this.#squared.fill(0);
    this.#errors.fill(0);
    const into = { squared: this.#squared, errors: this.#errors };
    for (const [c, distance] of this.#distances.entries())
      yield* distance.add(this.#columns[c]!, windows, into);
    yield* this.#choose(windows);
    for (const kept of [this.#times, this.#unbroken, ...this.#columns])
      kept.copyWithin(0, windows, this.#size);
    this.#size -= windows;
    this.#position += windows;
  }

  /** Computes distances by the direct formula where the rounding error could be larger. */
  *#choose(windows: number): Generator<number, void> {
    let compared = 0;
    for (let i = 0; i < windows; i += 1) {
      const last = i + this.#length - 1;
      if (this.#unbroken[last]! < this.#length) continue;
      let squared = Math.max(0, this.#squared[i]!);
      if (this.#errors[i] === Number.POSITIVE_INFINITY) {
        squared = 0;
        for (const [c, distance] of this.#distances.entries())
          squared += distance.direct(this.#columns[c]!, i);
        compared += this.#length * this.#distances.length;
      }
      if (squared < this.#best.threshold)
        this.#best.add(this.#position + i, {
          firstMs: this.#times[i]!,
          lastMs: this.#times[last]!,
          squared,
        });
      if (compared < samplesPerStep) continue;
      compared = 0;
      yield 0;
    }
  }
}
