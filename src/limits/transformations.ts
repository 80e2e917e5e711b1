// Limits of transformations.
import { limit } from "./limit.ts";

export const transformationsLimits = {
  transformationCommitRows: limit(
    10_000,
    "rows",
    "Rows of a run that are written together, all or none. A run with more rows has several commits; a " +
      "larger commit would hold the writes of others for more than a second.",
  ),
  transformationWriteRows: limit(
    500,
    "rows",
    "Rows of a commit that are compared and written at a time, so that other requests wait for milliseconds.",
  ),
  transformationsPerRequestMax: limit(
    100,
    "transformations",
    "Transformations in one request. More are refused: each cron expression takes some milliseconds.",
  ),
  transformationRefusedMax: limit(
    10_000,
    "rows",
    "Refused rows of a run that skips them. The run fails with one more: its query is wrong.",
  ),
  transformationErrorsKept: limit(
    100,
    "rows",
    "Refused rows in the record of a run, and rows of each kind in a plan. The counts include all.",
  ),
  transformationRunsKept: limit(
    100,
    "runs",
    "Runs of a transformation that are listed. The oldest without a message to send are deleted.",
  ),
  transformationTickMs: limit(2_000, "ms", "How often a server looks for transformations that are due."),
  transformationsStartedAtOnce: limit(
    100,
    "runs",
    "Due transformations that a server starts at a time. The others are started by the next look.",
  ),
  transformationMinutesMax: limit(43_200, "minutes", "The interval of a schedule: thirty days."),
  transformationChainMax: limit(
    100,
    "transformations",
    "A chain of transformations that run one after another.",
  ),
  transformationSourceRows: limit(1_000, "rows", "Rows of a table that a query reads at a time."),
  transformationPageLength: limit(
    2 * 2 ** 20,
    "characters",
    "Characters of raw rows that a query reads at a time. A page has one row at least.",
  ),
  transformationTablesKnown: limit(1_000, "tables", "Raw tables whose column names are cached."),
  transformationColumnsMax: limit(
    10_000,
    "columns",
    "Columns of a raw table in queries. Further keys of its rows are read with `raw_rows`.",
  ),
  pointsMatchedFirst: limit(100, "points", "Points of the first read that looks for some times of a series."),
  pointsMatchedMax: limit(
    10_000,
    "points",
    "Points of a later one, while most of the points that are read have a time that is looked for.",
  ),
  seriesReadAtOnce: limit(16, "series", "Series whose points a run looks for at the same time."),
  rangesDeletedAtOnce: limit(
    100,
    "ranges",
    "Ranges of points that a run deletes at the same time, so that they share a sync of the disk.",
  ),
  webhookUrlLength: limit(2_000, "characters", "The address of a webhook."),
  webhookSecretBytesMin: limit(
    24,
    "bytes",
    "The secret of a webhook: as long as Standard Webhooks requires.",
  ),
  webhookSecretBytesMax: limit(64, "bytes", "The secret of a webhook: as long as Standard Webhooks allows."),
  webhookErrors: limit(10, "rows", "Refused rows in the message of a webhook. The counts include all."),
  webhookTextLength: limit(2_000, "characters", "A string in the message of a webhook. Longer ones are cut."),
  webhookMsMax: limit(10_000, "ms", "An attempt to send a message. Then it has failed."),
  webhookResponseBytesMax: limit(
    16 * 2 ** 10,
    "bytes",
    "The response to a message, which is read and dropped. A longer one is a failed attempt.",
  ),
  webhooksAtOnce: limit(10, "messages", "Due messages of a project that a server sends at a time."),
  webhookAttempts: limit(8, "attempts", "Attempts to send a message. Then it has failed."),
  webhookDelayMs: limit(
    10_000,
    "ms",
    "From the first attempt to the second. Each later delay is six times longer.",
  ),
  webhookDelayMsMax: limit(
    21_600_000,
    "ms",
    "From one attempt to the next. The last attempt is after about 16 hours.",
  ),
  transformationPreviewRows: limit(1_000, "rows", "Rows of a preview."),
  transformationValueLength: limit(
    200,
    "characters",
    "Characters of a value in the error of a row. Longer values are cut.",
  ),
} as const;
