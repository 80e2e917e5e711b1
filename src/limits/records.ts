// Limits of records in general, and of assets, events and trends.
import { limit } from "./limit.ts";

export const recordsLimits = {
  idsPerQueryMax: limit(10_000, "ids", "Ids or names that one query looks up. More take several queries."),
  itemsPerWriteMax: limit(10_000, "items", "Items in one create, update, delete or by-ids request."),
  listItemsMax: limit(10_000, "items", "A page of a list. A larger `limit` is lowered to this."),
  pageLengthMax: limit(
    32 * 2 ** 20,
    "characters",
    "Records of one page, as JSON. A page that would be longer ends earlier, with a cursor to the next one.",
  ),
  pageLengthFirst: limit(
    2 * 2 ** 20,
    "characters",
    "Records of a page, as JSON, that fit into the memory that every list reserves. Most pages are shorter.",
  ),
  recordsPerBatch: limit(
    100,
    "records",
    "Records by ids that are read together. The server reads more while it sends the first ones.",
  ),
  recordsBatchBytes: limit(
    8 * 2 ** 20,
    "bytes",
    "Memory reserved for a response that is read in batches. Usually 100 of the largest records fit.",
  ),
  recordsPerChangeLengthMax: limit(
    64 * 2 ** 20,
    "characters",
    "Records that one update changes, as JSON. More are refused with 413.",
  ),
  assetDepthMax: limit(500, "levels", "Levels of assets below a root. Deeper ones are refused."),
  assetTypeFieldsMax: limit(200, "fields", "Fields of one asset type. More are refused."),
  assetTypesMax: limit(100, "types", "Asset types of one asset. More are refused."),
  searchFieldsMax: limit(
    200,
    "fields",
    "Fields of asset types in one search, because a database statement takes only some thousand values.",
  ),
  assetValuesLengthMax: limit(
    65_536,
    "characters",
    "All values of the asset types of one asset, as JSON. More are refused.",
  ),
  assetsListDefault: limit(100, "items", "A page of a list when `limit` is absent, except of events."),
  eventsListDefault: limit(25, "items", "A page of events when `limit` is absent."),
  eventAssetsMax: limit(1_000, "items", "Assets that one event is linked to, and its tags."),
  eventPhrasesMax: limit(100, "phrases", "Semantic phrases of one event."),
  eventPhraseLengthMax: limit(1_000, "characters", "A semantic phrase."),
  eventTimeMsMax: limit(
    8_640_000_000_000_000,
    "ms",
    "The distance of the start or end of an event from 1970: the range of dates (275,760 years).",
  ),
  searchItemsMax: limit(1_000, "items", "A page of a search, and its `offset`. A larger `limit` is lowered."),
  searchItemsDefault: limit(25, "items", "Results of a search when `limit` is absent."),
  cursorDivisionsMax: limit(
    1_000,
    "cursors",
    "`divisions` of the cursors for parallel reads. A larger value is lowered to this.",
  ),
  projectNameLengthMax: limit(128, "characters", "The name of a project."),
  nameLengthMax: limit(255, "characters", "The name of an asset or a time series."),
  textLengthMax: limit(8_192, "characters", "A description, unit, source or source id."),
  validDomainsMax: limit(1_000, "domains", "Valid domains of one project."),
  metadataPairsMax: limit(256, "pairs", "Metadata of one record."),
  metadataKeyLengthMax: limit(128, "characters", "A metadata key."),
  metadataLengthMax: limit(10_240, "characters", "All metadata keys and values of one record together."),
  externalIdLengthMax: limit(255, "characters", "The external id of a record."),
  labelsMax: limit(100, "labels", "Labels of one record."),
  trendDefinitionBytesMax: limit(
    2 ** 16,
    "bytes",
    "The definition of a saved trend. A hundred series with all their settings fit.",
  ),
} as const;
