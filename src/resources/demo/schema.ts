// The table of demo plants: at most one in a project.
import type { Stored, Table } from "../../storage/catalog.ts";

export const demoStates = ["RUNNING", "DONE", "FAILED"] as const;

export interface Demo extends Stored {
  /** Of the load. */
  readonly status: (typeof demoStates)[number];
  /** Why a load is FAILED, or why live values have ended. */
  readonly problem?: string;
  /** The end of the history. Faults of the plant have their times relative to it. */
  readonly endTime: number;
  readonly days: number;
  /** Live values are written, also after a restart of the server. */
  readonly isLive: boolean;
  readonly createdTime: number;
  /** The server that loads it or writes its live values. */
  readonly owner?: number;
  readonly completedTime?: number;
}

export const demoTable: Table<Demo> = {
  name: "demo_plants",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    status: { type: "text", optional: false },
    problem: { type: "text", optional: true },
    endTime: { type: "integer", optional: false },
    days: { type: "integer", optional: false },
    isLive: { type: "boolean", optional: false },
    createdTime: { type: "integer", optional: false },
    owner: { type: "integer", optional: true },
    completedTime: { type: "integer", optional: true },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};
