// The table of connectors: the last report of each, under its name.
import type { Stored, Table } from "../../storage/catalog.ts";

/** The states that a connector reports. */
export const reportedStates = ["RUNNING", "DEGRADED", "STOPPED"] as const;

/** The report of a connector about itself. */
export interface ConnectorReport {
  /** Unique in the project. */
  readonly name: string;
  /** The id of the process with its buffer. Two connectors with one name have different ones. */
  readonly instance: string;
  /** The type of the source, such as `mqtt`. */
  readonly source: string;
  /** The address of the source, without secrets. */
  readonly address?: string;
  readonly version: string;
  readonly startedTime: number;
  readonly status: (typeof reportedStates)[number];
  readonly errorMessage?: string;
  readonly errorTime?: number;
  /** These four count records since the buffer was created. */
  readonly received: number;
  readonly written: number;
  readonly refused: number;
  readonly dropped: number;
  readonly bufferPoints: number;
  readonly bufferBytes: number;
  readonly bufferOldestTime?: number;
  /** The timestamp of the newest point that the server has. */
  readonly newestTime?: number;
  readonly lagMs?: number;
}

export interface StoredConnector extends Stored, ConnectorReport {
  /** The name of the account or user that reported last. */
  readonly owner: string;
  /** Absent if the report came with a token, which has no account. */
  readonly ownerId?: number;
  /** The first report. */
  readonly createdTime: number;
  /** The last report. */
  readonly lastSeenTime: number;
}

export const connectorTable: Table<StoredConnector> = {
  name: "connectors",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    instance: { type: "text", optional: false },
    source: { type: "text", optional: false },
    address: { type: "text", optional: true },
    version: { type: "text", optional: false },
    startedTime: { type: "integer", optional: false },
    status: { type: "text", optional: false },
    errorMessage: { type: "text", optional: true },
    errorTime: { type: "integer", optional: true },
    received: { type: "integer", optional: false },
    written: { type: "integer", optional: false },
    refused: { type: "integer", optional: false },
    dropped: { type: "integer", optional: false },
    bufferPoints: { type: "integer", optional: false },
    bufferBytes: { type: "integer", optional: false },
    bufferOldestTime: { type: "integer", optional: true },
    newestTime: { type: "integer", optional: true },
    lagMs: { type: "integer", optional: true },
    owner: { type: "text", optional: false },
    ownerId: { type: "integer", optional: true },
    createdTime: { type: "integer", optional: false },
    lastSeenTime: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["name"]],
  wordsOf: [],
};
