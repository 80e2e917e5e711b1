// JSON schemas of assets in requests and responses of each version, and the mapping of records to JSON.
import { type TSchema, Type } from "typebox";
import { limits } from "../../limits.ts";
import { cursorParameter } from "../../rest/envelope.ts";
import { changeObject, idField, idInDigits, metadataField, nameField, textField } from "../../rest/fields.ts";
import { boolean, id, idList, integer, metadata, pageSize, text } from "../../rest/parameters.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { searchParameters } from "../../rest/search.ts";
import {
  commonBodyFilterMembers,
  commonChanges,
  commonMembers,
  commonPatch,
  commonQuery,
} from "../common/fields.rest.ts";
import { commonFieldsOf } from "../common/schema.ts";
import { typeFilters, typeInputs, typesChange, typeValuesSchema } from "./asset-types/schemas.rest.ts";
import type { Asset } from "./assets.ts";

const time = (description: string) => Type.Integer({ description: `${description}, in ms since 1970` });

const members = {
  id: Type.Integer(),
  name: Type.String(),
  description: Type.Optional(Type.String({ description: "An empty string in 0.5 when there is none" })),
  parentId: Type.Optional(Type.Integer({ description: "Absent on a root" })),
  path: Type.Array(Type.Integer(), { description: "The ids from the root to the asset itself" }),
  depth: Type.Integer({ description: "0 for a root" }),
  metadata: metadataField("Empty when there is none"),
  source: Type.Optional(Type.String()),
  sourceId: Type.Optional(Type.String()),
  ...commonMembers,
  createdTime: time("When the asset was created"),
  lastUpdatedTime: time("When one of its own fields last changed"),
};

const asset = Type.Object(members, { title: "Asset" });
const typedAsset = Type.Object({ ...members, types: typeValuesSchema }, { title: "Asset" });

/** The schema of an asset in responses; only 0.6 has types. */
export const assetSchema = (version: ApiVersion) => (version === "0.6" ? typedAsset : asset);

const withoutMetadata = { metadata: Type.Optional(metadataField("Absent when there is none")) };
const inSubtree = Type.Object({ ...members, ...withoutMetadata }, { title: "AssetInSubtree" });
const typedInSubtree = Type.Object(
  { ...members, ...withoutMetadata, types: typeValuesSchema },
  { title: "AssetInSubtree" },
);

/** Like `assetSchema`, for `/subtree`. */
export const subtreeSchema = (version: ApiVersion) => (version === "0.6" ? typedInSubtree : inSubtree);

/** The schema of an asset in a level of the tree, in 0.6. */
export const treeItemSchema = Type.Object(
  {
    ...members,
    types: typeValuesSchema,
    hasChildren: Type.Boolean({ description: "Whether the caller may see an asset directly below it" }),
  },
  { title: "AssetInTree" },
);

/** Maps an asset to the JSON of a version; the .NET SDK of 0.5 requires a description. */
export const assetJson = (version: ApiVersion) => (asset: Asset) => ({
  id: asset.id,
  name: asset.name,
  description: asset.description ?? (version === "0.5" ? "" : undefined),
  parentId: asset.parentId,
  path: asset.path,
  depth: asset.depth,
  metadata: asset.metadata,
  source: asset.source,
  sourceId: asset.sourceId,
  ...commonFieldsOf(asset),
  createdTime: asset.createdTime,
  lastUpdatedTime: asset.lastUpdatedTime,
  types: version === "0.6" ? asset.types : undefined,
});

const fields = {
  name: nameField("The name, different from those of its siblings"),
  description: textField("The description"),
  metadata: metadataField("Key and value pairs of the caller's choice"),
  source: textField("The system the asset comes from"),
  sourceId: textField("The asset's id in that system; `source` and `sourceId` together are unique"),
};

/** Integers, and the strings of digits that the .NET SDK sends. */
const parentId = Type.Union([idField("The id of the parent"), idInDigits], {
  description: "The id of the parent",
});

const writable = {
  name: fields.name,
  description: Type.Optional(fields.description),
  metadata: Type.Optional(fields.metadata),
  source: Type.Optional(fields.source),
  sourceId: Type.Optional(fields.sourceId),
  ...commonMembers,
  parentId: Type.Optional(parentId),
  types: Type.Optional(typeInputs),
};

const reference = (description: string) => Type.Optional(textField(description));

export const newAsset = Type.Object(
  {
    ...writable,
    refId: reference("A name for this item in the request"),
    parentRefId: reference("The `refId` of the parent, anywhere in the request"),
    parentName: reference("The name of the parent: another item of the request, or an existing asset"),
    id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })),
  },
  { title: "NewAsset" },
);

export const wholeAsset = Type.Object({ id: idField("Which asset"), ...writable });

const setter = <Value extends TSchema>(value: Value) =>
  changeObject({ set: Type.Optional(value), setNull: Type.Optional(Type.Boolean()) });

/** `{"set":value}` or `{"setNull":true}` for each field, and `parentId` to move the asset. */
const changes = {
  name: Type.Optional(setter(fields.name)),
  description: Type.Optional(setter(fields.description)),
  metadata: Type.Optional(setter(fields.metadata)),
  source: Type.Optional(setter(fields.source)),
  sourceId: Type.Optional(setter(fields.sourceId)),
  ...commonChanges,
  parentId: Type.Optional(setter(parentId)),
  types: Type.Optional(typesChange),
};

export const assetChange = changeObject({ id: Type.Optional(idField("Which asset")), ...changes });

export const identifiedChange = changeObject({ id: idField("Which asset"), ...changes });

const valueOrSetter = <Value extends TSchema>(value: Value) =>
  Type.Optional(Type.Union([value, setter(value)]));

/** Changes, or new values without `set`. */
export const assetPatch = changeObject({
  id: Type.Optional(idField("Which asset")),
  name: valueOrSetter(fields.name),
  description: valueOrSetter(fields.description),
  metadata: valueOrSetter(fields.metadata),
  source: valueOrSetter(fields.source),
  sourceId: valueOrSetter(fields.sourceId),
  ...commonPatch,
  parentId: valueOrSetter(parentId),
  types: Type.Optional(Type.Union([typeInputs, typesChange])),
});

const span = Type.Optional(
  Type.Object({ min: Type.Optional(Type.Integer()), max: Type.Optional(Type.Integer()) }),
);

export const searchBody = Type.Object({
  search: Type.Optional(
    Type.Object({
      name: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      query: Type.Optional(Type.String()),
    }),
  ),
  filter: Type.Optional(
    Type.Object({
      metadata: Type.Optional(metadataField("Key-value pairs that the asset has")),
      types: Type.Optional(typeFilters),
      assetSubtrees: Type.Optional(Type.Array(Type.Integer(), { maxItems: limits.itemsPerWriteMax })),
      createdTime: span,
      lastUpdatedTime: span,
      ...commonBodyFilterMembers,
    }),
  ),
  boostName: Type.Optional(Type.Boolean()),
  sort: Type.Optional(Type.Enum(["createdTime", "lastUpdatedTime"])),
  dir: Type.Optional(Type.Enum(["asc", "desc"])),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.searchItemsMax })),
});

export const assetIdParameter = { assetId: id("The asset") };

export const pageBounds = { byDefault: limits.assetsListDefault, max: limits.listItemsMax };
const depth = (from: string) => integer(`How many levels below ${from} to return`, { min: 0 });
export const subtreeQuery = {
  depth: depth("the asset"),
  cursor: cursorParameter,
  limit: integer(`Items in the response; ${pageBounds.byDefault} when absent, at most ${pageBounds.max}`, {
    min: 0,
  }),
};

export const listQuery = {
  name: text("Assets with exactly this name"),
  fuzziness: integer("By how many letters the name may differ", { min: 0 }),
  path: idList("Assets in the subtree of the last of these ids"),
  depth: depth("the roots, or with `path` below its last id,"),
  metadata: metadata("Assets that have all of these key-value pairs"),
  description: text("Assets with this string in their description, ignoring case"),
  source: text("Assets with exactly this source"),
  ...commonQuery("Assets"),
  cursor: cursorParameter,
  limit: pageSize(pageBounds),
  onlyCursors: boolean("Returns the cursors of the page without its items"),
};

export const childrenQuery = {
  parentId: integer("The parent; when absent, the topmost assets that the caller may see", { min: 1 }),
  from: text("Assets with this name or a later one, in the order of the list"),
  cursor: cursorParameter,
  limit: pageSize(pageBounds),
};

export const searchQuery = { ...searchParameters("Assets"), ...commonQuery("Assets") };
