// What searches in the background leave in the catalog.
import type { Column, Table } from "../../storage/catalog.ts";
import type { Match } from "./search.ts";

export const jobStates = ["RUNNING", "DONE", "FAILED", "CANCELLED"] as const;

export interface Job {
  readonly id: number;
  readonly description?: string;
  readonly status: (typeof jobStates)[number];
  /** Why it is FAILED. */
  readonly problem?: string;
  /** The account that started it; whoever came with a token has a name alone. */
  readonly accountId?: number;
  readonly user: string;
  /** The series that its matches tell of. */
  readonly seriesIds: readonly number[];
  readonly createdTime: number;
  readonly completedTime?: number;
  /** Best first; there when it is DONE. */
  readonly matches?: readonly Match[];
}

const required = (type: Column["type"]): Column => ({ type, optional: false });
const optional = (type: Column["type"]): Column => ({ type, optional: true });

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
    completedTime: optional("integer"),
    matches: optional("json"),
  },
  indexes: [["status"], ["accountId", "id"], ["createdTime"]],
  unique: [],
  wordsOf: [],
};
