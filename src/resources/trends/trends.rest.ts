// Saved trends over REST 0.6 (docs/reference/trends.md): the routes, and the handlers below them.
import type { RequestContext } from "../../context.ts";
import { and, words } from "../../query/filter.ts";
import type { LengthBound } from "../../query/length-bound.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import { readWithin } from "../../query/read-within.ts";
import {
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  pageQueryOf,
  pageResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody } from "../../rest/fields.ts";
import { itemsTextResponse } from "../../rest/long-lists.ts";
import { id, type ParameterValues } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { equalTo } from "../common/fields.rest.ts";
import {
  listQuery,
  newTrendOf,
  newTrends,
  trendChangeOf,
  trendChanges,
  trendSchema,
  trendText,
} from "./schemas.rest.ts";
import { createTrends, deleteTrends, getTrend, listTrends, type Trend, updateTrends } from "./trends.ts";

const versions = ["0.6"] as const;
const read = { versions, capability: ["trendsAcl", "READ"] } as const;
const write = { versions, capability: ["trendsAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(trendSchema) });

export const trendRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/trends",
    summary: "Create trends",
    body: newTrends,
    response: items,
    handle: async (ctx, { body }) =>
      trendsResponse(await createTrends(ctx, await mapInSlices(body.items, newTrendOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/trends",
    summary: "List trends, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(trendSchema) }),
    handle: list,
  }),
  route({
    ...write,
    method: "POST",
    path: "/trends/update",
    summary: "Change trends",
    body: trendChanges,
    response: items,
    handle: async (ctx, { body }) =>
      trendsResponse(await updateTrends(ctx, await mapInSlices(body.items, trendChangeOf))),
  }),
  route({
    ...write,
    method: "POST",
    path: "/trends/delete",
    summary: "Delete trends",
    body: idsBody("Which trend"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteTrends(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/trends/{trendId}",
    summary: "Read a trend",
    parameters: { trendId: id("The trend") },
    response: items,
    handle: async (ctx, { path }) => trendsResponse([await getTrend(ctx, path.trendId)]),
  }),
];

const trendsResponse = (trends: readonly Trend[]) =>
  itemsTextResponse(itemsResponse([]), [trends.values().map(trendText)]);

async function list(ctx: RequestContext, { query }: { readonly query: ParameterValues<typeof listQuery> }) {
  const { name, query: text, owner, includeDefinition = true } = query;
  const filter = and(
    equalTo("name", name),
    text === undefined ? undefined : words(["name", "description"], text),
    equalTo("owner", owner),
  );
  const collection = ["trends", ctx.projectId, filter];
  const pageQuery = pageQueryOf(ctx, collection, query);
  const read = (bound: LengthBound) =>
    listTrends(ctx, { filter, includeDefinition, page: { ...pageQuery, bound } });
  const page = await readWithin(ctx.memory, read);
  const wrapper = pageResponse(ctx, collection, { pageQuery, page: { ...page, items: [] } }, () => null);
  return itemsTextResponse(wrapper, [page.items.values().map(trendText)]);
}
