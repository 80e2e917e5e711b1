// The asset table: its columns, indexes and unique combinations.
import type { Stored, Table } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";
import type { TypedRow } from "./asset-types/schema.ts";

export interface AssetRow extends Stored, TypedRow, CommonFields {
  readonly name: string;
  readonly description?: string;
  /** Absent for a root. */
  readonly parentId?: number;
  /** The ids from the root to the asset itself: `/1/7/9/`. */
  readonly path: string;
  /** The number of levels below the root; 0 for a root. */
  readonly depth: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source?: string;
  readonly sourceId?: string;
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

/** Siblings have different names; roots may share a name (docs/reference/assets.md#creating-assets). */
export const assetTable: Table<AssetRow> = {
  name: "assets",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    description: { type: "text", optional: true },
    parentId: { type: "integer", optional: true },
    path: { type: "text", optional: false },
    depth: { type: "integer", optional: false },
    metadata: { type: "json", optional: false },
    source: { type: "text", optional: true },
    sourceId: { type: "text", optional: true },
    ...commonColumns,
    typeIds: { type: "json", optional: true },
    fieldValues: { type: "json", optional: true },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [["depth", "id"], ["path", "depth"], ["name"]],
  unique: [["source", "sourceId"], ["parentId", "name"], ["externalId"]],
  sortedBy: ["createdTime"],
  wordsOf: ["name", "description"],
  tree: { path: "path" },
  cachedAs: { access: ["path"] },
};
