// Refusals about time series and the datapoints in them. Part of the catalogue of `src/errors.ts`.
import { entry, firstOf } from "./entry.ts";

export const datapointFailures = {
  "series-unknown": entry<{ keys: readonly (string | number)[]; status?: 400 | 404 }>({
    status: 404,
    otherStatuses: [400],
    when: "An operation names unknown time series; `notFound` lists them. Lists of ids get 400.",
    message: ({ keys }) => `No such time series: ${firstOf(keys)}`,
    members: ({ keys }) => ({ notFound: keys }),
  }),
  "series-repeated": entry<{ keys: readonly (string | number)[] }>({
    status: 400,
    when: "An operation names a time series more than once; `notFound` lists those.",
    message: ({ keys }) => `Time series named more than once: ${firstOf(keys)}`,
    members: ({ keys }) => ({ notFound: keys }),
  }),
  "series-exist": entry<{ names: readonly string[] }>({
    status: 400,
    when: "Time series are created with, or renamed to, names that are taken; the message lists all of them.",
    // Published clients read the names from this text, separated by commas without blanks
    // (docs/reference/common.md#error-messages-that-clients-read).
    message: ({ names }) => `Some metrics already exist: ${names.join(",")}`,
  }),
  "texts-not-aggregated": entry<{ name: string }>({
    status: 400,
    when: "Aggregates of a series whose values are strings are requested.",
    message: ({ name }) => `The time series ${name} has strings, which have no aggregates`,
  }),
  "frame-too-wide": entry<{ series: number; columns: number; limit: number }>({
    status: 400,
    when: "A data frame has more columns, one for each aggregate of each item, than the limit.",
    message: ({ series, columns, limit }) =>
      `items and aggregates: ${columns} columns were sent, one for each aggregate of each of ${series} ` +
      `series; a data frame may have at most ${limit}`,
  }),
  "points-not-stored": entry<{ problem: string }>({
    status: 503,
    when: "The disk refused a write of datapoints, for example because it is full. Nothing of it is stored.",
    message: ({ problem }) =>
      `The datapoints were not stored (${problem}), none of them; free disk space, then repeat the request`,
  }),
  "points-journal-finished": entry<{ problem: string }>({
    status: 503,
    when: "After a failed sync no datapoints are accepted until a restart. Nothing of the request is stored.",
    message: ({ problem }) =>
      `Datapoints are refused since the disk failed (${problem}); check the disk, then restart the server`,
  }),
  "points-shard-stopped": entry<{ shard: number; problem: string }>({
    status: 503,
    when: "A part of the datapoint store failed and stopped; a restart rebuilds it from the journal.",
    message: ({ shard, problem }) =>
      `Part ${shard} of the datapoint store has stopped (${problem}); check the disk, then restart`,
  }),
  "points-away": entry<{ problem: string }>({
    status: 503,
    when:
      "ClickHouse, which stores the datapoints, is away, read-only or overloaded. A write may have been " +
      "stored; repeating it is harmless.",
    message: ({ problem }) =>
      `ClickHouse, which stores the datapoints, is not available (${problem}); repeat the request in ` +
      "some seconds",
  }),
  "points-deletes-pending": entry<{ ranges: number }>({
    status: 503,
    when: "A series in ClickHouse has more deleted ranges than it may have until their points are removed.",
    message: ({ ranges }) =>
      `The series has ${ranges} deleted ranges, whose points are being removed; repeat the request in ` +
      "some minutes",
  }),
  "points-damaged": entry<{ series: number; startMs: number; endMs: number }>({
    status: 500,
    when: "Stored datapoints that the response needs are damaged on disk. All others are served.",
    message: ({ series, startMs, endMs }) =>
      `The stored datapoints of series ${series} from ${startMs} to ${endMs} (ms) are damaged; see /health`,
  }),
} as const;
