// The tables of sequences, their rows, and pending deletions of rows. The columns of a sequence are part of
// its record.
import type { Stored, Table } from "../../storage/catalog.ts";
import type { OwnedRows } from "../../storage/row-deletions.ts";

export const columnValueTypes = ["STRING", "DOUBLE", "LONG"] as const;
export type ColumnValueType = (typeof columnValueTypes)[number];

export interface SequenceColumn {
  readonly id: number;
  /** The key of the column's values in stored rows: short, and never reused in the sequence. */
  readonly slot: number;
  readonly name?: string;
  /** Unique in the sequence. */
  readonly externalId?: string;
  readonly description?: string;
  /** Set at creation; never changes. */
  readonly valueType: ColumnValueType;
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** A table of numbered rows. */
export interface Sequence extends Stored {
  readonly name?: string;
  /** Unique in the project. */
  readonly externalId?: string;
  readonly description?: string;
  readonly assetId?: number;
  readonly dataSetId?: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly columns: readonly SequenceColumn[];
  /** The number of slots that were ever assigned to columns. */
  readonly slotsUsed: number;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const sequenceTable: Table<Sequence> = {
  name: "sequences",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: true },
    externalId: { type: "text", optional: true },
    description: { type: "text", optional: true },
    assetId: { type: "integer", optional: true },
    dataSetId: { type: "integer", optional: true },
    metadata: { type: "json", optional: false },
    columns: { type: "json", optional: false },
    slotsUsed: { type: "integer", optional: false },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [["name"], ["assetId"]],
  unique: [["externalId"]],
  wordsOf: ["name", "description"],
  links: [{ column: "assetId", to: "assets", onDelete: "clear" }],
};

export interface StoredRow {
  readonly sequenceId: number;
  /** 19 digits, so that the order of strings is the order of numbers and no digit is lost. */
  readonly rowNumber: string;
  /** Keys are slots; columns without a value are absent. */
  readonly cells: Readonly<Record<string, string | number>>;
}

export const sequenceRowTable: Table<StoredRow> = {
  name: "sequence_rows",
  belongsTo: "project",
  key: ["sequenceId", "rowNumber"],
  columns: {
    sequenceId: { type: "integer", optional: false },
    rowNumber: { type: "text", optional: false },
    cells: { type: "json", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};

/** Sequences whose record is deleted and whose rows may still exist; the id is the sequence's id. */
export const sequenceDeletionTable: Table<Stored> = {
  name: "sequence_erasures",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  indexes: [],
  unique: [],
  wordsOf: [],
};

export const ownedSequenceRows: OwnedRows = {
  rows: sequenceRowTable,
  pendingDeletions: sequenceDeletionTable,
};
