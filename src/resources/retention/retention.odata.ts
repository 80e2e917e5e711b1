// Retention rules over OData: the set RetentionRules.
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { countRules, listRules, type ShownRule } from "./retention.ts";

/** Not every caller sees it, so none may filter or sort by it. */
const hidden = (name: string, get: (row: ShownRule) => number | undefined) =>
  ({ name, type: "Edm.Int64", get }) as const satisfies Property<ShownRule>;

/** A whole number in the column `field`. */
const whole = (name: string, get: (row: ShownRule) => number | undefined, field: string) =>
  ({
    ...{ name, type: "Edm.Int64", get },
    queryable: { kind: "value", operand: column(field, "Edm.Int64") },
  }) as const satisfies Property<ShownRule>;

const rule = entityType<ShownRule>({
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
    hidden("LastSeries", (row) => row.lastSeries),
    hidden("LastWaiting", (row) => row.lastWaiting),
    hidden("LastPoints", (row) => row.lastPoints),
    hidden("LastBlocks", (row) => row.lastBlocks),
    text("LastError", (row) => row.lastError, column("lastError")),
    hidden("RemovedPoints", (row) => row.removedPoints),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const rules = entitySet<ShownRule>({
  name: "RetentionRules",
  type: "RetentionRule",
  isCountable: true,
  read: listRules,
  count: countRules,
  position: (row) => [row.id],
});

export const retentionModel: EntityModelPart = { types: [rule], sets: [rules] };
