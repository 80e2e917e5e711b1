// The tables of transformations and of their runs.
import type { SqlMarks } from "../../sql-runner/sql-runner.ts";
import type { Stored, Table, TableColumn } from "../../storage/catalog.ts";
import type { Webhook, WebhookInput } from "./webhooks/webhook.ts";

/** The kinds of records that a transformation writes. */
export const recordKinds = ["assets", "events", "series", "relationships", "files", "datapoints"] as const;

/** The kind of records that a transformation writes. */
export type DestinationName =
  | { readonly type: (typeof recordKinds)[number] }
  | { readonly type: "raw"; readonly database: string; readonly table: string }
  /** `sequence` is an external id. */
  | { readonly type: "sequenceRows"; readonly sequence: string };

export const actions = ["create", "update", "upsert", "delete"] as const;
export type TransformationAction = (typeof actions)[number];

/** Whether a null of the result keeps the value of the record or clears it. */
export const nullModes = ["keep", "clear"] as const;
/** Whether a refused row ends the run or is left out. */
export const errorModes = ["stop", "skip"] as const;

export type Timing =
  /** Five fields: minute, hour, day of month, month, weekday. */
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMinutes: number }
  /** The external id of another transformation: runs when a run of it was successful. */
  | { readonly after: string };

/** The members that a caller sends. */
export interface TransformationInput {
  /** Unique in the project. */
  readonly externalId: string;
  readonly name: string;
  readonly query: string;
  readonly destination: DestinationName;
  readonly action: TransformationAction;
  readonly nulls: (typeof nullModes)[number];
  readonly onError: (typeof errorModes)[number];
  readonly schedule?: Timing;
  readonly webhook?: WebhookInput;
}

export interface Transformation extends Stored, Omit<TransformationInput, "webhook"> {
  readonly webhook?: Webhook;
  /** The name of the account that saved it last. Runs have the current rights of this account. */
  readonly owner: string;
  readonly ownerId: number;
  /** The marks of `is_new` after the last successful run. */
  readonly marks: SqlMarks;
  /** Of the schedule: the external id of the transformation before this one. */
  readonly after?: string;
  /** When the next run is due. */
  readonly nextTime?: number;
  readonly lastRunId?: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const runStates = ["RUNNING", "COMPLETED", "COMPLETED_WITH_REFUSALS", "FAILED", "CANCELLED"] as const;
export type RunStatus = (typeof runStates)[number];

/** Rows of a run. `created`, `changed` and `deleted` are written; the others write nothing. */
export interface RunCounts {
  readonly read: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
  readonly refused: number;
}

/** Why a row was refused. */
export interface RowError {
  /** The number of the row in the result; the first is 1. */
  readonly row: number;
  readonly key?: string;
  readonly column?: string;
  readonly value?: string;
  readonly reason: string;
}

export const deliveryStates = ["PENDING", "DELIVERED", "FAILED"] as const;

/** The message of a webhook. */
export interface Delivery {
  readonly state: (typeof deliveryStates)[number];
  /** Attempts that have begun. */
  readonly attempts: number;
  readonly lastTime?: number;
  /** Why the last attempt failed. */
  readonly problem?: string;
}

export interface TransformationRun extends Stored, RunCounts {
  readonly transformationId: number;
  readonly status: RunStatus;
  /** The name of the caller that started it. */
  readonly startedBy: string;
  readonly problem?: string;
  /** The first refused rows. */
  readonly errors: readonly RowError[];
  /** The marks of `is_new` that this run saved. */
  readonly marks?: SqlMarks;
  readonly startedTime: number;
  readonly endedTime?: number;
  /** The message of the webhook about this run. */
  readonly delivery?: Delivery;
  /** When the next attempt to send it is due. */
  readonly deliveryTime?: number;
  /** The lease of the server that runs it. */
  readonly owner: number;
}

/** The members of a run that a transformation has in `lastRun`. */
export type LastRun = RunCounts &
  Pick<TransformationRun, "id" | "status" | "startedBy" | "startedTime" | "endedTime" | "problem">;

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const transformationTable: Table<Transformation> = {
  name: "transformations",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    externalId: required("text"),
    name: required("text"),
    query: required("text"),
    destination: required("json"),
    action: required("text"),
    nulls: required("text"),
    onError: required("text"),
    schedule: optional("json"),
    after: optional("text"),
    nextTime: optional("integer"),
    lastRunId: optional("integer"),
    webhook: optional("json"),
    owner: required("text"),
    ownerId: required("integer"),
    marks: required("json"),
    createdTime: required("integer"),
    lastUpdatedTime: required("integer"),
  },
  indexes: [["after"], ["nextTime"]],
  unique: [["externalId"]],
  wordsOf: [],
};

export const transformationRunTable: Table<TransformationRun> = {
  name: "transformation_runs",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    transformationId: required("integer"),
    status: required("text"),
    startedBy: required("text"),
    read: required("integer"),
    created: required("integer"),
    changed: required("integer"),
    unchanged: required("integer"),
    deleted: required("integer"),
    refused: required("integer"),
    problem: optional("text"),
    errors: required("json"),
    marks: optional("json"),
    startedTime: required("integer"),
    endedTime: optional("integer"),
    delivery: optional("json"),
    deliveryTime: optional("integer"),
    owner: required("integer"),
  },
  indexes: [["transformationId", "id"], ["deliveryTime"], ["status"]],
  unique: [],
  wordsOf: [],
};
