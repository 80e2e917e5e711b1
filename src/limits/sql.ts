// Limits of the SQL engine of transformations.
import { limit } from "./limit.ts";

export const sqlLimits = {
  sqlLengthMax: limit(100_000, "characters", "A query of a transformation."),
  sqlRunsAtOnce: limit(2, "runs", "Queries at the same time, each in a process. Others wait."),
  sqlMemoryBytesMax: limit(384 * 2 ** 20, "bytes", "Memory of the process of a query. Then the query fails."),
  sqlHeapBytesMax: limit(128 * 2 ** 20, "bytes", "The part of it that functions written in JavaScript use."),
  sqlCacheBytes: limit(96 * 2 ** 20, "bytes", "The part of it for pages of temporary tables."),
  sqlCpuMsMax: limit(300_000, "ms", "Processor time of a query. Then the query fails."),
  sqlWallMsMax: limit(1_800_000, "ms", "Time of a query with the writing of its rows. Then the query fails."),
  sqlDiskBytesMax: limit(
    4 * 2 ** 30,
    "bytes",
    "The rows that the tables of a query have in temporary files, and each file for sorting.",
  ),
  sqlRowsMax: limit(10_000_000, "rows", "Rows that a query returns. Then the query fails."),
  sqlBytesMax: limit(4 * 2 ** 30, "bytes", "All rows that a query returns, as JSON. Then the query fails."),
  sqlValueBytesMax: limit(16 * 2 ** 20, "bytes", "A string that a query makes. Then the query fails."),
  sqlBatchBytes: limit(256 * 2 ** 10, "bytes", "A batch of rows from the process of a query, about."),
  sqlLookupRowsMax: limit(
    20_000,
    "rows",
    "Rows of a table whose values find the rows of a joined one. With more, that one is read in full.",
  ),
  sqlLookupLengthMax: limit(1_024, "characters", "Such a value. No key is longer."),
  sqlLookupsAtOnce: limit(1_000, "values", "Such values in one read of the catalog."),
  sqlTablesMax: limit(50, "tables", "Tables that a query names. More are refused."),
  sqlColumnsMax: limit(
    1_000,
    "columns",
    "Columns of a raw table in a query. If the table has more, only those that the query names exist.",
  ),
} as const;
