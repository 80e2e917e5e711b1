// The search parameters of the page of suggestions.
import { present, wordIn } from "../../lib/search-values.ts";

export const states = ["OPEN", "ACCEPTED", "REJECTED"] as const;
export const kinds = ["TIMESERIES", "FILE"] as const;
export const scores = ["0", "1", "2", "3"] as const;

export interface SuggestionsSearch {
  /** Open ones when absent. */
  readonly state?: (typeof states)[number];
  readonly kind?: (typeof kinds)[number];
  /** The greatest score. */
  readonly score?: (typeof scores)[number];
}

export const suggestionsSearch = (raw: Record<string, unknown>): SuggestionsSearch =>
  present({
    state: wordIn(raw["state"], states),
    kind: wordIn(raw["kind"], kinds),
    score: wordIn(raw["score"] === undefined ? undefined : String(raw["score"]), scores),
  });
