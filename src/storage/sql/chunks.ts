// Cuts the rows of a change into chunks of bounded length, each of which is encoded in a few milliseconds.
import { limits } from "../../limits.ts";
import { lengthOfValue } from "../../query/length-bound.ts";

/** The rows of a batch in chunks. */
export function* chunksOf<Row extends readonly unknown[]>(rows: readonly Row[]): Generator<readonly Row[]> {
  let from = 0;
  let length = 0;
  for (const [at, row] of rows.entries()) {
    for (const value of row) length += lengthOfValue(value);
    if (length < limits.catalogPieceLength && at < rows.length - 1) continue;
    yield rows.slice(from, at + 1);
    from = at + 1;
    length = 0;
  }
}
