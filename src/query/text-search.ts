// A search for words in names and descriptions, best matches first (docs/reference/common.md#search).
import type { Filter } from "./filter.ts";
import type { LengthBound } from "./length-bound.ts";
import type { OrderBy } from "./page.ts";

export interface TextSearch {
  readonly filter: Filter;
  /** Words to be found in the name, in the description, in either of them. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly query?: string | undefined;
  /** Records in whose name the words of `query` are found come before all others. */
  readonly boostName: boolean;
  /** Instead of the ranking. */
  readonly sort?: OrderBy | undefined;
  readonly limit: number;
  readonly offset: number;
  /** Ends the search before `limit` when the best records are longer than this together. */
  readonly bound?: LengthBound;
}
