// The search parameters of the list of transformations and of the page of one.
import { idsIn, present, textIn } from "../../lib/search-values.ts";

export interface TransformationsSearch {
  /** A part of the names or external ids to show. */
  readonly query?: string;
}

export const transformationsSearch = (raw: Record<string, unknown>): TransformationsSearch =>
  present({ query: textIn(raw["query"]) }) as TransformationsSearch;

export interface TransformationSearch {
  /** The run whose refused rows are open. */
  readonly run?: number;
}

export const transformationSearch = (raw: Record<string, unknown>): TransformationSearch =>
  present({ run: idsIn(raw["run"])?.[0] }) as TransformationSearch;
