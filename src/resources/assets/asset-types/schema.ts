// Asset types: the kinds of assets, and the fields of each kind.
import type { Stored, Table } from "../../../storage/catalog.ts";

/** The value types of fields; a `Long` is an integer that a JSON number represents exactly. */
export const fieldValueTypes = ["String", "Long", "Double", "Boolean"] as const;
export type FieldValueType = (typeof fieldValueTypes)[number];

export type FieldValue = string | number | boolean;

export interface TypeField {
  /** Unique among all ids of the project. */
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

/** The types and field values in an asset's row; both are absent when the asset has no types. */
export interface TypedRow {
  /** In the order in which the types were added to the asset. */
  readonly typeIds?: readonly number[];
  /** Keys are field ids. */
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
