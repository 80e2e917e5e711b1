// Suggestions over REST 0.6 (docs/reference/suggestions.md).
import type { RequestContext } from "../../context.ts";
import { limits } from "../../limits.ts";
import { and, between, equals, type Filter, not } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  dataResponse,
  dataSchema,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageQueryOf,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody } from "../../rest/fields.ts";
import { id, type ParameterValues } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { equalTo } from "../common/fields.rest.ts";
import { suggestForDrawing } from "./drawing-matches.ts";
import { acceptSuggestions, rejectSuggestions } from "./review.ts";
import {
  drawingMatched,
  drawingToMatch,
  listQuery,
  newSuggestionOf,
  newSuggestions,
  seriesMatched,
  seriesToMatch,
  suggestionJson,
  suggestionSchema,
} from "./schemas.rest.ts";
import { suggestForSeries } from "./series-matches.ts";
import {
  createSuggestions,
  deleteSuggestions,
  getSuggestion,
  listSuggestions,
  type Suggestion,
} from "./suggestions.ts";

const versions = ["0.6"] as const;
const read = { versions, capability: ["suggestionsAcl", "READ"] } as const;
const write = { versions, capability: ["suggestionsAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(suggestionSchema) });
const response = (found: readonly Suggestion[]) => itemsResponse(found.map(suggestionJson));
const which = idsBody("Which suggestion");

export const suggestionRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/suggestions",
    summary: "Create suggestions, also such that were reviewed elsewhere; links nothing",
    body: newSuggestions,
    response: items,
    handle: async (ctx, { body }) =>
      response(await createSuggestions(ctx, await mapInSlices(body.items, newSuggestionOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/suggestions",
    summary: "List suggestions, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(suggestionSchema) }),
    handle: list,
  }),
  route({
    ...write,
    method: "POST",
    path: "/suggestions/timeseries",
    summary: "Suggest assets for series without an asset, by the tags in their names",
    body: seriesToMatch,
    response: () => ({ schema: dataSchema(seriesMatched) }),
    handle: async (ctx, { body }) => {
      const { scoreMax = 1, candidatesMax = 3, limit = limits.suggestionSeriesMax, cursor } = body;
      const collection = ["suggestions for series", ctx.projectId];
      const page = pageQueryOf(ctx, collection, { cursor, limit });
      const { next, ...counts } = await suggestForSeries(ctx, { scoreMax, candidatesMax, page });
      const nextCursor = next && ctx.cursors.sign(collection, { after: next });
      return dataResponse({ ...counts, ...(nextCursor !== undefined && { nextCursor }) });
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/suggestions/drawings",
    summary: "Suggest assets for the tags in a drawing, with their places",
    body: drawingToMatch,
    response: () => ({ schema: dataSchema(drawingMatched) }),
    handle: async (ctx, { body: { fileId, scoreMax = 0 } }) =>
      dataResponse(await suggestForDrawing(ctx, { fileId, scoreMax })),
  }),
  route({
    ...write,
    method: "POST",
    path: "/suggestions/accept",
    summary: "Accept suggestions: link their series and files to the assets, with the caller's rights",
    body: which,
    response: items,
    handle: async (ctx, { body }) => response(await acceptSuggestions(ctx, body.items)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/suggestions/reject",
    summary: "Reject suggestions, and take away the links of accepted ones",
    body: which,
    response: items,
    handle: async (ctx, { body }) => response(await rejectSuggestions(ctx, body.items)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/suggestions/delete",
    summary: "Delete suggestions, which may then be suggested again; links stay",
    body: which,
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteSuggestions(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/suggestions/{suggestionId}",
    summary: "Read a suggestion",
    parameters: { suggestionId: id("The suggestion") },
    response: items,
    handle: async (ctx, { path }) => response([await getSuggestion(ctx, path.suggestionId)]),
  }),
];

function list(ctx: RequestContext, { query }: { readonly query: ParameterValues<typeof listQuery> }) {
  const { cursor, limit, kind, scoreMax, ...equal } = query;
  const filter = and(
    ...Object.entries(equal).map(([field, value]) => equalTo(field, value)),
    kind && ofKind[kind],
    scoreMax === undefined ? undefined : between("score", { to: { value: scoreMax, inclusive: true } }),
  );
  const collection = ["suggestions", ctx.projectId, filter];
  const read = (page: PageQuery) => listSuggestions(ctx, { filter, page });
  return listResponse(ctx, { cursor, limit, collection }, read, suggestionJson);
}

const ofKind: Readonly<Record<"TIMESERIES" | "FILE", Filter>> = {
  TIMESERIES: not(equals("seriesId", null)),
  FILE: not(equals("fileId", null)),
};
