// The table of projects, the only one whose records belong to the installation.
import type { Authentication } from "../../access/provider.ts";
import type { Table } from "../../storage/catalog.ts";

export interface Project {
  readonly id: number;
  readonly name: string;
  /** The name in URLs; it never changes. */
  readonly urlName: string;
  readonly defaultGroupId?: number;
  readonly authentication?: Authentication;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const projectTable: Table<Project> = {
  name: "projects",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    urlName: { type: "text", optional: false },
    defaultGroupId: { type: "integer", optional: true },
    authentication: { type: "json", optional: true },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["urlName"]],
  wordsOf: [],
};
