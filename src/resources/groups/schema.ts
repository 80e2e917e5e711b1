// The table of security categories; the table of groups is in src/access/schema.ts.
import type { Stored, Table } from "../../storage/catalog.ts";

/** Restricts the time series that name it to its members. */
export interface SecurityCategory extends Stored {
  readonly name: string;
}

export const securityCategoryTable: Table<SecurityCategory> = {
  name: "security_categories",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
  },
  indexes: [],
  unique: [["name"]],
  wordsOf: [],
};
