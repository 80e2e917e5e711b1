// Limits of time series and datapoints, and of their store.
import { limit } from "./limit.ts";

export const datapointsLimits = {
  seriesDeletionsAtOnce: limit(
    100,
    "series",
    "Deleted series whose datapoints are deleted at the same time.",
  ),
  seriesKeysCachedMax: limit(
    200_000,
    "keys",
    "Names and ids of a project's series in memory (about 40 MB). Front threads divide as much again.",
  ),
  projectsCachedMax: limit(1_000, "projects", "Projects whose series stay in memory."),
  rightsFiltersMax: limit(10_000, "filters", "Filters of permitted series with an id in a project's cache."),
  lineListsMax: limit(64, "lists", "Lists of series in repeated inserts of lines that stay in memory."),
  plannedSeriesMax: limit(
    320_000,
    "series",
    "Series of lists in repeated inserts in memory (about 40 MB). Front threads divide as much again.",
  ),
  writePlanSeriesMax: limit(10_000, "series", "Series of a write plan. Longer lists are resolved each time."),
  insertScanBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "JSON of an insert that is parsed without a pause for other requests. Longer JSON is parsed in steps.",
  ),
  pointsPerWriteMax: limit(100_000, "points", "Datapoints in one insert, over all of its series."),
  pointsPerReadMax: limit(
    100_000,
    "points",
    "Raw datapoints of one series in one read. A larger `limit` is lowered to this.",
  ),
  bucketsPerReadMax: limit(
    10_000,
    "buckets",
    "Aggregates of one series in one read. A larger `limit` is lowered to this.",
  ),
  pointsPerReadDefault: limit(100, "points", "Datapoints, aggregates or frame rows when `limit` is absent."),
  datapointsBufferedBytesMax: limit(
    6 * 2 ** 20,
    "bytes",
    "Datapoints of a response in memory: 100,000 points as JSON. For more, the points are read twice.",
  ),
  granularityDaysMax: limit(
    100_000,
    "days",
    "A granularity, so that the times of buckets stay exact integers.",
  ),
  granularityWeeksMax: limit(50_000, "weeks", "A granularity of weeks: longer than the range of times."),
  granularityMonthsMax: limit(12_000, "months", "A granularity of months or years, as above."),
  frameRowsMax: limit(100_000, "rows", "Rows of a data frame. A larger `limit` is lowered to this."),
  frameColumnsMax: limit(1_000, "columns", "Columns of a data frame. More are refused."),
  seriesPerReadMax: limit(100, "series", "Items of one multi-series query or data frame."),
  latestSeriesMax: limit(1_000, "series", "Items of one request for latest points."),
  functionLengthMax: limit(4_096, "characters", "The expression of a calculated series. Longer is refused."),
  functionDepthMax: limit(64, "levels", "Nesting of brackets, functions and signs in a calculated series."),
  functionLeavesMax: limit(
    100,
    "series",
    "Different series and aggregates in one calculated series, and its aliases.",
  ),
  timeMsMin: limit(Date.UTC(1900, 0, 1), "ms", "The earliest timestamp of a datapoint (1900-01-01)."),
  timeMsMax: limit(Date.UTC(2100, 0, 1) - 1, "ms", "The latest timestamp of a datapoint (2099-12-31)."),
  stringValueLengthMax: limit(16_384, "characters", "A value of a string series."),
  clickHouseConnectionsMax: limit(
    64,
    "connections",
    "Connections to each shard of ClickHouse. Further statements wait.",
  ),
  clickHouseResponsesIdleBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "Memory of responses of each shard of ClickHouse that later ones use again.",
  ),
  clickHouseMsMax: limit(60_000, "ms", "A statement in ClickHouse. After that the request gets 503."),
  clickHouseConnectMsMax: limit(
    3_000,
    "ms",
    "Connecting to ClickHouse. After that another replica, or the request gets 503.",
  ),
  clickHousePingMs: limit(
    2_000,
    "ms",
    "A statement that takes longer is ended if its ClickHouse does not respond to a ping either.",
  ),
  clickHousePingMsMax: limit(
    10_000,
    "ms",
    "The response of ClickHouse to a ping; a busy machine can take seconds.",
  ),
  clickHouseQuorumMsMax: limit(10_000, "ms", "Until an insert is in the quorum of replicas of ClickHouse."),
  clickHouseRetryMsMax: limit(
    10_000,
    "ms",
    "Repeating a statement on replicas of ClickHouse. After that the request gets 503.",
  ),
  clickHouseBackoffMs: limit(
    100,
    "ms",
    "The longest pause before a busy replica of ClickHouse is tried again.",
  ),
  clickHouseInsertIntervalMs: limit(
    5,
    "ms",
    "Between the starts of two inserts into ClickHouse, if fewer writes wait than the last one had.",
  ),
  clickHouseInsertRowsMax: limit(500_000, "rows", "Writes of points that share an insert into ClickHouse."),
  clickHouseUnorderedRowsMax: limit(
    1_000,
    "rows",
    "That a read of raw points in ClickHouse finds beyond twice as many as it needs, before it uses FINAL.",
  ),
  clickHousePointsInArraysMax: limit(
    2_000_000,
    "points",
    "Points whose times and values one statement holds in memory of ClickHouse: 32 MB.",
  ),
  clickHouseSummariesMax: limit(
    100_000,
    "buckets",
    "That one statement summarises in ClickHouse, of all its series: 10 MB of the response.",
  ),
  clickHouseLatestRowsMax: limit(
    200_000,
    "rows",
    "A search for latest points in ClickHouse reads all points at once if these are at most so many rows.",
  ),
  clickHouseLatestRowsPerSeriesMax: limit(
    2_000,
    "rows",
    "Added to `clickHouseLatestRowsMax` for each series of the search.",
  ),
  clickHouseEmptySidesMax: limit(
    10_000,
    "series",
    "For each shard of ClickHouse, series remembered to have no points before or after a range.",
  ),
  clickHouseEmptySidesMsMax: limit(
    60_000,
    "ms",
    "How long that is remembered. A wrong guess costs reading the points that were written since.",
  ),
  clickHousePartsOfResultMax: limit(
    100,
    "parts",
    "Parts of the table that a cached aggregate in ClickHouse is of; one of more parts is read again.",
  ),
  clickHouseSpanGrowth: limit(
    8,
    "times",
    "How much longer the next time range is, when an aggregate needs more buckets.",
  ),
  clickHouseTombstonesMax: limit(
    500,
    "ranges",
    "Deleted ranges of a series in ClickHouse whose points are not removed yet.",
  ),
  clickHouseSweepMs: limit(
    5 * 60_000,
    "ms",
    "How often a server looks for deleted points to remove in ClickHouse; longer than two statements.",
  ),
  clickHouseSweepAgeMs: limit(
    60 * 60_000,
    "ms",
    "After which deleted points are removed in ClickHouse, unless there are so many that it is done earlier.",
  ),
  journalGroupBytesMax: limit(8 * 2 ** 20, "bytes", "Requests that share a sync of the journal. More wait."),
  pointsInFlightBytesMax: limit(
    48 * 2 ** 20,
    "bytes",
    "Accepted datapoints that the shards have not applied yet. Further writes wait.",
  ),
  journalCheckpointBytes: limit(
    64 * 2 ** 20,
    "bytes",
    "Size of the journal at which all points are flushed to blocks.",
  ),
  journalIdleMs: limit(5_000, "ms", "A pause in writing after which all points are flushed to blocks."),
  journalIdleBytes: limit(256 * 2 ** 10, "bytes", "A journal up to this size is not flushed in a pause."),
  journalBytesMax: limit(128 * 2 ** 20, "bytes", "Journal on disk. Further writes wait for the checkpoint."),
} as const;
