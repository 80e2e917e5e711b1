// Sequences over REST 0.5 and 0.6 (docs/reference/sequences.md): the routes, and the handlers below them.

import type { Static } from "typebox";
import { underAsset } from "../../access/asset-subtree.ts";
import type { RequestContext } from "../../context.ts";
import { and, type Filter, hasMetadata, nothing, oneOf } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import type { TextSearch } from "../../query/text-search.ts";
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
import { bulk, json, requireIdOfPath } from "../../rest/fields.ts";
import type { ParameterValues } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { during } from "../../rest/search.ts";
import { equalTo, recordNameIn } from "../common/fields.rest.ts";
import { dataRoutes } from "./data.rest.ts";
import {
  columnChangeOf,
  columnChanges,
  columnIds,
  listQuery,
  newColumnOf,
  newColumns,
  newSequenceOf,
  newSequences,
  searchQuery,
  sequenceChange,
  sequenceChangeOf,
  sequenceChanges,
  sequenceIdParameter,
  sequenceIds,
  sequenceJson,
  sequenceNames,
  sequencePatch,
  sequenceSchema,
} from "./schemas.rest.ts";
import {
  addColumns,
  createSequences,
  deleteColumns,
  deleteSequence,
  deleteSequences,
  getSequence,
  getSequences,
  listSequences,
  type Sequence,
  searchSequences,
  updateColumns,
  updateSequence,
  updateSequences,
} from "./sequences.ts";

const versions = ["0.5", "0.6"] as const;
const read = { versions, capability: ["sequencesAcl", "READ"] } as const;
const write = { versions, capability: ["sequencesAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(sequenceSchema) });
const empty = () => ({ schema: emptySchema });

const changeOfOne = {
  ...write,
  summary: "Change a sequence",
  parameters: sequenceIdParameter,
  body: { kind: "json", schema: sequenceChange, nulls: "kept" },
  response: items,
  handle: updateOne,
} as const;

const recordRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/sequences",
    summary: "Create sequences with their columns",
    body: json(newSequences, bulk),
    response: items,
    handle: async (ctx, { body }) =>
      shown(await createSequences(ctx, await mapInSlices(body.items, newSequenceOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/sequences",
    summary: "List sequences, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(sequenceSchema) }),
    handle: list,
  }),
  route({
    ...read,
    method: "GET",
    path: "/sequences/search",
    summary: "Search sequences",
    query: searchQuery,
    response: items,
    handle: search,
  }),
  route({
    ...read,
    method: "POST",
    path: "/sequences/byids",
    summary: "Read sequences by id or external id, in the order of the request",
    body: { kind: "json", schema: sequenceNames },
    response: items,
    handle: (ctx, { body }) => batchesResponse(getSequences(ctx, body.items.map(recordNameIn)), sequenceJson),
  }),
  route({
    ...write,
    method: "POST",
    path: "/sequences/update",
    summary: "Change sequences",
    body: { kind: "json", ...bulk, schema: sequenceChanges, nulls: "kept" },
    response: items,
    handle: async (ctx, { body }) =>
      shown(
        await updateSequences(
          ctx,
          body.items.map((sent) => sequenceChangeOf(sent.id, sent)),
        ),
      ),
  }),
  route({
    ...write,
    method: "POST",
    path: "/sequences/delete",
    summary: "Delete sequences with their rows",
    body: { kind: "json", schema: sequenceIds },
    response: empty,
    handle: async (ctx, { body }) => {
      await deleteSequences(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/sequences/{sequenceId}",
    summary: "Read a sequence",
    parameters: sequenceIdParameter,
    response: items,
    handle: async (ctx, { path }) => shown([await getSequence(ctx, path.sequenceId)]),
  }),
  route({
    ...write,
    method: "DELETE",
    path: "/sequences/{sequenceId}",
    summary: "Delete a sequence with its rows",
    parameters: sequenceIdParameter,
    response: empty,
    handle: async (ctx, { path }) => {
      await deleteSequence(ctx, path.sequenceId);
      return emptyResponse;
    },
  }),
  route({
    ...changeOfOne,
    method: "PATCH",
    path: "/sequences/{sequenceId}",
    summary: "Change a sequence, with changes or plain values",
    body: sequencePatch,
    handle: updateOne,
  }),
  route({ ...changeOfOne, method: "POST", path: "/sequences/{sequenceId}/update" }),
];

const ofColumns = { ...write, method: "POST", parameters: sequenceIdParameter, response: items } as const;

const columnRoutes: readonly Route[] = [
  route({
    ...ofColumns,
    path: "/sequences/{sequenceId}/columns",
    summary: "Add columns to a sequence",
    body: { kind: "json", schema: newColumns },
    handle: async (ctx, { path, body }) => {
      const columns = body.items.map((sent, at) => newColumnOf(sent, `items[${at}]`));
      return shown([await addColumns(ctx, path.sequenceId, columns)]);
    },
  }),
  route({
    ...ofColumns,
    path: "/sequences/{sequenceId}/columns/update",
    summary: "Change columns of a sequence",
    body: { kind: "json", schema: columnChanges, nulls: "kept" },
    handle: async (ctx, { path, body }) =>
      shown([await updateColumns(ctx, path.sequenceId, body.items.map(columnChangeOf))]),
  }),
  route({
    ...ofColumns,
    path: "/sequences/{sequenceId}/columns/delete",
    summary: "Delete columns of a sequence",
    body: { kind: "json", schema: columnIds },
    handle: async (ctx, { path, body }) => shown([await deleteColumns(ctx, path.sequenceId, body.items)]),
  }),
];

export const sequenceRoutes: readonly Route[] = [...recordRoutes, ...columnRoutes, ...dataRoutes];

const shown = (sequences: readonly Sequence[]) => itemsResponse(sequences.map(sequenceJson));

function list(ctx: RequestContext, { query }: { readonly query: ParameterValues<typeof listQuery> }) {
  const { externalId, name, assetId, dataSetId, path } = query;
  const filter = and(
    equalTo("externalId", externalId),
    equalTo("name", name),
    equalTo("assetId", assetId),
    equalTo("dataSetId", dataSetId),
    path && underAsset(path),
  );
  const collection = ["sequences", ctx.projectId, filter];
  const read = (page: PageQuery) => listSequences(ctx, { filter, page });
  return listResponse(ctx, { cursor: query.cursor, limit: query.limit, collection }, read, sequenceJson);
}

function search(ctx: RequestContext, { query }: { readonly query: ParameterValues<typeof searchQuery> }) {
  const { sort, dir, offset = 0 } = query;
  const textSearch: TextSearch = {
    ...query,
    filter: searchFilter(query),
    boostName: query.boostName ?? false,
    sort: sort && { field: sort, direction: dir === "asc" ? "ascending" : "descending" },
    limit: query.limit,
    offset,
  };
  return searchResponse(ctx, textSearch, searchSequences, sequenceJson);
}

const searchFilter = (query: ParameterValues<typeof searchQuery>): Filter =>
  and(
    query.metadata === "unreadable"
      ? nothing
      : and(...Object.entries(query.metadata ?? {}).map(([key, value]) => hasMetadata(key, value))),
    equalTo("dataSetId", query.dataSetId),
    query.assetIds && oneOf("assetId", query.assetIds),
    query.assetSubtrees && underAsset(query.assetSubtrees),
    during("createdTime", query.minCreatedTime, query.maxCreatedTime),
    during("lastUpdatedTime", query.minLastUpdatedTime, query.maxLastUpdatedTime),
  );

async function updateOne(
  ctx: RequestContext,
  {
    path,
    body,
  }: {
    readonly path: ParameterValues<typeof sequenceIdParameter>;
    readonly body: Static<typeof sequenceChange>;
  },
) {
  const { sequenceId } = path;
  requireIdOfPath(body.id, sequenceId);
  return shown([await updateSequence(ctx, sequenceChangeOf(sequenceId, body))]);
}
