// Cuts rows into chunks of bounded length, because a thread reads each message in one turn of its event loop.
import { limits } from "../../../../limits.ts";
import { lengthOfValue } from "../../../../query/length-bound.ts";

export interface StatementResult {
  readonly columns: readonly string[];
  /** How many rows were found; their values by columns, because a list a row would cost more than they do. */
  readonly count: number;
  readonly values: readonly (readonly unknown[])[];
  readonly changes: number;
  /** With `within`: how long the rows are together, and whether there are more that were not read. */
  readonly read?: { readonly length: number; readonly isCut: boolean };
}

/** Finds the ends of chunks while the caller counts the lengths of rows. */
export class ChunkEnds {
  readonly ends: number[] = [];
  #next = limits.catalogPieceLength;

  /** Call after each row: `count` rows are `length` characters long together. */
  count(count: number, length: number): void {
    if (length < this.#next) return;
    this.ends.push(count);
    this.#next = length + limits.catalogPieceLength;
  }
}

/** The ends of the chunks of a result whose rows were not counted. */
export function chunkEndsOf({ values, count }: StatementResult): readonly number[] {
  const chunks = new ChunkEnds();
  let length = 0;
  for (let at = 0; at < count; at++) {
    for (const column of values) length += lengthOfValue(column[at]);
    chunks.count(at + 1, length);
  }
  return chunks.ends;
}

/** The rows of a result, one chunk at a time. */
export class RowChunks {
  readonly #outcome: StatementResult;
  readonly #ends: readonly number[];
  #chunks = 0;
  #sent = 0;

  constructor(outcome: StatementResult, ends: readonly number[]) {
    this.#outcome = outcome;
    this.#ends = ends;
  }

  get hasMore(): boolean {
    return this.#sent < this.#outcome.count;
  }

  next(): StatementResult {
    const { values, count } = this.#outcome;
    const from = this.#sent;
    this.#sent = this.#ends[this.#chunks++] ?? count;
    if (from === 0 && this.#sent === count) return this.#outcome;
    const chunk = values.map((column) => column.slice(from, this.#sent));
    return { ...this.#outcome, count: this.#sent - from, values: chunk };
  }
}
