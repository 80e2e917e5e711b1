// What raw data asks of the catalog: databases, their tables, and rows whose columns stay text.
import type { Stored, Table } from "../../storage/catalog.ts";
import type { OwnedRows } from "../../storage/erasures.ts";

export interface DatabaseRecord extends Stored {
  readonly name: string;
  readonly createdTime: number;
}

export interface TableRecord extends Stored {
  readonly databaseId: number;
  readonly name: string;
  /** The assets that its rows are about; absent when there is none. */
  readonly assetIds?: readonly number[];
  readonly createdTime: number;
}

export interface RowRecord {
  readonly tableId: number;
  readonly key: string;
  readonly lastUpdatedTime: number;
  /** The JSON text of an object, exactly as it was sent; last, as a disk reads what is before it for less. */
  readonly columns: string;
}

export const rawDatabaseTable: Table<DatabaseRecord> = {
  name: "raw_databases",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    createdTime: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["name"]],
  wordsOf: [],
};

export const rawTableTable: Table<TableRecord> = {
  name: "raw_tables",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    databaseId: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    assetIds: { type: "json", optional: true },
    createdTime: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [["databaseId", "name"]],
  wordsOf: [],
  links: [{ column: "assetIds", to: "assets", onDelete: "clear" }],
};

export const rawRowTable: Table<RowRecord> = {
  name: "raw_rows",
  belongsTo: "project",
  key: ["tableId", "key"],
  columns: {
    tableId: { type: "integer", optional: false },
    key: { type: "text", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
    columns: { type: "text", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** A table whose record is gone and whose rows may still be there; the id is the table's own. */
export const rawDeletionTable: Table<Stored> = {
  name: "raw_erasures",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  indexes: [],
  unique: [],
  wordsOf: [],
};

export const ownedRawRows: OwnedRows = { rows: rawRowTable, erasures: rawDeletionTable };
