// What the catalog keeps of API keys: never the key, only a keyed hash of it.
import type { Table } from "../storage/catalog.ts";

export interface ApiKey {
  readonly id: number;
  readonly projectId: number;
  /** The project's URL name, which never changes. */
  readonly project: string;
  readonly name: string;
  readonly hash: string;
  readonly createdTime: number;
}

export const apiKeyTable: Table<ApiKey> = {
  name: "api_keys",
  belongsTo: "system",
  columns: {
    id: { type: "integer", optional: false },
    projectId: { type: "integer", optional: false },
    project: { type: "text", optional: false },
    name: { type: "text", optional: false },
    hash: { type: "text", optional: false },
    createdTime: { type: "integer", optional: false },
  },
  indexes: [["projectId"]],
  unique: [["hash"]],
  wordsOf: [],
};
