// Time series over REST 0.4, 0.5 and 0.6 (docs/reference/timeseries.md).

import type { Static } from "typebox";
import { underAsset } from "../../access/asset-subtree.ts";
import type { RequestContext } from "../../context.ts";
import { and, containsIgnoringCase, everything, type Filter, oneOf, startsWith } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  batchesResponse,
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
  searchResponse,
} from "../../rest/envelope.ts";
import { bulk, idsBody, itemsBody, json, requireIdOfPath } from "../../rest/fields.ts";
import { id, type ParameterValues, required, text } from "../../rest/parameters.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { textSearchOf } from "../../rest/search.ts";
import { commonFilter, equalTo, recordName, recordNameIn } from "../common/fields.rest.ts";
import {
  changeOf,
  identifiedChange,
  includeMetadata,
  listQuery,
  newSeries,
  newSeriesInV04,
  newSeriesOf,
  overwriteInV04,
  overwriteOf,
  searchQuery,
  seriesChange,
  seriesOverwrite,
  seriesPatch,
  seriesResponse,
  seriesSchema,
} from "./schemas.rest.ts";
import { refuseOtherIds } from "./series-keys.rest.ts";
import {
  createTimeSeries,
  deleteTimeSeries,
  getManyTimeSeries,
  getTimeSeries,
  listTimeSeries,
  type SeriesKeys,
  searchTimeSeries,
  updateTimeSeries,
} from "./timeseries.ts";

const read = { versions: apiVersions, capability: ["timeSeriesAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["timeSeriesAcl", "WRITE"] } as const;
const inV04 = { versions: ["0.4"] } as const;
const sinceV05 = { versions: ["0.5", "0.6"] } as const;
const some = { min: 1 };
const ids = idsBody("The series");
const names = json(itemsBody(recordName("The series"), some));
const items = (version: ApiVersion) => ({ schema: itemsSchema(seriesSchema(version)) });
const empty = () => ({ schema: emptySchema });

const create = {
  ...write,
  method: "POST",
  path: "/timeseries",
  summary: "Create time series",
} as const;

const overwrite = {
  ...write,
  method: "PUT",
  path: "/timeseries",
  summary: "Change time series by name; absent members are not changed",
  response: empty,
} as const;

const change = {
  ...write,
  path: "/timeseries/{series}",
  summary: "Change a time series",
  parameters: { series: id("The id of the series") },
  body: { kind: "json", schema: seriesChange, nulls: "kept" },
  response: items,
  handle: updateOne,
} as const;

export const timeSeriesRoutes: readonly Route[] = [
  route({
    ...create,
    ...inV04,
    body: json(itemsBody(newSeriesInV04, some), bulk),
    response: empty,
    handle: (ctx, { body, version }) => createAll(ctx, version, body.items.map(named)),
  }),
  route({
    ...create,
    ...sinceV05,
    body: json(itemsBody(newSeries, some), bulk),
    response: (version) => (version === "0.5" ? empty() : items(version)),
    handle: (ctx, { body, version }) => createAll(ctx, version, body.items),
  }),
  route({
    ...overwrite,
    ...inV04,
    body: json(itemsBody(overwriteInV04, some), bulk),
    handle: (ctx, { body }) => overwriteAll(ctx, body.items.map(named)),
  }),
  route({
    ...overwrite,
    versions: ["0.5"],
    body: json(itemsBody(seriesOverwrite, some), bulk),
    handle: (ctx, { body }) => overwriteAll(ctx, body.items),
  }),
  route({
    ...read,
    method: "GET",
    path: "/timeseries",
    summary: "List time series, ordered by name",
    query: { ...listQuery, cursor: cursorParameter },
    response: (version) => ({ schema: pageSchema(seriesSchema(version)) }),
    handle: list,
  }),
  route({
    ...read,
    method: "GET",
    path: "/timeseries/search",
    summary: "Search time series",
    query: searchQuery,
    response: items,
    handle: search,
  }),
  route({
    ...read,
    method: "GET",
    path: "/timeseries/{series}",
    summary: "Read a time series by id",
    parameters: { series: id("The id of the series") },
    query: { includeMetadata },
    response: items,
    handle: async (ctx, { path, query, version }) => {
      const shown = seriesResponse(version, { withMetadata: query.includeMetadata ?? false });
      return itemsResponse([shown(await getTimeSeries(ctx, path.series))]);
    },
  }),
  route({
    ...read,
    method: "POST",
    path: "/timeseries/byids",
    summary: "Read time series by id or external id, in the order of the request",
    query: { includeMetadata },
    body: names,
    response: items,
    handle: (ctx, { query, body, version }) => {
      const shown = seriesResponse(version, { withMetadata: query.includeMetadata ?? true });
      return batchesResponse(getManyTimeSeries(ctx, body.items.map(recordNameIn)), shown);
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/timeseries/update",
    summary: "Change time series",
    body: { kind: "json", ...bulk, schema: itemsBody(identifiedChange, some), nulls: "kept" },
    response: items,
    handle: updateMany,
  }),
  route({
    ...change,
    method: "PATCH",
    summary: "Change a time series, with change objects or plain values",
    body: seriesPatch,
    handle: updateOne,
  }),
  route({ ...change, method: "POST", path: "/timeseries/{series}/update" }),
  route({
    ...write,
    method: "POST",
    path: "/timeseries/delete",
    summary: "Delete time series by id, with their datapoints",
    body: ids,
    response: empty,
    handle: (ctx, { body }) => remove(ctx, { ids: body.items }),
  }),
  route({
    ...write,
    versions: ["0.4", "0.5"],
    method: "DELETE",
    path: "/timeseries/{series}",
    summary: "Delete a time series by name, with its datapoints",
    parameters: { series: required(text("The name of the series")) },
    response: empty,
    handle: (ctx, { path }) => remove(ctx, { names: [path.series] }),
  }),
];

const named = <Input extends { readonly tagId: string }>(input: Input) => ({ ...input, name: input.tagId });

async function createAll(ctx: RequestContext, version: ApiVersion, input: Static<typeof newSeries>[]) {
  const created = await createTimeSeries(ctx, await mapInSlices(input, newSeriesOf));
  if (version !== "0.6") return emptyResponse;
  return itemsResponse(created.map(seriesResponse(version, { withMetadata: true })));
}

async function overwriteAll(ctx: RequestContext, input: Static<typeof seriesOverwrite>[]) {
  await refuseOtherIds(ctx, input);
  const keys = { names: input.map((item) => item.name) };
  await updateTimeSeries(ctx, { keys, changes: await mapInSlices(input, overwriteOf), status: 404 });
  return emptyResponse;
}

async function list(
  ctx: RequestContext,
  request: {
    readonly version: ApiVersion;
    readonly query: ParameterValues<typeof listQuery> & { readonly cursor: string | undefined };
  },
) {
  const { q, name, description, assetId, path, includeMetadata: withMetadata = false } = request.query;
  const filter = and(
    q === undefined ? undefined : startsWith("name", q),
    equalTo("name", name),
    description === undefined ? undefined : containsIgnoringCase("description", description),
    equalTo("assetId", assetId),
    path && underAsset(path),
    kindFilter(request.query),
    commonFilter(request.query),
  );
  const { cursor, limit } = request.query;
  const [collection, whole] = [collectionOf(ctx, filter), collectionOf(ctx, everything)];
  const read = (page: PageQuery) => listTimeSeries(ctx, { filter, page });
  const toItem = seriesResponse(request.version, { withMetadata });
  return listResponse(ctx, { cursor, limit, collection, whole }, read, toItem);
}

const collectionOf = (ctx: RequestContext, filter: Filter) => ["timeseries", ctx.projectId, filter];

const kindFilter = ({
  unit,
  isString,
  isStep,
}: Pick<ParameterValues<typeof listQuery>, "unit" | "isString" | "isStep">) =>
  and(equalTo("unit", unit), equalTo("isString", isString), equalTo("isStep", isStep));

async function search(
  ctx: RequestContext,
  { query, version }: { readonly version: ApiVersion; readonly query: ParameterValues<typeof searchQuery> },
) {
  const own = and(kindFilter(query), query.assetIds && oneOf("assetId", query.assetIds), commonFilter(query));
  const toItem = seriesResponse(version, { withMetadata: true });
  return searchResponse(ctx, textSearchOf(query, own), searchTimeSeries, toItem);
}

async function updateMany(
  ctx: RequestContext,
  { version, body }: { version: ApiVersion; body: { readonly items: Static<typeof identifiedChange>[] } },
) {
  const keys = { ids: body.items.map((item) => item.id) };
  const changes = await mapInSlices(body.items, changeOf);
  const updated = await updateTimeSeries(ctx, { keys, changes, status: 400 });
  return itemsResponse(updated.map(seriesResponse(version, { withMetadata: true })));
}

async function updateOne(
  ctx: RequestContext,
  request: {
    readonly version: ApiVersion;
    readonly path: { readonly series: number };
    readonly body: Static<typeof seriesChange>;
  },
) {
  const keys = { ids: [request.path.series] };
  requireIdOfPath(request.body.id, request.path.series);
  const updated = await updateTimeSeries(ctx, {
    keys,
    changes: [changeOf(request.body)],
    status: 404,
    placeOf: () => "",
  });
  return itemsResponse(updated.map(seriesResponse(request.version, { withMetadata: true })));
}

async function remove(ctx: RequestContext, keys: SeriesKeys) {
  await deleteTimeSeries(ctx, keys);
  return emptyResponse;
}
