// The JSON shapes of time series in REST 0.4, 0.5 and 0.6 (docs/reference/timeseries.md#shape-of-a-series).
import { type Static, Type } from "typebox";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import {
  change,
  changed,
  changeObject,
  changeOfIds,
  changeOfRequired,
  idField,
  metadataField,
  nameField,
  textField,
} from "../../rest/fields.ts";
import { boolean, idList, integer, pageSize, text } from "../../rest/parameters.ts";
import { patchBody } from "../../rest/patch.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { searchParameters } from "../../rest/search.ts";
import { commonOverwriteOf } from "../common/changes.ts";
import {
  commonChangeOf,
  commonChanges,
  commonMembers,
  commonQuery,
  listChangeOf,
} from "../common/fields.rest.ts";
import { commonFieldsOf } from "../common/schema.ts";
import type { SeriesChange } from "./changes.ts";
import type { NewTimeSeries, TimeSeries } from "./timeseries.ts";

const description = textField("What it measures");
const unit = textField("The unit of its values");
const assetId = idField("The asset it hangs on");
const categories = "Security categories";

const writable = {
  description: Type.Optional(description),
  unit: Type.Optional(unit),
  assetId: Type.Optional(assetId),
  metadata: Type.Optional(metadataField("Free pairs of texts")),
  ...commonMembers,
  securityCategories: Type.Optional(
    Type.Array(Type.Integer(), { description: categories, maxItems: limits.securityCategoriesMax }),
  ),
};

const creatable = {
  ...writable,
  id: Type.Optional(Type.Unknown({ description: "Refused: ids are assigned by the service" })),
  isString: Type.Optional(Type.Boolean({ default: false, description: "Values are texts" })),
  isStep: Type.Optional(
    Type.Boolean({ default: false, description: "A value holds until the next datapoint" }),
  ),
};

const key = nameField("Unique in the project");

/** A series to create; only 0.4 calls its name `tagId`. */
export const newSeries = Type.Object({ name: key, ...creatable }, { title: "NewTimeSeries" });
export const newSeriesInV04 = Type.Object({ tagId: key, ...creatable }, { title: "NewTimeSeries" });

/** New values for the series of this name; absent ones stay. */
export const seriesOverwrite = Type.Object({ name: key, ...writable });
export const overwriteInV04 = Type.Object({ tagId: key, ...writable });

const ignored = Type.Optional(Type.Unknown({ description: "Taken, and changes nothing" }));
/** Published clients send these members in changes. No client sends a PATCH. */
const unchangeable = { isString: ignored, isStep: ignored };

const changes = {
  name: changeOfRequired(key),
  tagId: changeOfRequired({ ...key, description: "What 0.4 calls the name" }),
  description: change(description),
  unit: change(unit),
  assetId: change(assetId),
  ...commonChanges,
  metadata: change(metadataField("Replaces all pairs")),
  securityCategories: changeOfIds(categories, limits.securityCategoriesMax),
};
const ofPath = { id: Type.Optional(idField("Which series")) };
export const seriesChange = changeObject({ ...ofPath, ...changes, ...unchangeable });
export const seriesPatch = patchBody({ ...ofPath, ...changes }, { ...writable, name: key, tagId: key });
export const identifiedChange = changeObject({
  id: idField("Which series"),
  ...changes,
  ...unchangeable,
});

/**
 * The series to make; refuses (400) an id, as ids are given out here. `index` is the place among the items.
 */
export function newSeriesOf(sent: Static<typeof newSeries>, index: number): NewTimeSeries {
  if (sent.id !== undefined)
    throw fail("field-invalid", { field: `items[${index}].id`, expected: "no id", got: `${sent.id}` });
  const { description, unit, assetId, securityCategories = [] } = sent;
  return {
    name: sent.name,
    isString: sent.isString ?? false,
    isStep: sent.isStep ?? false,
    ...(description !== undefined && { description }),
    ...(unit !== undefined && { unit }),
    ...(assetId !== undefined && { assetId }),
    metadata: sent.metadata ?? {},
    ...commonFieldsOf(sent),
    ...(securityCategories.length > 0 && { securityCategories: [...new Set(securityCategories)] }),
  };
}

export const overwriteOf = (sent: Static<typeof seriesOverwrite>): SeriesChange => ({
  description: sent.description,
  unit: sent.unit,
  assetId: sent.assetId,
  ...commonOverwriteOf(sent),
  metadata: sent.metadata,
  securityCategories: sent.securityCategories && { set: sent.securityCategories },
});

export const changeOf = (sent: Static<typeof seriesChange>): SeriesChange => ({
  name: sent.name?.set ?? sent.tagId?.set ?? undefined,
  description: changed(sent.description),
  unit: changed(sent.unit),
  assetId: changed(sent.assetId),
  ...commonChangeOf(sent),
  metadata: changed(sent.metadata) === null ? {} : (sent.metadata?.set ?? undefined),
  securityCategories: listChangeOf(sent.securityCategories),
});

const shared = {
  id: Type.Integer(),
  isString: Type.Boolean(),
  isStep: Type.Boolean(),
  description: Type.Optional(Type.String()),
  unit: Type.Optional(Type.String()),
  assetId: Type.Optional(Type.Integer()),
  ...commonMembers,
  metadata: Type.Optional(metadataField("Absent when there is none")),
};

/** One series in an answer of this version. */
export const seriesShape = (version: ApiVersion) =>
  version === "0.4"
    ? Type.Object({ tagId: Type.String(), ...shared }, { title: "TimeSeries" })
    : Type.Object(
        {
          name: Type.String(),
          ...shared,
          securityCategories: Type.Optional(Type.Array(Type.Integer())),
          createdTime: Type.Integer(),
          lastUpdatedTime: Type.Integer(),
        },
        { title: "TimeSeries" },
      );

/** Makes what a client of this version is shown of a series. */
export const seriesIn =
  (version: ApiVersion, { withMetadata }: { readonly withMetadata: boolean }) =>
  ({ name, metadata, securityCategories, createdTime, lastUpdatedTime, ...rest }: TimeSeries) => ({
    ...(version === "0.4"
      ? { tagId: name }
      : { name, ...(securityCategories && { securityCategories }), createdTime, lastUpdatedTime }),
    ...rest,
    ...(withMetadata && Object.keys(metadata).length > 0 && { metadata }),
  });

export const includeMetadata = boolean("Whether answers hold `metadata`");

export const listQuery = {
  q: text("Series whose name begins with this"),
  name: text("The series of exactly this name"),
  description: text("Series whose description contains this, in letters of either case"),
  assetId: integer("Series of this asset"),
  path: idList("Series of these assets and of all below them"),
  ...commonQuery("Series"),
  includeMetadata,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

export const searchQuery = {
  ...searchParameters("Series"),
  ...commonQuery("Series"),
  unit: text("Series of exactly this unit"),
  isString: boolean("Series of texts, or of numbers"),
  isStep: boolean("Step series, or others"),
  assetIds: idList("Series of these assets"),
};
