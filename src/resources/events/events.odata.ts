// Events over OData: the set Events, its navigation to assets, and the function EventsSearch.
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { wordsIn } from "../../lib/text.ts";
import { limits } from "../../limits.ts";
import {
  type EntityModelPart,
  type EntitySetQuery,
  entityFunction,
  entitySet,
  entityType,
  navigation,
} from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { id, idList, metadata, required, text, time } from "../../odata/property.ts";
import { and, containsIgnoringCase, type Filter, hasOneOf, oneOf, or, words } from "../../query/filter.ts";
import type { Asset } from "../assets/assets.ts";
import { dataSetId, externalId } from "../common/properties.odata.ts";
import { countEvents, type Event, listEvents } from "./events.ts";

const event = entityType<Event>({
  name: "Event",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    externalId("sourceId"),
    text("Description", (row) => row.description, column("description")),
    text("Source", (row) => row.source, column("source")),
    text("Type", (row) => row.type, column("type")),
    text("SubType", (row) => row.subtype, column("subtype")),
    metadata(),
    dataSetId(),
    time("StartTime", (row) => row.startTime, "startTime"),
    time("EndTime", (row) => row.endTime, "endTime"),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
    idList("AssetIds", (row) => row.assetIds, "assetIds"),
  ],
});

const read = (ctx: RequestContext, { filter, page }: Pick<EntitySetQuery, "filter" | "page">) =>
  listEvents(ctx, { filter, page, direction: "ascending" });

const events = entitySet<Event>({
  name: "Events",
  type: "Event",
  requiresFilter: true,
  singleValue: ["Id"],
  isMultiRange: true,
  read,
  count: countEvents,
  // Events without a start come last.
  position: (row) => [row.startTime ?? limits.eventTimeMsMax + 1, row.id],
});

/** Matches events that contain each word in the description, type, subtype or source. */
function hasWords(text: string): Filter {
  const searched = wordsIn(text);
  if (searched.length === 0)
    throw fail("key-invalid", {
      problem: "The parameter Search of EventsSearch contains no word to search for",
    });
  const fields = ["type", "subtype", "source"];
  return and(
    ...searched.map((word) =>
      or(words(["description"], word), ...fields.map((field) => containsIgnoringCase(field, word))),
    ),
  );
}

export const eventModel: EntityModelPart = {
  types: [event],
  sets: [events],
  navigations: [
    navigation<Event, Asset>({
      ...{ from: "Event", name: "Assets", to: "Assets", isMany: true, isPathOnly: true, partner: "Events" },
      constraint: ["AssetIds", "Id"],
      join: { own: (row) => row.assetIds, theirs: ({ id }) => [id], filter: (ids) => oneOf("id", ids) },
    }),
    navigation<Asset, Event>({
      ...{ from: "Asset", name: "Events", to: "Events", isMany: true, isPathOnly: true, partner: "Assets" },
      join: {
        own: ({ id }) => [id],
        theirs: (row) => row.assetIds,
        filter: (ids) => hasOneOf("assetIds", ids),
      },
    }),
  ],
  functions: [
    entityFunction<Event>({
      ...{ name: "EventsSearch", set: "Events" },
      parameters: [{ name: "Search", type: "Edm.String" }],
      results(given) {
        const found = hasWords(given["Search"] as string);
        return {
          read: (ctx, { filter, page }) => read(ctx, { filter: and(found, filter), page }),
          count: (ctx, filter) => countEvents(ctx, and(found, filter)),
        };
      },
    }),
  ],
};
