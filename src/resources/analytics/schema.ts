// The table of analytics jobs.
import type { Table, TableColumn } from "../../storage/catalog.ts";
import type { Match } from "./search.ts";

export const jobStates = ["RUNNING", "DONE", "FAILED", "CANCELLED"] as const;

export interface Job {
  readonly id: number;
  readonly description?: string;
  readonly status: (typeof jobStates)[number];
  /** The reason of a job that is FAILED. */
  readonly problem?: string;
  /** The account that started it. A caller with a provider's token has a name only. */
  readonly accountId?: number;
  readonly user: string;
  /** The series that it compares. Their readers may read its matches. */
  readonly seriesIds: readonly number[];
  readonly createdTime: number;
  /** The server that runs it. */
  readonly owner?: number;
  readonly completedTime?: number;
  /** Best first; present if the job is DONE. */
  readonly matches?: readonly Match[];
}

const required = (type: TableColumn["type"]): TableColumn => ({ type, optional: false });
const optional = (type: TableColumn["type"]): TableColumn => ({ type, optional: true });

export const jobTable: Table<Job> = {
  name: "analytics_jobs",
  belongsTo: "project",
  columns: {
    id: required("integer"),
    description: optional("text"),
    status: required("text"),
    problem: optional("text"),
    accountId: optional("integer"),
    user: required("text"),
    seriesIds: required("json"),
    createdTime: required("integer"),
    owner: optional("integer"),
    completedTime: optional("integer"),
    matches: optional("json"),
  },
  indexes: [["status"], ["accountId", "id"], ["createdTime"]],
  unique: [],
  wordsOf: [],
};
