// Pages of many small records as columns: the values of each property in arrays, not an object for each
// record.
import type { Position } from "../query/page.ts";

/** The values of one property in a batch of rows. */
export type PropertyColumn =
  /** The same string in all rows; its characters need no escape in JSON. */
  | { readonly kind: "same"; readonly text: string }
  /** Strings that share a prefix and end in an integer. */
  | { readonly kind: "numbered"; readonly beginning: string; readonly values: Float64Array }
  /** Milliseconds since 1970. */
  | { readonly kind: "times"; readonly values: Float64Array }
  /** Numbers; NaN is null where `isNaNAbsent`. */
  | { readonly kind: "doubles"; readonly values: Float64Array; readonly isNaNAbsent?: true };

/** Rows as columns: the values of each property, by its name. */
export interface ColumnBatch {
  readonly count: number;
  readonly columns: Readonly<Record<string, PropertyColumn>>;
}

export interface ColumnPage {
  readonly batches: readonly ColumnBatch[];
  /** The position after which the next page starts; absent on the last page. */
  readonly next?: Position;
}
