// The tables of schedules and their runs.
import type { Table, TableColumn } from "../../../storage/catalog.ts";
import { type Described, described } from "../schema.ts";
import type { ScheduleSpec } from "./spec.ts";

/** A model that predicts for consecutive windows. */
export interface Schedule extends Described {
  readonly modelId: number;
  readonly args: Readonly<Record<string, unknown>>;
  /** The data spec as sent, in either form. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly spec: ScheduleSpec;
  /** The account whose rights the schedule has. */
  readonly accountId: number;
  /** The end of the next window in ms; all earlier windows have run or were skipped. */
  readonly nextEnd: number;
}

export const runStates = ["RUNNING", "SUCCEEDED", "FAILED", "SKIPPED"] as const;

/** The result of one window of a schedule. */
export interface ScheduleRun {
  readonly id: number;
  readonly scheduleId: number;
  /** The window of the input in ms; for skipped windows, from the first to the last. */
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly status: (typeof runStates)[number];
  readonly problem?: string;
  readonly startedTime: number;
  /** The server that runs it. */
  readonly owner?: number;
  readonly endedTime?: number;
  /** The number of written datapoints. */
  readonly points?: number;
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const scheduleTable: Table<Schedule> = {
  name: "model_schedules",
  belongsTo: "project",
  columns: {
    ...described,
    modelId: required("integer"),
    args: required("json"),
    sent: required("json"),
    spec: required("json"),
    accountId: required("integer"),
    nextEnd: required("integer"),
  },
  indexes: [["modelId"], ["nextEnd"]],
  unique: [],
  wordsOf: [],
};

export const scheduleRunTable: Table<ScheduleRun> = {
  name: "model_schedule_runs",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    scheduleId: required("integer"),
    windowStart: required("integer"),
    windowEnd: required("integer"),
    status: required("text"),
    problem: optional("text"),
    startedTime: required("integer"),
    owner: optional("integer"),
    endedTime: optional("integer"),
    points: optional("integer"),
  },
  indexes: [["scheduleId", "id"], ["status"]],
  unique: [],
  wordsOf: [],
};
