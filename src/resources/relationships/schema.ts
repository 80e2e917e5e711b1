// The table of relationships.
import type { Stored, Table } from "../../storage/catalog.ts";

/** Types of resources at the ends of a relationship. */
export const resourceTypes = ["asset", "timeSeries", "event", "file", "sequence"] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** The resources at its ends need not exist. */
export interface Relationship extends Stored {
  /** Unique in the project. */
  readonly externalId: string;
  readonly sourceType: ResourceType;
  readonly sourceExternalId: string;
  readonly targetType: ResourceType;
  readonly targetExternalId: string;
  /** The start and end of the relationship, in milliseconds since 1970. */
  readonly startTime?: number;
  readonly endTime?: number;
  /** From 0 to 1. */
  readonly confidence?: number;
  readonly dataSetId?: number;
  readonly labels: readonly string[];
  readonly createdTime: number;
  readonly lastUpdatedTime: number;
}

export const relationshipTable: Table<Relationship> = {
  name: "relationships",
  belongsTo: "project",
  columns: {
    id: { type: "integer", optional: false },
    externalId: { type: "text", optional: false },
    sourceType: { type: "text", optional: false },
    sourceExternalId: { type: "text", optional: false },
    targetType: { type: "text", optional: false },
    targetExternalId: { type: "text", optional: false },
    startTime: { type: "integer", optional: true },
    endTime: { type: "integer", optional: true },
    confidence: { type: "real", optional: true },
    dataSetId: { type: "integer", optional: true },
    labels: { type: "json", optional: false },
    createdTime: { type: "integer", optional: false },
    lastUpdatedTime: { type: "integer", optional: false },
  },
  indexes: [
    ["sourceExternalId", "sourceType", "id"],
    ["targetExternalId", "targetType", "id"],
  ],
  unique: [["externalId"]],
  wordsOf: [],
};
