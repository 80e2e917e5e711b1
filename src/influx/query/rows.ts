// The rows of one series of a result.
import type { ResultCell } from "./conditions.ts";

/** NaN in a Float64Array is no value. */
export type ResultColumn = Float64Array | readonly ResultCell[];

export interface ResultRows {
  /** Absent in the results of SHOW, whose rows have no time. */
  readonly times?: Float64Array;
  readonly columns: readonly ResultColumn[];
}

export interface ResultSeries {
  readonly name: string | undefined;
  /** Absent without GROUP BY of tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The zone of times that are written as text. */
  readonly timeZone?: string;
  /** With `time` first if the rows have times. */
  readonly columns: readonly string[];
  /** A series without rows is not in the result. */
  readonly rows: AsyncIterable<ResultRows>;
}

export const rowCount = ({ times, columns }: ResultRows): number => times?.length ?? columns[0]?.length ?? 0;

export const cellOf = (column: ResultColumn, row: number): ResultCell => {
  const value = column[row]!;
  return typeof value === "number" && !Number.isFinite(value) ? null : value;
};

/** The rows of a batch from `from` up to `to`. */
export const slice = ({ times, columns }: ResultRows, from: number, to: number): ResultRows => ({
  ...(times && { times: times.subarray(from, to) }),
  columns: columns.map((column) =>
    column instanceof Float64Array ? column.subarray(from, to) : column.slice(from, to),
  ),
});

/** Skips `offset` rows, and ends after `limit`. */
export async function* windowed(
  rows: AsyncIterable<ResultRows>,
  {
    limit = Number.POSITIVE_INFINITY,
    offset,
  }: { readonly limit: number | undefined; readonly offset: number },
): AsyncGenerator<ResultRows> {
  let [skip, left] = [offset, limit];
  for await (const batch of rows) {
    const count = rowCount(batch);
    const [from, to] = [Math.min(skip, count), Math.min(count, skip + left)];
    skip -= from;
    left -= to - from;
    if (to > from) yield to - from === count ? batch : slice(batch, from, to);
    if (left === 0) return;
  }
}
