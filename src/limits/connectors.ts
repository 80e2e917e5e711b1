// Limits of `millrace connect`, and of the reports that the server takes from connectors.
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
  connectorReportsMax: limit(1_000, "reports", "Reports of connectors in one request. More are refused."),
  connectorTextLengthMax: limit(1_000, "characters", "The address or the error message of a connector."),
  connectorSilentMs: limit(
    60_000,
    "ms",
    "A connector without a report for this time is SILENT. Four lost reports in a row do not matter.",
  ),
  connectorFileBytesMax: limit(4 * 2 ** 20, "bytes", "The configuration file of a connector."),
} as const;
