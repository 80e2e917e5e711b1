// Limits of sequences and of raw data.
import { limit } from "./limit.ts";

export const tablesLimits = {
  sequencesPerPageMax: limit(
    1_000,
    "sequences",
    "Sequences in one request, and on a page of a list, where a larger `limit` is lowered to this.",
  ),
  sequenceColumnsLengthMax: limit(262_144, "characters", "All columns of one sequence, as JSON."),
  sequenceColumnsMax: limit(200, "columns", "Columns of one sequence. More are refused."),
  sequenceRowsPerWriteMax: limit(10_000, "rows", "Rows of a sequence in one request. More are refused."),
  sequenceRowsPerReadMax: limit(
    10_000,
    "rows",
    "Rows of a sequence in one response. A larger `limit` is lowered to this.",
  ),
  sequenceRowsPerReadDefault: limit(100, "rows", "Rows of a sequence in a response when `limit` is absent."),
  sequenceRowLengthMax: limit(16_384, "characters", "All values of one row of a sequence, as JSON."),
  rawKeyLengthMax: limit(1_024, "characters", "The key of a raw row."),
  rawColumnsLengthMax: limit(2 ** 20, "characters", "The columns of one raw row, as JSON."),
  rawCsvLineBytesMax: limit(
    4 * 2 ** 20,
    "bytes",
    "A line of a CSV upload of raw rows. A longer one is refused. The columns of a row fit into it.",
  ),
  rawCsvColumnsMax: limit(100_000, "columns", "Columns of a CSV upload of raw rows. More are refused."),
  rawRowsMax: limit(10_000, "rows", "Raw rows of a CSV upload, and of a page. A larger `limit` is lowered."),
  rawNamesMax: limit(1_000, "items", "A page of raw databases or tables. A larger `limit` is lowered."),
  rawItemsDefault: limit(25, "items", "A page of raw databases, tables or rows when `limit` is absent."),
  rowsDeletedAtOnceMax: limit(
    10_000,
    "rows",
    "Rows of deleted tables and sequences that a transaction deletes.",
  ),
  rowDeletionMs: limit(25, "ms", "The intended time of such a transaction, during which other writes wait."),
} as const;
