// The tables of time series: their records, and pending deletions of datapoints.
import type { Stored, Table } from "../../storage/catalog.ts";
import { type CommonFields, commonColumns } from "../common/schema.ts";

/** A time series, in the form of all code except the JSON shapes. */
export interface TimeSeries extends Stored, CommonFields {
  readonly id: number;
  /** Unique in the project. */
  readonly name: string;
  /** Values are strings. Set at creation. */
  readonly isString: boolean;
  /** A value holds until the next point. Set at creation. */
  readonly isStep: boolean;
  readonly description?: string;
  readonly unit?: string;
  readonly assetId?: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly securityCategories?: readonly number[];
  /** Milliseconds since 1970. */
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const timeSeriesTable: Table<TimeSeries> = {
  name: "time_series",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    name: { type: "text", optional: false },
    isString: { type: "boolean", optional: false },
    isStep: { type: "boolean", optional: false },
    description: { type: "text", optional: true },
    unit: { type: "text", optional: true },
    assetId: { type: "integer", optional: true },
    metadata: { type: "json", optional: false },
    ...commonColumns,
    securityCategories: { type: "json", optional: true },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [["assetId", "name"]],
  unique: [["name"], ["externalId"]],
  sortedBy: ["createdTime"],
  wordsOf: ["name", "description"],
  cachedAs: { series: ["name"], access: ["assetId", "securityCategories"] },
  links: [{ column: "assetId", to: "assets", onDelete: "clear" }],
};

/** A series whose record is deleted and whose datapoints may still exist. The id is that of the series. */
export type PendingDeletion = Stored;

export const pendingDeletionTable: Table<PendingDeletion> = {
  name: "erasures",
  belongsTo: "project",
  columns: { id: { type: "integer", optional: false } },
  indexes: [],
  unique: [],
  wordsOf: [],
};
