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
  connectorMqttMessagesWaitingMax: limit(
    5_000,
    "messages",
    "MQTT messages that wait for the disk of a connector. While as many wait, it does not read the socket.",
  ),
  connectorMqttBytesWaitingMax: limit(
    8 * 2 ** 20,
    "bytes",
    "Topics and payload of waiting MQTT messages. While there is as much, the socket is not read.",
  ),
  connectorMqttEndWaitMs: limit(
    2_000,
    "ms",
    "Wait of a connector that stops until the broker has read its last acknowledgements and closed the " +
      "connection. A broker that does not respond must not hold up the stop.",
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
  connectorsSupervisedMax: limit(
    50,
    "connectors",
    "Connectors that the server runs as processes of its own, of about 100 MB each. Others are not run.",
  ),
  connectorFilesEveryMs: limit(
    5_000,
    "ms",
    "How often the server looks for new and changed files of connectors.",
  ),
  connectorRestartWaitMsMax: limit(
    60_000,
    "ms",
    "The longest wait of the server before it starts a connector again that ended.",
  ),
  connectorStopMs: limit(
    20_000,
    "ms",
    "How long a connector may take to stop with the server: it sends its last records. Then it is killed.",
  ),
  connectorFileBytesMax: limit(4 * 2 ** 20, "bytes", "The configuration file of a connector."),
  connectorOpcUaNodesMax: limit(1_000_000, "nodes", "Nodes of an OPC UA server that a connector looks at."),
  connectorOpcUaItemsPerSubscription: limit(
    1_000,
    "variables",
    "Variables in one OPC UA subscription, so that one message stays small.",
  ),
  connectorOpcUaHistoryValues: limit(
    1_000,
    "values",
    "Values of each variable that a connector reads from the history of an OPC UA server in one request.",
  ),
  connectorOpcUaHistoryAttempts: limit(
    10,
    "attempts",
    "Attempts to read a history that an OPC UA server refuses for a reason that may pass.",
  ),
  connectorOpcUaSessionMs: limit(
    60_000,
    "ms",
    "How long an OPC UA server keeps the session of a connector that is silent.",
  ),
  connectorOpcUaRequestMs: limit(15_000, "ms", "How long a connector waits for an OPC UA response."),
  connectorOpcUaCloseMs: limit(
    3_000,
    "ms",
    "How long a connector waits for an OPC UA server to close a session.",
  ),
} as const;
