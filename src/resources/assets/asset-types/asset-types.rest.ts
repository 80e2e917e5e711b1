// Asset types over REST 0.6 (docs/reference/assets.md#asset-types): routes and handlers.
import type { Static } from "typebox";
import { limits } from "../../../limits.ts";
import { mapInSlices } from "../../../query/map-in-slices.ts";
import type { PageQuery } from "../../../query/page.ts";
import {
  batchesResponse,
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../../rest/envelope.ts";
import { changed, idsBody, itemsBody } from "../../../rest/fields.ts";
import { pageSize } from "../../../rest/parameters.ts";
import { type Route, route } from "../../../rest/route.ts";
import {
  addFields,
  createAssetTypes,
  deleteAssetTypes,
  deleteFields,
  getAssetType,
  getAssetTypes,
  listAssetTypes,
  type NameChange,
  type NewField,
  updateAssetTypes,
  updateFields,
} from "./asset-types.ts";
import { assetTypeSchema, nameChange, newAssetType, newField, oneAssetType } from "./schemas.rest.ts";

const common = { versions: ["0.6"] } as const;
const read = { ...common, capability: ["assetsAcl", "READ"] } as const;
const write = { ...common, capability: ["assetsAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(assetTypeSchema) });
const empty = () => ({ schema: emptySchema });
const changes = (which: string) =>
  ({ kind: "json", schema: itemsBody(nameChange(which), { min: 1 }) }) as const;
const fieldsBody = itemsBody(newField, { min: 1, max: limits.assetTypeFieldsMax });

const ofAll: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/assets/types",
    summary: "Create asset types with their fields",
    body: { kind: "json", schema: itemsBody(newAssetType, { min: 1 }) },
    response: items,
    handle: async (ctx, { body }) => {
      const types = await mapInSlices(body.items, ({ name, description, fields = [] }) => ({
        name,
        ...(description !== undefined && { description }),
        fields: fields.map(newFieldOf),
      }));
      return itemsResponse(await createAssetTypes(ctx, types));
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/assets/types",
    summary: "List asset types, oldest first",
    query: {
      cursor: cursorParameter,
      limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
    },
    response: () => ({ schema: pageSchema(assetTypeSchema) }),
    handle: (ctx, { query }) => {
      const collection = ["assetTypes", ctx.projectId];
      const read = (page: PageQuery) => listAssetTypes(ctx, page);
      return listResponse(ctx, { ...query, collection }, read, (type) => type);
    },
  }),
  route({
    ...read,
    method: "POST",
    path: "/assets/types/byids",
    summary: "Read asset types by id, in the order of the request",
    body: idsBody("Which type"),
    response: items,
    handle: (ctx, { body }) => batchesResponse(getAssetTypes(ctx, body.items), (type) => type),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/types/update",
    summary: "Change names and descriptions of asset types",
    body: changes("Which type"),
    response: items,
    handle: async (ctx, { body }) => itemsResponse(await updateAssetTypes(ctx, body.items.map(changeOf))),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/types/delete",
    summary: "Delete asset types; refused with 409 while an asset has one of them",
    body: idsBody("Which type"),
    response: empty,
    handle: async (ctx, { body }) => {
      await deleteAssetTypes(ctx, body.items);
      return emptyResponse;
    },
  }),
];

const ofOne: readonly Route[] = [
  route({
    ...read,
    method: "GET",
    path: "/assets/types/{typeId}",
    summary: "Read an asset type",
    parameters: oneAssetType,
    response: items,
    handle: async (ctx, { path }) => itemsResponse([await getAssetType(ctx, path.typeId)]),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/types/{typeId}/fields",
    summary: "Add fields to an asset type; returns the type",
    parameters: oneAssetType,
    body: { kind: "json", schema: fieldsBody },
    response: items,
    handle: async (ctx, { path, body }) =>
      itemsResponse([await addFields(ctx, path.typeId, body.items.map(newFieldOf))]),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/types/{typeId}/fields/update",
    summary: "Change names and descriptions of the fields of an asset type; returns the type",
    parameters: oneAssetType,
    body: changes("Which field"),
    response: items,
    handle: async (ctx, { path, body }) =>
      itemsResponse([await updateFields(ctx, path.typeId, body.items.map(changeOf))]),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/types/{typeId}/fields/delete",
    summary: "Delete fields of an asset type; refused with 409 while an asset has a value of one of them",
    parameters: oneAssetType,
    body: idsBody("Which field"),
    response: empty,
    handle: async (ctx, { path, body }) => {
      await deleteFields(ctx, path.typeId, body.items);
      return emptyResponse;
    },
  }),
];

export const assetTypeRoutes: readonly Route[] = [...ofAll, ...ofOne];

const newFieldOf = ({ name, description, valueType }: Static<typeof newField>): NewField => ({
  ...{ name, valueType },
  ...(description !== undefined && { description }),
});

function changeOf({ id, name, description }: Static<ReturnType<typeof nameChange>>): NameChange {
  return { id, name: changed(name) ?? undefined, description: changed(description) };
}
