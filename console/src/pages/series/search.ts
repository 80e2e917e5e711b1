// The search parameters of the pages of series.
import { idsIn, present, textIn, wordIn } from "../../lib/search-values.ts";

export const seriesKinds = ["numbers", "steps", "text"] as const;
export type SeriesKind = (typeof seriesKinds)[number];

export interface SeriesSearch {
  /** Words of the name or the description. */
  readonly query?: string;
  readonly unit?: string;
  readonly kind?: SeriesKind;
  /** Assets; series of their subtrees. */
  readonly assets?: readonly number[];
}

export const seriesSearch = (raw: Record<string, unknown>): SeriesSearch =>
  present({
    query: textIn(raw["query"]),
    unit: textIn(raw["unit"]),
    kind: wordIn(raw["kind"], seriesKinds),
    assets: idsIn(raw["assets"]),
  });

export const chartRanges = ["1h", "1d", "7d", "30d", "365d"] as const;
export type ChartRange = (typeof chartRanges)[number];

export interface SeriesRecordSearch {
  /** The length of the chart, back from now; a day when absent. */
  readonly range?: ChartRange;
}

export const seriesRecordSearch = (raw: Record<string, unknown>): SeriesRecordSearch =>
  present({ range: wordIn(raw["range"], chartRanges) });
