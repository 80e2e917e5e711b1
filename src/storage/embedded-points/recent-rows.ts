// The rows of blocks that were read recently, by series. A read of a series whose rows are here needs no
// statement to find its blocks.
//
// The rows of a series and kind are one run. The first read makes one of a few rows. A later read that needs
// other rows makes one of all rows of the series or, if they are too many, again of a few where it begins.
import { SizedCache } from "../../lib/sized-cache.ts";
import { type BlockRow, type FoundRow, type PointSetKey, rowOf } from "./block-row.ts";

/** Rows in memory, about 6 MB with four summaries each: those of 33 million points. */
const rowsMax = 4_096;
/** Rows of one run: those of two million points. */
export const runRowsMax = 256;
/** For each run, besides its rows. */
const runSize = 1;

interface RunBounds {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether the series has more rows than a run. False until they were counted. */
  readonly isPart: boolean;
}

/** All rows of one key whose blocks start in [fromMs, toMs), in order. Blocks do not overlap. */
export class RowRun implements RunBounds {
  readonly fromMs: number;
  readonly toMs: number;
  readonly isPart: boolean;
  readonly #key: PointSetKey;
  readonly #found: readonly FoundRow[];
  /** The rows that were read, with the same indexes. */
  readonly #verified: (BlockRow | undefined)[] = [];

  constructor(key: PointSetKey, found: readonly FoundRow[], { fromMs, toMs, isPart }: RunBounds) {
    this.#key = key;
    this.#found = found;
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.isPart = isPart;
  }

  get length(): number {
    return this.#found.length;
  }

  /** The row, verified when it is read for the first time. Throws `DamageFound`. */
  at(index: number): BlockRow | undefined {
    const found = this.#found[index];
    if (found === undefined) return undefined;
    this.#verified[index] ??= rowOf(this.#key, found);
    return this.#verified[index];
  }

  /** The start of a block; Infinity after the last one. */
  startOf(index: number): number {
    return this.#found[index]?.firstMs ?? Infinity;
  }

  /** Index of the first row that starts at or after `atMs`. */
  firstFrom(atMs: number): number {
    let low = 0;
    let high = this.#found.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#found[middle]!.firstMs < atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether the first block that starts at or after `fromMs` can be in the run. */
  has(fromMs: number): boolean {
    return fromMs >= this.fromMs && fromMs < this.toMs;
  }

  /** Whether the run has the last block that starts before `atMs`, or there is none. */
  beginsBefore(atMs: number): boolean {
    return atMs <= this.toMs && (this.fromMs === -Infinity || this.startOf(0) < atMs);
  }
}

export class RecentRows {
  readonly #runs = new SizedCache<string, RowRun>(rowsMax);

  of({ series, kind }: PointSetKey): RowRun | undefined {
    return this.#runs.get(`${kind} ${series}`);
  }

  set({ series, kind }: PointSetKey, run: RowRun): void {
    this.#runs.set(`${kind} ${series}`, run, runSize + run.length);
  }

  /** Call when a block of the key is added or removed. */
  delete({ series, kind }: PointSetKey): void {
    this.#runs.delete(`${kind} ${series}`);
  }

  /** Call after a rollback. */
  clear(): void {
    this.#runs.clear();
  }
}
