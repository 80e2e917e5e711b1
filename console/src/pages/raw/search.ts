// The search parameters of the pages of raw data.

export interface RawSearch {
  /** The database whose tables are shown. */
  readonly database?: string;
}

export interface TableSearch {
  /** The table starts at the first row with this key or a later one. */
  readonly from?: string;
  /** The key of the row whose details are open. */
  readonly row?: string;
}

const text = (value: unknown): string | undefined =>
  value === undefined || value === "" ? undefined : String(value);

export const rawSearch = ({ database }: Record<string, unknown>): RawSearch => ({
  ...(text(database) !== undefined && { database: text(database) }),
});

export const tableSearch = ({ from, row }: Record<string, unknown>): TableSearch => ({
  ...(text(from) !== undefined && { from: text(from) }),
  ...(text(row) !== undefined && { row: text(row) }),
});
