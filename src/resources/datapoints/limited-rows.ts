// The rows of a read up to its limit, and the time of the first row after them.
import { freeBuffer } from "../../lib/free-memory.ts";

export type Column = Float64Array | readonly string[];

/**
 * Rows in ascending time. Points have one column, aggregates one for each aggregate; NaN is no value.
 */
export interface Rows<Columns extends Column = Column> {
  readonly times: Float64Array;
  readonly columns: readonly Columns[];
}

/** Reads at least `limit` rows, or all if there are fewer. */
type RowSource<Columns extends Column> = (limit: number) => AsyncGenerator<Rows<Columns>>;

export class LimitedRows<Columns extends Column = Column> {
  readonly #source: RowSource<Columns>;
  readonly #limit: number;
  #isCounted = false;
  #nextMs: number | undefined;

  constructor(limit: number, source: RowSource<Columns>) {
    this.#limit = limit;
    this.#source = source;
  }

  /**
   * The time of the first row after the limit, known after `read` or `count`; undefined when there is none.
   */
  get nextMs(): number | undefined {
    return this.#nextMs;
  }

  /**
   * The first `limit` rows. After `count` the rows before `nextMs`: rows that are written in the meantime do
   * not replace counted ones.
   */
  async *read(): AsyncGenerator<Rows<Columns>> {
    if (this.#limit === 0) return;
    let left = this.#limit;
    for await (const rows of this.#source(this.#isCounted ? Number.POSITIVE_INFINITY : left + 1)) {
      const count = this.#isCounted ? countBefore(rows.times, this.#nextMs) : left;
      if (count < rows.times.length) {
        this.#nextMs = rows.times[count]!;
        if (count > 0) yield firstOf(rows, count);
        return;
      }
      // Count now: the reader may free the rows.
      left -= rows.times.length;
      yield rows;
    }
  }

  /** Reads all rows once, so that `nextMs` is known before the first one is sent. */
  async count(): Promise<void> {
    for await (const rows of this.read()) freeRows(rows);
    this.#isCounted = true;
  }
}

/** Frees the memory of rows that are not used any more. */
export function freeRows({ times, columns }: Rows): void {
  for (const column of [times, ...columns]) if (column instanceof Float64Array) freeBuffer(column.buffer);
}

function countBefore(times: Float64Array, endMs = Number.POSITIVE_INFINITY): number {
  const lastIndex = times.findLastIndex((timeMs) => timeMs < endMs);
  return lastIndex + 1;
}

const firstOf = <Columns extends Column>(
  { times, columns }: Rows<Columns>,
  count: number,
): Rows<Columns> => ({
  times: times.subarray(0, count),
  columns: columns.map(
    (column) =>
      (column instanceof Float64Array ? column.subarray(0, count) : column.slice(0, count)) as Columns,
  ),
});
