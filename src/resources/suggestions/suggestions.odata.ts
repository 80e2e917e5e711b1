// Suggestions over OData: the set Suggestions.
import { type EntityModelPart, entitySet, entityType, type Property } from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, required, text, time } from "../../odata/property.ts";
import { countSuggestions, listSuggestions, type Suggestion } from "./suggestions.ts";

/** A whole number in the column `field`. */
const whole = (name: string, get: (row: Suggestion) => number | undefined, field: string) =>
  ({
    ...{ name, type: "Edm.Int64", get },
    queryable: { kind: "value", operand: column(field, "Edm.Int64") },
  }) as const satisfies Property<Suggestion>;

const suggestion = entityType<Suggestion>({
  name: "Suggestion",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    id("TimeseriesId", (row) => row.seriesId, "seriesId"),
    id("FileId", (row) => row.fileId, "fileId"),
    whole("Page", (row) => row.page, "page"),
    required(id("AssetId", (row) => row.assetId, "assetId")),
    required(text("Tag", (row) => row.tag, column("tag"))),
    required(whole("Score", (row) => row.score, "score")),
    required(text("State", (row) => row.state, column("state"))),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
  ],
});

const suggestions = entitySet<Suggestion>({
  name: "Suggestions",
  type: "Suggestion",
  isCountable: true,
  read: listSuggestions,
  count: countSuggestions,
  position: (row) => [row.id],
});

export const suggestionModel: EntityModelPart = { types: [suggestion], sets: [suggestions] };
