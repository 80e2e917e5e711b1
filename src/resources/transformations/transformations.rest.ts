// Transformations over REST 0.6 (docs/reference/transformations.md).
import { Type } from "typebox";
import { limits } from "../../limits.ts";
import { and } from "../../query/filter.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  cursorParameter,
  dataResponse,
  dataSchema,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { bulk, idsBody, itemsBody, json, textField } from "../../rest/fields.ts";
import { id, pageSize, text } from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import { equalTo } from "../common/fields.rest.ts";
import { planRun, previewQuery } from "./runs/plan.ts";
import { cancelRun, getRun, listRuns, resetMarks, startRun } from "./runs/runs.ts";
import {
  newTransformation,
  newTransformationOf,
  planSchema,
  previewSchema,
  previewValue,
  queryField,
  runJson,
  runSchema,
  transformationChange,
  transformationChangeOf,
  transformationJson,
  transformationSchema,
} from "./schemas.rest.ts";
import {
  createTransformations,
  deleteTransformations,
  getTransformation,
  listTransformations,
  type TransformationWithRun,
  updateTransformations,
} from "./transformations.ts";

const versions = ["0.6"] as const;
const read = { versions, capability: ["transformationsAcl", "READ"] } as const;
const write = { versions, capability: ["transformationsAcl", "WRITE"] } as const;
const items = () => ({ schema: itemsSchema(transformationSchema) });
const runItems = () => ({ schema: itemsSchema(runSchema) });
const one = { transformationId: id("The transformation") };
const oneRun = { ...one, runId: id("The run") };

const listQuery = {
  externalId: text("The transformation with exactly this external id"),
  owner: text("Transformations that this account saved last"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

const runsQuery = {
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

const previewBody = Type.Object({
  query: queryField,
  limit: Type.Optional(
    Type.Integer({
      description: "The number of rows; default 100",
      minimum: 1,
      maximum: limits.transformationPreviewRows,
    }),
  ),
});

const resetBody = Type.Object({
  mark: Type.Optional(textField("The name of the mark; absent: all marks", { min: 1 })),
});

const response = (found: readonly TransformationWithRun[]) => itemsResponse(found.map(transformationJson));

const definitions: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/transformations",
    summary: "Create transformations, which run with the rights of the caller's account",
    body: json(itemsBody(newTransformation, { min: 1, max: limits.transformationsPerRequestMax }), bulk),
    response: items,
    handle: async (ctx, { body }) =>
      response(await createTransformations(ctx, await mapInSlices(body.items, newTransformationOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/transformations",
    summary: "List transformations, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(transformationSchema) }),
    handle: (ctx, { query: { externalId, owner, ...place } }) => {
      const filter = and(equalTo("externalId", externalId), equalTo("owner", owner));
      const collection = ["transformations", ctx.projectId, filter];
      const read = (page: PageQuery) => listTransformations(ctx, { filter, page });
      return listResponse(ctx, { ...place, collection }, read, transformationJson);
    },
  }),
  route({
    ...write,
    method: "POST",
    path: "/transformations/update",
    summary: "Change transformations, which then run with the rights of the caller's account",
    body: json(itemsBody(transformationChange, { min: 1, max: limits.transformationsPerRequestMax }), bulk),
    response: items,
    handle: async (ctx, { body }) =>
      response(await updateTransformations(ctx, await mapInSlices(body.items, transformationChangeOf))),
  }),
  route({
    ...write,
    method: "POST",
    path: "/transformations/delete",
    summary: "Delete transformations with their runs; running ones are cancelled",
    body: idsBody("Which transformation"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteTransformations(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "POST",
    path: "/transformations/preview",
    summary: "Return the first rows of a query, with the rights of the caller",
    body: json(previewBody),
    response: () => ({ schema: dataSchema(previewSchema) }),
    handle: async (ctx, { body: { query, limit = 100 } }) => {
      const { rows, ...preview } = await previewQuery(ctx, query, limit);
      return dataResponse({ ...preview, rows: rows.map((row) => row.map(previewValue)) });
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/transformations/{transformationId}",
    summary: "Read a transformation",
    parameters: one,
    response: items,
    handle: async (ctx, { path }) => response([await getTransformation(ctx, path.transformationId)]),
  }),
];

const running: readonly Route[] = [
  route({
    ...read,
    method: "POST",
    path: "/transformations/{transformationId}/plan",
    summary: "Return what a run would write now, with the rights of the caller; writes nothing",
    parameters: one,
    response: () => ({ schema: dataSchema(planSchema) }),
    handle: async (ctx, { path }) => dataResponse(await planRun(ctx, path.transformationId)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/transformations/{transformationId}/run",
    summary: "Start a run with the rights of the transformation's owner",
    parameters: one,
    response: runItems,
    handle: async (ctx, { path }) => itemsResponse([runJson(await startRun(ctx, path.transformationId))]),
  }),
  route({
    ...write,
    method: "POST",
    path: "/transformations/{transformationId}/reset",
    summary: "Forget the marks of `is_new`, so that the next run reads all rows",
    parameters: one,
    body: json(resetBody),
    response: items,
    handle: async (ctx, { path, body }) =>
      response([await resetMarks(ctx, path.transformationId, body.mark)]),
  }),
  route({
    ...read,
    method: "GET",
    path: "/transformations/{transformationId}/runs",
    summary: "List the runs of a transformation, latest first",
    parameters: one,
    query: runsQuery,
    response: () => ({ schema: pageSchema(runSchema) }),
    handle: (ctx, { path: { transformationId }, query }) => {
      const collection = ["transformation runs", ctx.projectId, transformationId];
      const read = (page: PageQuery) => listRuns(ctx, transformationId, page);
      return listResponse(ctx, { ...query, collection }, read, runJson);
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/transformations/{transformationId}/runs/{runId}",
    summary: "Read a run",
    parameters: oneRun,
    response: runItems,
    handle: async (ctx, { path }) => itemsResponse([runJson(await getRun(ctx, path))]),
  }),
  route({
    ...write,
    method: "POST",
    path: "/transformations/{transformationId}/runs/{runId}/cancel",
    summary: "Cancel a run, and wait for its end; rows of earlier commits stay",
    parameters: oneRun,
    response: runItems,
    handle: async (ctx, { path }) => itemsResponse([runJson(await cancelRun(ctx, path))]),
  }),
];

export const transformationRoutes: readonly Route[] = [...definitions, ...running];
