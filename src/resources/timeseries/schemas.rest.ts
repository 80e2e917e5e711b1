// The JSON schemas of time series in REST 0.4, 0.5 and 0.6 (docs/reference/timeseries.md#shape-of-a-series).
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
const assetId = idField("The asset that it is linked to");
const categories = "Security categories";

const writable = {
  description: Type.Optional(description),
  unit: Type.Optional(unit),
  assetId: Type.Optional(assetId),
  metadata: Type.Optional(metadataField("Pairs of strings, with any keys")),
  ...commonMembers,
  securityCategories: Type.Optional(
    Type.Array(Type.Integer(), { description: categories, maxItems: limits.securityCategoriesMax }),
  ),
};

const creatable = {
  ...writable,
  id: Type.Optional(Type.Unknown({ description: "Refused: ids are assigned by the service" })),
  isString: Type.Optional(Type.Boolean({ default: false, description: "Values are strings" })),
  isStep: Type.Optional(
    Type.Boolean({ default: false, description: "A value holds until the next datapoint" }),
  ),
};

const key = nameField("Unique in the project");

/** A series to create; only 0.4 calls its name `tagId`. */
export const newSeries = Type.Object({ name: key, ...creatable }, { title: "NewTimeSeries" });
export const newSeriesInV04 = Type.Object({ tagId: key, ...creatable }, { title: "NewTimeSeries" });

/** New values for the series of this name. Absent members are not changed. */
const id = Type.Optional(idField("Refused if it is not that of the series with this name"));
export const seriesOverwrite = Type.Object({ name: key, id, ...writable });
export const overwriteInV04 = Type.Object({ tagId: key, id, ...writable });

const ignored = Type.Optional(Type.Unknown({ description: "Accepted, and ignored" }));
/** Published clients send these members in changes. No client sends a PATCH. */
const unchangeable = { isString: ignored, isStep: ignored };

const changes = {
  name: changeOfRequired(key),
  tagId: changeOfRequired({ ...key, description: "The name, in 0.4" }),
  description: change(description),
  unit: change(unit),
  assetId: change(assetId),
  ...commonChanges,
  metadata: change(metadataField("Replaces all pairs")),
  securityCategories: changeOfIds(categories, limits.securityCategoriesMax),
};
const ofPath = { id: Type.Optional(idField("The series")) };
export const seriesChange = changeObject({ ...ofPath, ...changes, ...unchangeable });
export const seriesPatch = patchBody({ ...ofPath, ...changes }, { ...writable, name: key, tagId: key });
export const identifiedChange = changeObject({
  id: idField("The series"),
  ...changes,
  ...unchangeable,
});

/**
 * The series to create. Refuses (400) an id: the server assigns ids. `index` is the position of the item.
 */
export function newSeriesOf(input: Static<typeof newSeries>, index: number): NewTimeSeries {
  if (input.id !== undefined)
    throw fail("field-invalid", { field: `items[${index}].id`, expected: "no id", got: `${input.id}` });
  const { description, unit, assetId, securityCategories = [] } = input;
  return {
    name: input.name,
    isString: input.isString ?? false,
    isStep: input.isStep ?? false,
    ...(description !== undefined && { description }),
    ...(unit !== undefined && { unit }),
    ...(assetId !== undefined && { assetId }),
    metadata: input.metadata ?? {},
    ...commonFieldsOf(input),
    ...(securityCategories.length > 0 && { securityCategories: [...new Set(securityCategories)] }),
  };
}

export const overwriteOf = (input: Static<typeof seriesOverwrite>): SeriesChange => ({
  description: input.description,
  unit: input.unit,
  assetId: input.assetId,
  ...commonOverwriteOf(input),
  metadata: input.metadata,
  securityCategories: input.securityCategories && { set: input.securityCategories },
});

export const changeOf = (input: Static<typeof seriesChange>): SeriesChange => ({
  name: input.name?.set ?? input.tagId?.set ?? undefined,
  description: changed(input.description),
  unit: changed(input.unit),
  assetId: changed(input.assetId),
  ...commonChangeOf(input),
  metadata: changed(input.metadata) === null ? {} : (input.metadata?.set ?? undefined),
  securityCategories: listChangeOf(input.securityCategories),
});

const shared = {
  id: Type.Integer(),
  isString: Type.Boolean(),
  isStep: Type.Boolean(),
  description: Type.Optional(Type.String()),
  unit: Type.Optional(Type.String()),
  assetId: Type.Optional(Type.Integer()),
  ...commonMembers,
  metadata: Type.Optional(metadataField("Absent if the series has none")),
};

/** A series in a response of this version. */
export const seriesSchema = (version: ApiVersion) =>
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

/** Makes the response item of a series in this version. */
export const seriesResponse =
  (version: ApiVersion, { withMetadata }: { readonly withMetadata: boolean }) =>
  ({ name, metadata, securityCategories, createdTime, lastUpdatedTime, ...rest }: TimeSeries) => ({
    ...(version === "0.4"
      ? { tagId: name }
      : { name, ...(securityCategories && { securityCategories }), createdTime, lastUpdatedTime }),
    ...rest,
    ...(withMetadata && Object.keys(metadata).length > 0 && { metadata }),
  });

export const includeMetadata = boolean("Whether the response contains `metadata`");

const kindParameters = {
  unit: text("Series with exactly this unit"),
  isString: boolean("Series of strings, or of numbers"),
  isStep: boolean("Step series, or all others"),
};

export const listQuery = {
  q: text("Series whose name starts with this"),
  name: text("The series with exactly this name"),
  description: text("Series whose description contains this, ignoring case"),
  assetId: integer("Series of this asset"),
  path: idList("Series of these assets and their subtrees"),
  ...kindParameters,
  ...commonQuery("Series"),
  includeMetadata,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

export const searchQuery = {
  ...searchParameters("Series"),
  ...commonQuery("Series"),
  ...kindParameters,
  assetIds: idList("Series of these assets"),
};
