// Asset types: the kinds of assets, and the fields of each kind.
import type { Stored, Table } from "../../../storage/catalog.ts";

/** What the values of a field are; a `Long` is an integer that JSON numbers hold exactly. */
export const fieldValueTypes = ["String", "Long", "Double", "Boolean"] as const;
export type FieldValueType = (typeof fieldValueTypes)[number];

export type FieldValue = string | number | boolean;

export interface TypeField {
  /** Unique in the project, among all ids. */
  readonly id: number;
  /** Fields of one type may share a name. */
  readonly name: string;
  readonly description?: string;
  readonly valueType: FieldValueType;
}

export interface AssetType extends Stored {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly TypeField[];
}

/** What an asset's record holds of its types; both absent when it has none. */
export interface TypedRow {
  /** In the order they were given to the asset. */
  readonly typeIds?: readonly number[];
  /** By the id of the field. */
  readonly fieldValues?: Readonly<Record<string, FieldValue>>;
}

export const assetTypeTable: Table<AssetType> = {
  name: "assetTypes",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    description: { type: "text", optional: true },
    fields: { type: "json", optional: false },
  },
  indexes: [],
  unique: [],
  wordsOf: [],
};
