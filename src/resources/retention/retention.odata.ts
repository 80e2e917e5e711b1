// Retention rules over OData: the set RetentionRules.
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { countRules, listRules, type RetentionRule } from "./retention.ts";

/** A whole number in the column `field`. */
const whole = (name: string, get: (row: RetentionRule) => number | undefined, field: string) =>
  ({
    ...{ name, type: "Edm.Int64", get },
    queryable: { kind: "value", operand: column(field, "Edm.Int64") },
  }) as const satisfies Property<RetentionRule>;

const rule = entityType<RetentionRule>({
  name: "RetentionRule",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    required(text("Name", (row) => row.name, column("name"))),
    id("TimeseriesId", (row) => row.seriesId, "seriesId"),
    id("AssetId", (row) => row.assetId, "assetId"),
    required(whole("KeepDays", (row) => row.keepDays, "keepDays")),
    required(time("NextTime", (row) => row.nextTime, "nextTime")),
    time("WaitsUntil", (row) => row.waitsUntil, "waitsUntil"),
    time("LastStartedTime", (row) => row.lastStartedTime, "lastStartedTime"),
    time("LastEndedTime", (row) => row.lastEndedTime, "lastEndedTime"),
    whole("LastSeries", (row) => row.lastSeries, "lastSeries"),
    whole("LastWaiting", (row) => row.lastWaiting, "lastWaiting"),
    whole("LastPoints", (row) => row.lastPoints, "lastPoints"),
    whole("LastBlocks", (row) => row.lastBlocks, "lastBlocks"),
    text("LastError", (row) => row.lastError, column("lastError")),
    required(whole("RemovedPoints", (row) => row.removedPoints, "removedPoints")),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const rules = entitySet<RetentionRule>({
  name: "RetentionRules",
  type: "RetentionRule",
  isCountable: true,
  read: listRules,
  count: countRules,
  position: (row) => [row.id],
});

export const retentionModel: EntityModelPart = { types: [rule], sets: [rules] };
