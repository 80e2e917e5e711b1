// Turns rows of buckets into a grid without holes: an empty bucket becomes a row of NaN, or is filled.
import type { Samples } from "./window-search.ts";

export const gapFillings = ["ffill", "linearInterpolation"] as const;
export type GapFilling = (typeof gapFillings)[number];

export interface Grid {
  readonly bucketMs: number;
  /** How the gaps of each column are filled; absent: they stay. */
  readonly fillings: readonly (GapFilling | undefined)[];
  /** At most this many empty buckets in a row are filled. */
  readonly filledMax: number;
}

/** Takes rows in ascending time, and returns them with the rows between them. */
export class GridRows {
  readonly #grid: Grid;
  #times = new Float64Array(1_024);
  #columns: Float64Array[];
  /** Rows that wait because a later value can fill a gap in them. */
  #size = 0;
  /** For each column: the last value, and the number of rows without a value since. */
  readonly #last: Float64Array;
  readonly #missing: Float64Array;
  #lastMs = Number.NaN;

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#columns = grid.fillings.map(() => new Float64Array(1_024));
    this.#last = new Float64Array(grid.fillings.length).fill(Number.NaN);
    this.#missing = new Float64Array(grid.fillings.length);
  }

  /** The rows up to the last one that no later row can change. */
  add({ times, columns }: Samples): Samples {
    const empty = columns.map(() => Number.NaN);
    const { bucketMs, filledMax } = this.#grid;
    for (let row = 0; row < times.length; row += 1) {
      const timeMs = times[row]!;
      // A gap that is already too long does not need another row.
      const gap = Math.min((timeMs - this.#lastMs) / bucketMs - 1, filledMax + 1);
      for (let i = 1; i <= gap; i += 1) this.#push(this.#lastMs + i * bucketMs, empty);
      this.#push(
        timeMs,
        columns.map((column) => column[row]!),
      );
      this.#lastMs = timeMs;
    }
    return this.#take(this.#size - this.#open());
  }

  /** The remaining rows, at the end of the samples. */
  end(): Samples {
    return this.#take(this.#size);
  }

  #push(timeMs: number, values: readonly number[]): void {
    if (this.#size === this.#times.length) this.#grow();
    this.#times[this.#size] = timeMs;
    for (let c = 0; c < values.length; c += 1) this.#columns[c]![this.#size] = this.#filled(c, values[c]!);
    this.#size += 1;
  }

  /**
   * Adds the value of a column in the next row. A value at the end of a gap also fills the rows before it.
   */
  #filled(c: number, value: number): number {
    const { fillings, filledMax } = this.#grid;
    const missing = this.#missing[c]!;
    if (Number.isNaN(value)) {
      this.#missing[c] = missing + 1;
      return fillings[c] === "ffill" && missing < filledMax ? this.#last[c]! : Number.NaN;
    }
    const isLine = fillings[c] === "linearInterpolation" && missing <= filledMax;
    if (isLine && !Number.isNaN(this.#last[c]!))
      for (let i = 1; i <= missing; i += 1) {
        const share = i / (missing + 1);
        this.#columns[c]![this.#size - 1 - missing + i] = this.#last[c]! * (1 - share) + value * share;
      }
    this.#last[c] = value;
    this.#missing[c] = 0;
    return value;
  }

  /** The number of last rows that the next value of a column can still fill. */
  #open(): number {
    const { fillings, filledMax } = this.#grid;
    let open = 0;
    for (let c = 0; c < fillings.length; c += 1)
      if (
        fillings[c] === "linearInterpolation" &&
        this.#missing[c]! <= filledMax &&
        !Number.isNaN(this.#last[c]!)
      )
        open = Math.max(open, this.#missing[c]!);
    return open;
  }

  #grow(): void {
    const larger = (from: Float64Array) => {
      const to = new Float64Array(2 * from.length);
      to.set(from);
      return to;
    };
    this.#times = larger(this.#times);
    this.#columns = this.#columns.map(larger);
  }

  #take(count: number): Samples {
    const cut = (column: Float64Array) => {
      const taken = column.slice(0, count);
      column.copyWithin(0, count, this.#size);
      return taken;
    };
    const taken = { times: cut(this.#times), columns: this.#columns.map(cut) };
    this.#size -= count;
    return taken;
  }
}
