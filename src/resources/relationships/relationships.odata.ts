// Relationships over OData: the set Relationships, and the resources at their ends by external id.
import { fail } from "../../errors.ts";
import {
  entitySet,
  entityType,
  type Key,
  type ModelPart,
  type Navigation,
  navigation,
} from "../../odata/model.ts";
import { column, idColumn, type Operand } from "../../odata/operand.ts";
import { required, text, time } from "../../odata/property.ts";
import { valuesIn } from "../../query/conjuncts.ts";
import { and, everything, hasOneOf, hasOnly, not, oneOf, some, textHas } from "../../query/filter.ts";
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
      asked: { kind: "value", operand: column("confidence", "Edm.Double") },
    },
    text("DataSetId", (row) => row.dataSetId?.toString(), idColumn("dataSetId")),
    text("Labels", (row) => (row.labels.length > 0 ? row.labels.join(",") : undefined), labels()),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

/** Labels with commas between them; a filter can ask for one of them, or for none. */
function labels(): Operand {
  return {
    type: "Edm.String",
    equals(value) {
      if (value === null) return not(some("labels", everything));
      const label = oneLabel(String(value));
      return and(hasOneOf("labels", [label]), hasOnly("labels", [label]));
    },
    has(test, part) {
      if (test !== "contains") throw fail("filter-feature-not-supported", { feature: `${test} on Labels` });
      return some("labels", textHas("contains", "value", oneLabel(part)));
    },
  };
}

function oneLabel(text: string): string {
  if (!text.includes(",")) return text;
  throw fail("filter-feature-not-supported", { feature: "A filter by several labels at once" });
}

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

/** What an external id stands for: one kind of resource, or of each kind the one that has it. */
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

/** A resource is a name; whether something has it shows in its navigations. */
function named(keys: readonly Key[], externalIds: readonly Key[]): Resource[] {
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
    const all = named(keys as readonly Key[], externalIds as readonly Key[]);
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

/** The resource of one kind; of several with one external id the first. `field` is where its room has it. */
const embedded = (
  name: string,
  { to, type, field }: { to: string; type: ResourceType; field: string },
): Navigation =>
  navigation<Resource, Readonly<Record<string, Key>>>({
    ...{ from: "Resource", name, to, isAutoExpanded: true },
    join: {
      own: (row) => (row.type === undefined || row.type === type ? [row.externalId] : []),
      theirs: (row) => [row[field]!],
      filter: (externalIds) => oneOf(field, externalIds),
    },
  });

export const relationshipModel: ModelPart = {
  types: [relationship, resource],
  sets: [relationships, resources],
  navigations: [
    end("Source", (row) => keyOf(row.sourceType, row.sourceExternalId)),
    end("Target", (row) => keyOf(row.targetType, row.targetExternalId)),
    embedded("Asset", { to: "Assets", type: "asset", field: "sourceId" }),
    embedded("Timeseries", { to: "Timeseries", type: "timeSeries", field: "name" }),
    embedded("Event", { to: "Events", type: "event", field: "sourceId" }),
    embedded("File", { to: "Files", type: "file", field: "sourceId" }),
    embedded("Sequence", { to: "Sequences", type: "sequence", field: "externalId" }),
  ],
};
