// Rows of the table of blocks that long walks have read, in memory and exactly as in the table: an aggregate
// over years looks at thousands of them, and a row that is known costs nanoseconds instead of microseconds.
//
// Of a series one stretch of time is known. Blocks that are written or removed in it are changed here as
// well.
import type { SeriesId } from "../points.ts";
import type { BlockRow } from "./block-table.ts";

/** Rows kept of all series together: 16 MB. */
const rowsMax = 32_768;
/** Shorter walks are left to the database. */
export const longWalk = 128;

/** Every block of a series that begins in [fromMs, toMs), ascending. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: BlockRow[];
}

/** Reads from the database, at most so many. */
type ReadRows = (fromMs: number, most: number) => BlockRow[];

export class KnownRows {
  /** Not more than a few hundred, each longer than a long walk; the one used last is the last one. */
  readonly #stretches = new Map<SeriesId, Stretch>();

  /** What is known from a time on, and the end of it; undefined where nothing is. */
  from(
    series: SeriesId,
    fromMs: number,
  ): { rows: readonly BlockRow[]; at: number; toMs: number } | undefined {
    const known = this.#stretches.get(series);
    if (known === undefined || fromMs < known.fromMs || fromMs >= known.toMs) return undefined;
    this.#keep(series, known);
    return { rows: known.rows, at: placeOf(known.rows, fromMs), toMs: known.toMs };
  }

  /**
   * Reads what a walk over [startMs, endMs) that has come to `fromMs` has still before it, as far as there is
   * room, together with what was known up to there.
   */
  learn(
    series: SeriesId,
    { startMs, fromMs, endMs }: { startMs: number; fromMs: number; endMs: number },
    read: ReadRows,
  ): void {
    const known = this.#stretches.get(series);
    const isNext = known?.toMs === fromMs && known.fromMs <= startMs;
    const before = isNext ? known.rows.slice(placeOf(known.rows, startMs)) : [];
    const room = rowsMax - before.length;
    if (room < longWalk) return;
    const rows = read(fromMs, room);
    const toMs = rows.length < room ? endMs : rows.at(-1)!.firstMs + 1;
    this.#keep(series, { fromMs: isNext ? startMs : fromMs, toMs, rows: [...before, ...rows] });
    this.#forgetBeyond(rowsMax);
  }

  insert(series: SeriesId, row: BlockRow): void {
    this.#change(series, row.firstMs, (rows, at) => rows.splice(at, 0, row));
  }

  remove(series: SeriesId, firstMs: number): void {
    this.#change(series, firstMs, (rows, at) => rows.splice(at, 1));
  }

  clear(): void {
    this.#stretches.clear();
  }

  #change(series: SeriesId, firstMs: number, change: (rows: BlockRow[], at: number) => void): void {
    const known = this.#stretches.get(series);
    if (known === undefined || firstMs < known.fromMs || firstMs >= known.toMs) return;
    change(known.rows, placeOf(known.rows, firstMs));
  }

  #keep(series: SeriesId, stretch: Stretch): void {
    this.#stretches.delete(series);
    this.#stretches.set(series, stretch);
  }

  #forgetBeyond(most: number): void {
    let count = 0;
    for (const { rows } of this.#stretches.values()) count += rows.length;
    for (const [series, { rows }] of this.#stretches) {
      if (count <= most) return;
      this.#stretches.delete(series);
      count -= rows.length;
    }
  }
}

/** Index of the first row at or after the time. */
function placeOf(rows: readonly BlockRow[], timeMs: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.firstMs < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
