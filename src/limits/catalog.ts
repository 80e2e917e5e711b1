// Limits of the catalog and its queries.
import { limit } from "./limit.ts";

export const catalogLimits = {
  filteredRowsPerRead: limit(5_000, "rows", "Rows that are read together for a filter by data."),
  recordsRejectedFirst: limit(
    50,
    "records",
    "Records, plus 1/10 of a page, that a first scan may reject by conditions on assets.",
  ),
  recordsLookedUpFirst: limit(
    20_000,
    "records",
    "Records that are looked up by their assets and sorted, after the first scan rejected too many.",
  ),
  recordsRejectedMax: limit(5_000, "records", "Records that a second scan may reject, for a page of 100."),
  recordsLookedUpMax: limit(
    200_000,
    "records",
    "Records looked up by their assets and sorted after the second scan. More are scanned to the end.",
  ),
  recordsRankedMax: limit(
    5_000,
    "records",
    "Records with the words of a search that are all ranked. Of more, the best are read rank by rank.",
  ),
  recordsIndexedAtOnce: limit(
    50_000,
    "records",
    "Records that are added to a new index of the catalog between two progress messages.",
  ),
  recordsCountedAtOnce: limit(
    10_000,
    "records",
    "Raw rows that are counted in one statement, between which other reads of the catalog run.",
  ),
  catalogReadersMax: limit(8, "transactions", "Catalog reads open at the same time. Further ones wait."),
  catalogPieceLength: limit(
    2 ** 18,
    "characters",
    "Rows in one message to or from the thread of the catalog, so that it is decoded in milliseconds.",
  ),
  catalogCacheKibMax: limit(
    16 * 1024,
    "KiB",
    "Pages of the catalog in memory: of the first connection of reads, and of that of writes.",
  ),
  catalogOtherCacheKibMax: limit(
    2 * 1024,
    "KiB",
    "Pages of the catalog in memory: of each other connection, for reads at the same time.",
  ),
  catalogLogPages: limit(
    16_000,
    "pages",
    "Pages of 4 KiB in the write-ahead log of the catalog after which they are moved into its file.",
  ),
  catalogIdleMs: limit(3_000, "ms", "Time without changes until the log of the catalog is emptied."),
  catalogBusyMsMax: limit(
    10_000,
    "ms",
    "How long a write waits for another process that writes the catalog.",
  ),
  catalogWritersMax: limit(8, "transactions", "Catalog writes of a server that are open in PostgreSQL."),
  catalogConnectMsMax: limit(3_000, "ms", "How long a request waits for a connection to PostgreSQL."),
  catalogSilentMs: limit(
    2_000,
    "ms",
    "After a longer wait for a result, the server checks whether PostgreSQL accepts a connection.",
  ),
  catalogOpenMsMax: limit(
    120_000,
    "ms",
    "PostgreSQL ends a transaction whose server is silent for this long.",
  ),
  catalogReadMsMax: limit(60_000, "ms", "A read of PostgreSQL that takes longer ends with its connection."),
  catalogRetrySeconds: limit(2, "s", "`Retry-After` while the database of the catalog does not respond."),
  catalogIndexedBytesMax: limit(
    2_600,
    "bytes",
    "Indexed columns of a record together, in PostgreSQL, as UTF-8. Longer names and keys are refused there.",
  ),
  catalogPollMs: limit(250, "ms", "How often a server reads from PostgreSQL what other servers changed."),
  catalogPollMsMax: limit(600, "ms", "After a longer read of these changes, cached records are not used."),
  serverLeaseMs: limit(
    15_000,
    "ms",
    "A server that shares a catalog and is silent for this long loses its background work to others.",
  ),
  serverLeaseRenewMs: limit(
    3_000,
    "ms",
    "How often such a server renews its lease, checks whose its work is, and takes over that of others.",
  ),
  catalogIdsReserved: limit(2 ** 20, "ids", "Ids that a server reserves at once in a shared catalog."),
  pointVersionsReserved: limit(
    4_096,
    "versions",
    "Versions of datapoints that a write reserves at once in a shared catalog; 2^41 writes have some.",
  ),
  copyRecordsAtOnce: limit(1_000, "records", "Records that `millrace copy` reads and writes together."),
  copyRecordsLength: limit(4_000_000, "characters", "How long these records are together, except for one."),
  copySeriesAtOnce: limit(1_000, "series", "Series whose last point `millrace copy` reads together."),
  copyPointsAtOnce: limit(50_000, "points", "Datapoints that `millrace copy` reads or writes together."),
  copyWorkers: limit(4, "workers", "Series that `millrace copy` copies or compares at the same time."),
  copyDifferencesMax: limit(
    20,
    "differences",
    "Differences that `millrace copy` lists; it counts the others.",
  ),
  doctorRecordsAtOnce: limit(10_000, "records", "Records or series that `millrace doctor` reads together."),
  preparedStatementsMax: limit(500, "statements", "Prepared database statements of each connection."),
} as const;
