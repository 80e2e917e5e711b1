// The search parameters of the page of operations.
import { present, wordIn } from "../../lib/search-values.ts";

export interface OperationsSearch {
  /** The state of the server when absent. */
  readonly tab?: "retention";
}

export const operationsSearch = (raw: Record<string, unknown>): OperationsSearch =>
  present({ tab: wordIn(raw["tab"], ["retention"] as const) });
