// Pages: a stable order, a keyset position in it, and the part of a collection between two positions.
import type { LengthBound } from "./length-bound.ts";

export interface OrderBy {
  readonly field: string;
  readonly direction: "ascending" | "descending";
}

/** The order of collections that have none of their own. */
export const byId: readonly OrderBy[] = [{ field: "id", direction: "ascending" }];

/** The values of the order's fields at one record, in the order's sequence. The last field is unique. */
export type Position = readonly (string | number)[];

export interface PageQuery {
  readonly limit: number;
  /** Only records after this position. */
  readonly after?: Position;
  /** Only records before this position: the `limit` records nearest to it, in the stated order. */
  readonly before?: Position;
  /** Only records up to and including this position: the end of a division (see `Reader.divide`). */
  readonly until?: Position;
  /** Ends the page before `limit` when its records are longer than this together. */
  readonly bound?: LengthBound;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page starts; absent when this page ends the collection. */
  readonly next?: Position;
  /** Where the page before ends; absent when this page begins the collection. */
  readonly previous?: Position;
}
