// Assets over REST (docs/reference/assets.md): the routes of 0.4, 0.5 and 0.6, and the handlers below them.
import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { everything } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { Page, PageQuery } from "../../query/page.ts";
import {
  batchesResponse,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
  searchResponse,
} from "../../rest/envelope.ts";
import { bulk, changed, idField, itemsBody, json, requireIdOfPath } from "../../rest/fields.ts";
import { integer, type ParameterValues, required } from "../../rest/parameters.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { textSearchOf } from "../../rest/search.ts";
import { commonOverwriteOf } from "../common/changes.ts";
import { commonChangeOf, commonFilter, recordName, recordNameIn } from "../common/fields.rest.ts";
import { typesChangeOf } from "./asset-types/schemas.rest.ts";
import {
  type Asset,
  type AssetsQuery,
  createAssets,
  deleteAssets,
  divideAssets,
  getAsset,
  getAssets,
  listAssets,
  listSubtree,
  searchAssets,
  updateAsset,
  updateAssets,
} from "./assets.ts";
import type { AssetChange } from "./changes.ts";
import { listFilter, searchOfBody } from "./filters.rest.ts";
import {
  assetChange,
  assetIdParameter,
  assetJson,
  assetPatch,
  assetSchema,
  identifiedChange,
  listQuery,
  newAsset,
  pageBounds,
  searchBody,
  searchQuery,
  subtreeQuery,
  subtreeSchema,
  wholeAsset,
} from "./schemas.rest.ts";

const read = { versions: apiVersions, capability: ["assetsAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["assetsAcl", "WRITE"] } as const;
const ids = itemsBody(idField("Which asset"), { min: 1 });
const names = itemsBody(recordName("Which asset"), { min: 1 });
const assetItems = (version: ApiVersion) => ({ schema: itemsSchema(assetSchema(version)) });
const assetPage = (version: ApiVersion) => ({ schema: pageSchema(assetSchema(version)) });

const listing = {
  ...read,
  method: "GET",
  summary: "List assets, roots first",
  query: listQuery,
  response: assetPage,
  handle: list,
} as const;

export const assetRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/assets",
    summary: "Create assets",
    body: json(itemsBody(newAsset, { min: 1 }), bulk),
    response: assetItems,
    created: ["0.6"],
    handle: create,
  }),
  route({ ...listing, path: "/assets" }),
  route({ ...listing, path: "/assets/list" }),
  route({
    ...write,
    method: "PUT",
    path: "/assets",
    summary: "Overwrite the fields of assets",
    body: json(itemsBody(wholeAsset, { min: 1 }), bulk),
    response: () => ({ schema: emptySchema }),
    handle: overwrite,
  }),
  route({
    ...read,
    method: "GET",
    path: "/assets/cursors",
    summary: "Cursors that divide the list of all assets for parallel reads",
    query: { divisions: required(integer("How many cursors at most", { min: 1 })) },
    response: () => ({ schema: itemsSchema(Type.String()) }),
    handle: divide,
  }),
  route({
    ...read,
    method: "GET",
    path: "/assets/search",
    summary: "Search assets",
    query: searchQuery,
    response: assetItems,
    handle: searchByQuery,
  }),
  route({
    ...read,
    method: "POST",
    path: "/assets/search",
    summary: "Search assets",
    body: json(searchBody),
    response: assetItems,
    handle: searchByBody,
  }),
  route({
    ...read,
    method: "POST",
    path: "/assets/byids",
    summary: "Read assets by id or external id",
    body: json(names),
    response: assetItems,
    handle: byIds,
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/update",
    summary: "Change assets",
    body: json(itemsBody(identifiedChange, { min: 1 }), bulk),
    response: assetItems,
    handle: updateMany,
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/delete",
    summary: "Delete assets with their subtrees",
    body: json(ids),
    response: () => ({ schema: emptySchema }),
    handle: remove,
  }),
  route({
    ...read,
    method: "GET",
    path: "/assets/{assetId}",
    summary: "Read an asset; in 0.4, or with depth, limit or cursor, its subtree",
    parameters: assetIdParameter,
    query: subtreeQuery,
    response: assetPage,
    handle: readOne,
  }),
  route({
    ...write,
    method: "PATCH",
    path: "/assets/{assetId}",
    summary: "Change an asset, with changes or plain values",
    parameters: assetIdParameter,
    body: json(assetPatch),
    response: assetItems,
    handle: patchOne,
  }),
  route({
    ...read,
    method: "GET",
    path: "/assets/{assetId}/subtree",
    summary: "List an asset and its subtree",
    parameters: assetIdParameter,
    query: subtreeQuery,
    response: (version) => ({ schema: pageSchema(subtreeSchema(version)) }),
    handle: async (ctx, request) => withoutEmptyMetadata(await listBelow(ctx, request)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/assets/{assetId}/update",
    summary: "Change an asset",
    parameters: assetIdParameter,
    body: json(assetChange),
    response: assetItems,
    handle: updateOne,
  }),
];

interface BodyRequest<Query, Body = undefined> {
  readonly version: ApiVersion;
  readonly query: Query;
  readonly body: Body;
}

interface AssetRequest<Query, Body = undefined> extends BodyRequest<Query, Body> {
  readonly path: ParameterValues<typeof assetIdParameter>;
}

type Items<Item extends TSchema> = { readonly items: readonly Static<Item>[] };
type Subtree = ParameterValues<typeof subtreeQuery>;

async function create(ctx: RequestContext, { version, body }: BodyRequest<unknown, Items<typeof newAsset>>) {
  const items = await mapInSlices(body.items, ({ id: given, parentId, types, ...item }, index) => {
    if (given !== undefined)
      throw fail("field-invalid", {
        field: `items[${index}].id`,
        expected: "none, as the service assigns ids,",
        got: JSON.stringify(given),
      });
    return { ...item, ...parent(parentId), ...(types && { types }) };
  });
  return itemsResponse((await createAssets(ctx, items)).map(assetJson(version)));
}

const parent = (sent: number | string | undefined) => (sent === undefined ? {} : { parentId: Number(sent) });

async function list(ctx: RequestContext, { version, query }: BodyRequest<ParameterValues<typeof listQuery>>) {
  const assetsQuery = { filter: listFilter(query), under: query.path?.at(-1), depth: query.depth };
  const { data } = await pageResponse(ctx, { version, query, assetsQuery: assetsQuery }, (page) =>
    listAssets(ctx, { ...assetsQuery, page }),
  );
  return { data: query.onlyCursors ? { ...data, items: [] } : data };
}

async function listBelow(ctx: RequestContext, { version, path, query }: AssetRequest<Subtree>) {
  const assetsQuery = { filter: everything, under: path.assetId, depth: query.depth };
  return pageResponse(ctx, { version, query, assetsQuery: assetsQuery }, (page) =>
    listSubtree(ctx, { ...assetsQuery, page }),
  );
}

/** The clients of 2019-03 and 2019-05 expect no empty `metadata` below `/subtree`. */
const withoutEmptyMetadata = ({ data }: Awaited<ReturnType<typeof listBelow>>) => ({
  data: {
    ...data,
    items: (data.items as readonly ReturnType<ReturnType<typeof assetJson>>[]).map((asset) => ({
      ...asset,
      metadata: Object.keys(asset.metadata).length > 0 ? asset.metadata : undefined,
    })),
  },
});

async function readOne(ctx: RequestContext, request: AssetRequest<Subtree>) {
  const { depth, limit, cursor } = request.query;
  const isSubtree = [depth, limit, cursor].some((sent) => sent !== undefined);
  if (isSubtree || request.version === "0.4") return listBelow(ctx, request);
  return itemsResponse([assetJson(request.version)(await getAsset(ctx, request.path.assetId))]);
}

interface PageRequest {
  readonly version: ApiVersion;
  readonly query: { readonly cursor: string | undefined; readonly limit: number | undefined };
  readonly assetsQuery: Omit<AssetsQuery, "page">;
}

function pageResponse(
  ctx: RequestContext,
  { version, query, assetsQuery }: PageRequest,
  read: (page: PageQuery) => Promise<Page<Asset>>,
) {
  const { cursor, limit = pageBounds.byDefault } = query;
  const place = {
    collection: collectionOf(ctx, assetsQuery),
    cursor,
    limit: Math.min(limit, pageBounds.max),
    ...(assetsQuery.under === undefined && { whole: collectionOf(ctx, allAssets) }),
  };
  return listResponse(ctx, place, read, assetJson(version));
}

/** A cursor is valid for the same list in all versions. */
const collectionOf = (ctx: RequestContext, { filter, under, depth }: Omit<AssetsQuery, "page">) => [
  under === undefined ? "assets" : "subtree",
  ctx.projectId,
  filter,
  under,
  depth,
];

const allAssets = { filter: everything };

async function divide(ctx: RequestContext, { query }: BodyRequest<{ readonly divisions: number }>) {
  const cuts = await divideAssets(ctx, Math.min(query.divisions, limits.cursorDivisionsMax));
  const collection = collectionOf(ctx, allAssets);
  const cursors = [undefined, ...cuts].map((after, index) => {
    const until = cuts[index];
    return ctx.cursors.sign(collection, { ...(after && { after }), ...(until && { until }) });
  });
  return itemsResponse(cursors);
}

function searchByQuery(
  ctx: RequestContext,
  { version, query }: BodyRequest<ParameterValues<typeof searchQuery>>,
) {
  return searchResponse(ctx, textSearchOf(query, commonFilter(query)), searchAssets, assetJson(version));
}

function searchByBody(ctx: RequestContext, request: BodyRequest<unknown, Static<typeof searchBody>>) {
  return searchResponse(ctx, searchOfBody(request.body), searchAssets, assetJson(request.version));
}

async function byIds(ctx: RequestContext, { version, body }: BodyRequest<unknown, Static<typeof names>>) {
  return batchesResponse(getAssets(ctx, body.items.map(recordNameIn)), assetJson(version));
}

async function remove(ctx: RequestContext, { body }: BodyRequest<unknown, Static<typeof ids>>) {
  await deleteAssets(ctx, body.items);
  return emptyResponse;
}

async function overwrite(
  ctx: RequestContext,
  { version, body }: BodyRequest<unknown, Items<typeof wholeAsset>>,
) {
  const assets = await mapInSlices(body.items, (sent) => ({
    id: sent.id,
    name: sent.name,
    description: sent.description ?? null,
    metadata: sent.metadata ?? {},
    source: sent.source ?? null,
    sourceId: sent.sourceId ?? null,
    ...commonOverwriteOf(sent),
    ...parent(sent.parentId),
    // Clients of 0.4 and 0.5 do not know types; if the member is absent, the asset keeps its types.
    types: sent.types ?? (version === "0.6" ? [] : undefined),
  }));
  await updateAssets(ctx, assets);
  return emptyResponse;
}

async function updateMany(
  ctx: RequestContext,
  { version, body }: BodyRequest<unknown, Items<typeof identifiedChange>>,
) {
  const changes = await mapInSlices(body.items, (sent, index) => changeOf(sent.id, sent, `items[${index}].`));
  return itemsResponse((await updateAssets(ctx, changes)).map(assetJson(version)));
}

async function updateOne(
  ctx: RequestContext,
  { version, path, body }: AssetRequest<unknown, Static<typeof assetChange>>,
) {
  const { assetId } = path;
  requireIdOfPath(body.id, assetId);
  return itemsResponse([assetJson(version)(await updateAsset(ctx, changeOf(assetId, body, "")))]);
}

async function patchOne(ctx: RequestContext, request: AssetRequest<unknown, Static<typeof assetPatch>>) {
  const changes = Object.entries(request.body).map(([field, sent]) => [
    field,
    field === "id" ? sent : asSetter(field, sent),
  ]);
  return updateOne(ctx, { ...request, body: Object.fromEntries(changes) });
}

/**
 * A plain value or list sets the field. An object is a change, except an object of strings for metadata,
 * which sets it.
 */
const asSetter = (field: string, sent: unknown) =>
  typeof sent !== "object" ||
  Array.isArray(sent) ||
  (field === "metadata" && Object.values(sent!).every(isText))
    ? { set: sent }
    : sent;

const isText = (value: unknown) => typeof value === "string";

export function changeOf(id: number, sent: Static<typeof assetChange>, prefix: string): AssetChange {
  const name = changed(sent.name);
  if (name === null)
    throw fail("field-invalid", { field: `${prefix}name`, expected: "a name to set", got: "setNull" });
  const metadata = changed(sent.metadata);
  const parentId = changed(sent.parentId);
  return {
    ...{ id, name },
    description: changed(sent.description),
    metadata: metadata === null ? {} : metadata,
    source: changed(sent.source),
    sourceId: changed(sent.sourceId),
    ...commonChangeOf(sent),
    parentId: typeof parentId === "string" ? Number(parentId) : parentId,
    ...(sent.types && { types: typesChangeOf(sent.types) }),
  };
}
