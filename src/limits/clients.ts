// Limits of programs that come with the server: the importer and the demo plant.
import { limit } from "./limit.ts";

export const clientsLimits = {
  demoDaysMax: limit(90, "days", "History of the demo plant, also when its `days` are absent."),
  importPointsPerRequest: limit(20_000, "points", "Datapoints that `millrace import` sends in one request."),
  importBodyBytesMax: limit(8 * 2 ** 20, "bytes", "The body of one request of `millrace import`."),
  importLineBytesMax: limit(
    16 * 2 ** 20,
    "bytes",
    "A line of a file or of an archive that `millrace import` reads. A longer one ends the import.",
  ),
  importItemsPerRequest: limit(1_000, "items", "Series that `millrace import` creates in one request."),
  importRequestsInFlight: limit(4, "requests", "Requests that `millrace import` sends at the same time."),
  importRetriesMax: limit(8, "retries", "Retries of `millrace import` after 429, 5xx or no response."),
  importRetryWaitMsMax: limit(10_000, "ms", "The longest wait of `millrace import` before a retry."),
  importNamesShownMax: limit(10, "names", "Missing series and assets that `millrace import` names together."),
  importRefusedShownMax: limit(
    10,
    "cells",
    "Refused cells that `millrace import` prints. The report has all.",
  ),
} as const;
