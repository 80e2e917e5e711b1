// Limits of `millrace connect`.
import { limit } from "./limit.ts";

export const connectorsLimits = {
  connectorPointsPerRequest: limit(50_000, "points", "Datapoints that a connector sends in one request."),
  connectorItemsPerRequest: limit(
    1_000,
    "items",
    "Series, events or raw rows that a connector sends in one request.",
  ),
  connectorPointsWaitingMax: limit(
    500_000,
    "points",
    "Datapoints that wait for the disk of a connector. Of a source that cannot wait, more are dropped.",
  ),
  connectorCommitWaitMs: limit(
    10,
    "ms",
    "How long the first record waits for others, before a connector writes them to its disk together.",
  ),
  connectorRetryWaitMsMax: limit(
    30_000,
    "ms",
    "The longest wait of a connector before it calls the server again.",
  ),
  connectorReportMs: limit(10_000, "ms", "How often a connector reports its state to the server."),
  connectorFileBytesMax: limit(4 * 2 ** 20, "bytes", "The configuration file of a connector."),
} as const;
