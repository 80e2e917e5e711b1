// The tables of raw data: databases, tables, rows, and pending deletions of rows.
import type { Stored, Table } from "../../storage/catalog.ts";
import type { OwnedRows } from "../../storage/row-deletions.ts";

export interface DatabaseRecord extends Stored {
  readonly name: string;
  readonly createdTime: number;
}

export interface TableRecord extends Stored {
  readonly databaseId: number;
  readonly name: string;
  /** The assets that the rows are about; absent if there are none. */
  readonly assetIds?: readonly number[];
  readonly createdTime: number;
}

export interface RowRecord {
  readonly tableId: number;
  readonly key: string;
  readonly lastUpdatedTime: number;
  /** The number of the write (`RawCommit`); absent in rows that an older version wrote. */
  readonly commitNumber?: number;
  /**
   * A JSON object as it was sent. The last column, as the database reads the columns before it at less
   * cost.
   */
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
    commitNumber: { type: "integer", optional: true },
    columns: { type: "text", optional: false },
  },
  indexes: [["tableId", "commitNumber", "key"]],
  unique: [],
  wordsOf: [],
};

/**
 * The number of the last write of raw rows in the project. A write raises it in its own transaction. Write
 * transactions of a project run one after another, so rows become visible in the order of their numbers.
 */
export interface RawCommit {
  /** Always `last`. */
  readonly name: string;
  readonly commitNumber: number;
}

export const rawCommitTable: Table<RawCommit> = {
  name: "raw_commits",
  belongsTo: "project",
  key: ["name"],
  columns: {
    name: { type: "text", optional: false },
    commitNumber: { type: "integer", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** Tables whose record is deleted and whose rows may still exist; the id is the table's id. */
export const rawDeletionTable: Table<Stored> = {
  name: "raw_erasures",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  indexes: [],
  unique: [],
  wordsOf: [],
};

export const ownedRawRows: OwnedRows = { rows: rawRowTable, pendingDeletions: rawDeletionTable };
