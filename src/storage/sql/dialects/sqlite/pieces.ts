// Cuts rows into pieces of a bounded length, because a thread reads each message in one turn of its event
// loop.
import { limits } from "../../../../limits.ts";
import { lengthOfValue } from "../../../../query/length-bound.ts";
import type { Outcome } from "./worker.ts";

/** The rows of a batch in pieces. */
export function* piecesOf(rows: readonly (readonly unknown[])[]): Generator<readonly (readonly unknown[])[]> {
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

/** The rows of an outcome, a piece at a time. */
export class RowPieces {
  readonly #outcome: Outcome;
  #sent = 0;

  constructor(outcome: Outcome) {
    this.#outcome = outcome;
  }

  get hasMore(): boolean {
    return this.#sent < this.#outcome.count;
  }

  next(): Outcome {
    const from = this.#sent;
    this.#sent = this.#endOf(from);
    const { values, count } = this.#outcome;
    if (from === 0 && this.#sent === count) return this.#outcome;
    const piece = values.map((column) => column.slice(from, this.#sent));
    return { ...this.#outcome, count: this.#sent - from, values: piece };
  }

  #endOf(from: number): number {
    const { values, count } = this.#outcome;
    let at = from;
    for (let length = 0; at < count && length < limits.catalogPieceLength; at++)
      for (const column of values) length += lengthOfValue(column[at]);
    return at;
  }
}
