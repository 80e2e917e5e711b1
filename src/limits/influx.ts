// Limits of the InfluxDB protocol.
import { limit } from "./limit.ts";

export const influxLimits = {
  influxKeyBytesMax: limit(
    65_535,
    "bytes",
    "Measurement and tags of a line as sent, and the key of a field: the limit of InfluxDB.",
  ),
  influxFieldsPerLineMax: limit(4_096, "fields", "Fields of a line. A line with more is refused."),
  influxTemplateLengthMax: limit(1_000, "characters", "The template of a series name or of an asset."),
  influxNamesBytesMax: limit(
    64 * 2 ** 20,
    "bytes",
    "Memory of cached names of series, by the bytes of their lines. When it is full, all are dropped.",
  ),
  influxqlLengthMax: limit(256 * 1024, "characters", "The text of a query in InfluxQL. Longer is refused."),
  influxqlStatementsMax: limit(100, "statements", "Statements of one query. More are refused."),
  influxqlDepthMax: limit(50, "levels", "Brackets and functions within each other in a query."),
  influxqlListMax: limit(1_000, "elements", "Elements of a list in a query, such as columns or tags."),
  influxqlColumnsMax: limit(
    2_000,
    "columns",
    "Columns of a result in InfluxQL, wildcards expanded. More are refused.",
  ),
  influxqlRegexSizeMax: limit(
    4_096,
    "characters",
    "A regular expression in a query, times its repetition counts. `^(a|b)$` can be longer.",
  ),
  influxSeriesMax: limit(
    200_000,
    "series",
    "Series that one statement looks at. With more, it needs a condition on tags.",
  ),
  influxSeriesPerPage: limit(5_000, "series", "Records of series in memory while a statement looks at them."),
  influxMergedSeriesMax: limit(
    1_000,
    "series",
    "Series whose points are the rows of one series of a result. With more, it needs GROUP BY.",
  ),
  influxPointsPerPage: limit(20_000, "points", "Points of a series that a statement reads at once."),
  influxBucketsMax: limit(
    100_000,
    "buckets",
    "Buckets of GROUP BY time in each series of a result. A shorter interval is refused.",
  ),
  influxEventsPerPage: limit(1_000, "events", "Events that a statement reads at once."),
  influxChunkRows: limit(
    10_000,
    "rows",
    "Rows of a chunk of a chunked response, unless fewer are requested.",
  ),
  influxQueryBytes: limit(
    2 * 2 ** 20,
    "bytes",
    "Memory reserved for a query. A response beyond `responseChunkBytes` reserves `responseStreamBytes`.",
  ),
} as const;
