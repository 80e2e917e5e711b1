// Declares time series for OData: the set Timeseries, its asset, and the function TimeseriesSearch.

import {
  type EntityModelPart,
  type EntityReader,
  entitySet,
  entityType,
  navigation,
} from "../../odata/model.ts";
import { column } from "../../odata/operand.ts";
import { flag, id, metadata, required, text, time } from "../../odata/property.ts";
import { searchFunction } from "../../odata/search.ts";
import { oneOf } from "../../query/filter.ts";
import type { Asset } from "../assets/assets.ts";
import { dataSetId, externalId } from "../common/properties.odata.ts";
import { countTimeSeries, listTimeSeries, type TimeSeries } from "./timeseries.ts";

const series = entityType<TimeSeries>({
  name: "Timeseries",
  key: "Id",
  properties: [
    required(id("Id", (row) => row.id, "id")),
    // Names are unique as well, and published clients use them as external ids.
    externalId("name"),
    text("Name", (row) => row.name, column("name")),
    flag("IsString", (row) => row.isString, column("isString", "Edm.Boolean")),
    metadata(),
    text("Unit", (row) => row.unit, column("unit")),
    flag("IsStep", (row) => row.isStep, column("isStep", "Edm.Boolean")),
    text("Description", (row) => row.description, column("description")),
    {
      ...{ name: "SecurityCategories", type: "Edm.Int64", isList: true, isRequired: true },
      get: (row) => row.securityCategories ?? [],
    },
    dataSetId(),
    required(time("CreatedTime", (row) => row.createdTime, "createdTime")),
    required(time("LastUpdatedTime", (row) => row.lastUpdatedTime, "lastUpdatedTime")),
    id("AssetId", (row) => row.assetId, "assetId"),
  ],
});

/** The fields of links and most navigations; an index has both. */
const alwaysRead = ["id", "name"];
/** The fields that a property, navigation or function needs. Reading costs mostly by the field. */
const readFor: Readonly<Record<string, readonly (keyof TimeSeries)[]>> = {
  ...{ IsString: ["isString"], IsStep: ["isStep"], Aggregate: ["isString", "isStep"] },
  ...{ AssetId: ["assetId"], Asset: ["assetId"], SecurityCategories: ["securityCategories"] },
  ...{ Description: ["description"], Unit: ["unit"], MetaData: ["metadata"] },
  ...{ ExternalId: ["externalId"], DataSetId: ["dataSetId"] },
  ...{ CreatedTime: ["createdTime"], LastUpdatedTime: ["lastUpdatedTime"] },
};

const fieldsFor = (needs: ReadonlySet<string>): readonly string[] => [
  ...new Set([...alwaysRead, ...[...needs].flatMap((name) => readFor[name] ?? [])]),
];

const read: EntityReader<TimeSeries>["read"] = (ctx, { filter, page, needs }) =>
  listTimeSeries(ctx, { filter, page, fields: fieldsFor(needs) });

const timeSeries = entitySet<TimeSeries>({
  name: "Timeseries",
  type: "Timeseries",
  requiresFilter: true,
  nonFilterable: ["MetaData", "SecurityCategories"],
  singleValue: ["Id"],
  isMultiRange: true,
  read,
  count: countTimeSeries,
  position: (row) => [row.name],
});

const assetOf = ({ assetId }: TimeSeries) => (assetId === undefined ? [] : [assetId]);

export const timeSeriesModel: EntityModelPart = {
  types: [series],
  sets: [timeSeries],
  navigations: [
    navigation<TimeSeries, Asset>({
      ...{ from: "Timeseries", name: "Asset", to: "Assets", partner: "Timeseries" },
      constraint: ["AssetId", "Id"],
      join: { own: assetOf, theirs: ({ id }) => [id], filter: (ids) => oneOf("id", ids) },
    }),
    navigation<Asset, TimeSeries>({
      ...{ from: "Asset", name: "Timeseries", to: "Timeseries", isMany: true, partner: "Asset" },
      join: { own: ({ id }) => [id], theirs: assetOf, filter: (ids) => oneOf("assetId", ids) },
    }),
  ],
  functions: [
    searchFunction({
      name: "TimeseriesSearch",
      set: "Timeseries",
      fields: ["name", "description"],
      read,
      count: countTimeSeries,
    }),
  ],
};
