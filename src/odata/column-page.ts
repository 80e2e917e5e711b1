// Pages of many small records as columns: the values of each property in arrays, not an object for each record.
import type { Position } from "../query/page.ts";

/** The values of one property in a run of rows. */
export type PropertyColumn =
  /** One text, of characters that JSON has as they are. */
  | { readonly kind: "same"; readonly text: string }
  /** Texts of one beginning, each with a whole number behind it. */
  | { readonly kind: "numbered"; readonly beginning: string; readonly values: Float64Array }
  /** Milliseconds since 1970. */
  | { readonly kind: "times"; readonly values: Float64Array }
  /** Numbers; NaN is null where `isNaNAbsent`. */
  | { readonly kind: "doubles"; readonly values: Float64Array; readonly isNaNAbsent?: true };

/** So many rows, the cells of each property by its name. */
export interface ColumnBatch {
  readonly count: number;
  readonly columns: Readonly<Record<string, PropertyColumn>>;
}

export interface ColumnPage {
  readonly batches: readonly ColumnBatch[];
  /** Where the next page starts; absent when this page ends the collection. */
  readonly next?: Position;
}
