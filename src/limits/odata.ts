// Limits of the OData interface.
import { limit } from "./limit.ts";

export const odataLimits = {
  odataExpressionLengthMax: limit(8_192, "characters", "A `$filter` of the entity-model interface."),
  odataExpressionPartsMax: limit(500, "parts", "Names, values and operators of a `$filter`."),
  odataExpressionDepthMax: limit(100, "levels", "Nesting of a `$filter`."),
  odataEncodedLengthMax: limit(
    262_144,
    "characters",
    "Open data of an insert with annotations or encoded names, which are decoded without a pause.",
  ),
  odataExpandDepthMax: limit(4, "levels", "Nesting of `$expand`."),
  odataExpansionsMax: limit(100, "navigations", "Expansions of one request, including nested ones and `*`."),
  odataPageMax: limit(1_000, "entities", "A page of an entity set. A link leads to the next one."),
  odataPointsPageMax: limit(10_000, "entities", "A page of datapoints or of aggregates."),
  odataRowsPageMax: limit(10_000, "rows", "A page of raw rows. A page of long rows ends earlier."),
  odataPointsScannedMax: limit(
    1_000_000,
    "points",
    "Points or buckets that a filter by values examines for one page. The next page continues.",
  ),
  odataFilteredRowsMax: limit(
    100_000,
    "rows",
    "Raw or sequence rows that a filter by data examines for one page. The next page continues.",
  ),
  odataFilteredCharactersMax: limit(
    200_000_000,
    "characters",
    "Characters of these rows, times the conditions of the filter, for one page. The next page continues.",
  ),
  odataPreviewMax: limit(
    1_000,
    "entities",
    "The largest `$top` for which a set that requires a filter returns entities without one.",
  ),
  odataExpandedMax: limit(20_000, "entities", "Expanded entities of a response. Links lead to further ones."),
} as const;
