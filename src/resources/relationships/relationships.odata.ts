// Relationships over OData: the set Relationships, and the resources at both ends by external id.
import {
  type EntityModelPart,
  entitySet,
  entityType,
  type JoinKey,
  type Navigation,
  navigation,
} from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { required, text, time } from "../../odata/property.ts";
import { valuesIn } from "../../query/conjuncts.ts";
import { oneOf } from "../../query/filter.ts";
import { dataSetId, externalIdOf, externalIdOperand, labels } from "../common/properties.odata.ts";
import { countRelationships, listRelationships, type Relationship } from "./relationships.ts";
import type { ResourceType } from "./schema.ts";

const relationship = entityType<Relationship>({
  name: "Relationship",
  key: "ExternalId",
  properties: [
    required(text("ExternalId", (row) => row.externalId, column("externalId"))),
    text("SourceType", (row) => row.sourceType, column("sourceType")),
    text("SourceExternalId", (row) => row.sourceExternalId, column("sourceExternalId")),
    text("TargetType", (row) => row.targetType, column("targetType")),
    text("TargetExternalId", (row) => row.targetExternalId, column("targetExternalId")),
    time("StartTime", (row) => row.startTime, "startTime"),
    time("EndTime", (row) => row.endTime, "endTime"),
    {
      ...{ name: "Confidence", type: "Edm.Double", get: (row) => row.confidence },
      queryable: { kind: "value", operand: column("confidence", "Edm.Double") },
    },
    dataSetId(),
    labels(),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const relationships = entitySet<Relationship>({
  name: "Relationships",
  type: "Relationship",
  requiresFilter: true,
  nonFilterable: ["Source", "Target"],
  singleValue: ["ExternalId"],
  read: (ctx, { filter, page }) => listRelationships(ctx, { filter, page }),
  count: countRelationships,
  position: (row) => [row.id],
});

/** An external id at the end of a relationship, with the type of the resource, or for all types. */
interface Resource {
  readonly externalId: string;
  readonly type?: ResourceType;
}

const resource = entityType<Resource>({
  name: "Resource",
  key: "ExternalId",
  properties: [required(text("ExternalId", (row) => row.externalId, column("externalId")))],
});

const keyOf = (type: ResourceType, externalId: string) => `${type}:${externalId}`;

/** Resources are read from the filter itself: an external id need not belong to a record. */
function named(keys: readonly JoinKey[], externalIds: readonly JoinKey[]): Resource[] {
  const typed = keys.map((key): Resource => {
    const [type = "", ...rest] = String(key).split(":");
    return { type: type as ResourceType, externalId: rest.join(":") };
  });
  return [...typed, ...externalIds.map((externalId) => ({ externalId: String(externalId) }))];
}

const resources = entitySet<Resource>({
  ...{ name: "Resource", type: "Resource", isHidden: true },
  async read(_ctx, { filter, page }) {
    const { values: keys = [], rest } = valuesIn(filter, "resource");
    const { values: externalIds = [] } = valuesIn(rest, "externalId");
    const [start = 0] = (page.after ?? []) as readonly number[];
    const all = named(keys as readonly JoinKey[], externalIds as readonly JoinKey[]);
    const end = start + page.limit;
    return { items: all.slice(start, end), ...(end < all.length && { next: [end] }) };
  },
  count: async (_ctx, filter) => {
    const { values: keys = [], rest } = valuesIn(filter, "resource");
    return keys.length + (valuesIn(rest, "externalId").values ?? []).length;
  },
  position: (row) => [row.externalId],
});

const end = (name: string, of: (row: Relationship) => string): Navigation =>
  navigation<Relationship, Resource>({
    ...{ from: "Relationship", name, to: "Resource" },
    join: {
      own: (row) => [of(row)],
      theirs: (row) => (row.type ? [keyOf(row.type, row.externalId)] : []),
      filter: (keys) => oneOf("resource", keys),
    },
  });

interface Embedded {
  readonly to: string;
  readonly type: ResourceType;
  /** The column that replaces an absent external id in `ExternalId`. */
  readonly otherwise: string;
}

/** The navigation to the resource of one type; if several have the external id, to the first. */
const embedded = (name: string, { to, type, otherwise }: Embedded): Navigation =>
  navigation<Resource, Readonly<Record<string, string>>>({
    ...{ from: "Resource", name, to, isAutoExpanded: true, joinProperty: "ExternalId" },
    join: {
      own: (row) => (row.type === undefined || row.type === type ? [row.externalId] : []),
      theirs: (row) => [externalIdOf(otherwise)(row)!],
      filter: (externalIds) => externalIdOperand(otherwise).oneOf!(externalIds),
    },
  });

export const relationshipModel: EntityModelPart = {
  types: [relationship, resource],
  sets: [relationships, resources],
  navigations: [
    end("Source", (row) => keyOf(row.sourceType, row.sourceExternalId)),
    end("Target", (row) => keyOf(row.targetType, row.targetExternalId)),
    embedded("Asset", { to: "Assets", type: "asset", otherwise: "sourceId" }),
    embedded("Timeseries", { to: "Timeseries", type: "timeSeries", otherwise: "name" }),
    embedded("Event", { to: "Events", type: "event", otherwise: "sourceId" }),
    embedded("File", { to: "Files", type: "file", otherwise: "sourceId" }),
    embedded("Sequence", { to: "Sequences", type: "sequence", otherwise: "externalId" }),
  ],
};
