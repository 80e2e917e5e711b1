// The search parameters of the page of series.

export interface SeriesSearch {
  /** Words of the name or the description. */
  readonly query?: string;
  readonly unit?: string;
}

const text = (value: unknown): string | undefined =>
  value === undefined || value === "" ? undefined : String(value);

export const seriesSearch = ({ query, unit }: Record<string, unknown>): SeriesSearch => ({
  ...(text(query) !== undefined && { query: text(query) }),
  ...(text(unit) !== undefined && { unit: text(unit) }),
});
