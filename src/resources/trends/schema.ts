// The table of saved trends.
import type { Stored, Table } from "../../storage/catalog.ts";

/** A picture of time series that callers have saved under a name. */
export interface Trend extends Stored {
  /** Unique in the project. */
  readonly name: string;
  readonly description?: string;
  /** The JSON object that defines the picture, as it was sent. The server does not interpret it. */
  readonly definition: string;
  /** The name of the account or user that created the trend. */
  readonly owner: string;
  /** Absent if the creator had a token, which has no account. */
  readonly ownerId?: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const trendTable: Table<Trend> = {
  name: "trends",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    description: { type: "text", optional: true },
    definition: { type: "text", optional: false },
    owner: { type: "text", optional: false },
    ownerId: { type: "integer", optional: true },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["name"]],
  wordsOf: ["name", "description"],
};
