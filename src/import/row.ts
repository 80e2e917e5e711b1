// A row of a data file and its place in it, and how CSV is read. Browsers run this module, too.
import { limits } from "../limits.ts";

export interface Row {
  readonly cells: readonly string[];
  /** The line of the file on which the row ends, from 1. */
  readonly line: number;
  /** The bytes of the file up to and including this row. */
  readonly endBytes: number;
}

/** Where a row ends; the start of a file is before line 1. */
export interface Boundary {
  readonly line: number;
  readonly endBytes: number;
}

export const startOfFile: Boundary = { line: 0, endBytes: 0 };

/** The options of csv-parse. */
export const csvOptions = {
  trim: true,
  relax_column_count: true,
  skip_empty_lines: true,
  // Bounds a row: a quote that is never closed makes one row of the rest of the file.
  max_record_size: limits.importLineBytesMax,
} as const;
