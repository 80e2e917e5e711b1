// Relationships over REST 0.5 and 0.6 (docs/reference/relationships.md): routes, schemas and handlers.

import { type Static, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and } from "../../query/filter.ts";
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
} from "../../rest/envelope.ts";
import { bulk, itemsBody, json, timeField } from "../../rest/fields.ts";
import {
  integer,
  oneOfWords,
  type ParameterValues,
  pageSize,
  required,
  text,
} from "../../rest/parameters.ts";
import { type Route, route } from "../../rest/route.ts";
import {
  commonFilter,
  commonQuery,
  dataSetIdField,
  equalTo,
  externalIdField,
  labelsField,
} from "../common/fields.rest.ts";
import {
  createRelationships,
  deleteRelationship,
  deleteRelationships,
  getRelationship,
  getRelationships,
  listRelationships,
  type NewRelationship,
  type Relationship,
} from "./relationships.ts";
import { resourceTypes } from "./schema.ts";

const versions = ["0.5", "0.6"] as const;
const read = { versions, capability: ["relationshipsAcl", "READ"] } as const;
const write = { versions, capability: ["relationshipsAcl", "WRITE"] } as const;

const kind = (whose: string) => Type.Enum([...resourceTypes], { description: `The type of the ${whose}` });

const ends = {
  externalId: externalIdField("The external id, unique in the project"),
  sourceType: kind("source"),
  sourceExternalId: externalIdField("The external id of the source; it need not exist"),
  targetType: kind("target"),
  targetExternalId: externalIdField("The external id of the target; it need not exist"),
};

const writable = {
  ...ends,
  startTime: Type.Optional(timeField("When the relationship began")),
  endTime: Type.Optional(timeField("When the relationship ended, not before `startTime`")),
  confidence: Type.Optional(
    Type.Number({ description: "The confidence in the relationship", minimum: 0, maximum: 1 }),
  ),
  dataSetId: Type.Optional(dataSetIdField),
};

export const newRelationship = Type.Object(
  {
    ...writable,
    labels: Type.Optional(labelsField),
    id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })),
  },
  { title: "NewRelationship" },
);

const relationshipSchema = Type.Object(
  {
    id: Type.Integer(),
    ...writable,
    labels: labelsField,
    createdTime: Type.Integer(),
    lastUpdatedTime: Type.Integer(),
  },
  { title: "Relationship" },
);

const which = externalIdField("Which relationship");
const named = itemsBody(Type.Union([which, Type.Object({ externalId: which })]), { min: 1 });
const one = { externalId: required(text("The external id of the relationship")) };
const items = () => ({ schema: itemsSchema(relationshipSchema) });
const empty = () => ({ schema: emptySchema });

const { externalId, dataSetId, labels } = commonQuery("Relationships");

const listQuery = {
  ...{ externalId, dataSetId, labels },
  assetId: integer("Relationships with this asset at either end"),
  sourceType: oneOfWords("Relationships from a resource of this type", resourceTypes),
  sourceExternalId: text("Relationships from the resource with exactly this external id"),
  targetType: oneOfWords("Relationships to a resource of this type", resourceTypes),
  targetExternalId: text("Relationships to the resource with exactly this external id"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

export const relationshipRoutes: readonly Route[] = [
  route({
    ...write,
    method: "POST",
    path: "/relationships",
    summary: "Create relationships",
    body: json(itemsBody(newRelationship, { min: 1 }), bulk),
    response: items,
    handle: async (ctx, { body }) =>
      relationshipJson(await createRelationships(ctx, await mapInSlices(body.items, newRelationshipOf))),
  }),
  route({
    ...read,
    method: "GET",
    path: "/relationships",
    summary: "List relationships, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(relationshipSchema) }),
    handle: list,
  }),
  route({
    ...read,
    method: "POST",
    path: "/relationships/byids",
    summary: "Read relationships by external id, in the order of the request",
    body: { kind: "json", schema: named },
    response: items,
    handle: (ctx, { body }) => batchesResponse(getRelationships(ctx, externalIdsIn(body)), relationshipsJson),
  }),
  route({
    ...write,
    method: "POST",
    path: "/relationships/delete",
    summary: "Delete relationships by external id",
    body: { kind: "json", schema: named },
    response: empty,
    handle: async (ctx, { body }) => {
      await deleteRelationships(ctx, externalIdsIn(body));
      return emptyResponse;
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/relationships/{externalId}",
    summary: "Read a relationship",
    parameters: one,
    response: items,
    handle: async (ctx, { path }) => relationshipJson([await getRelationship(ctx, path.externalId)]),
  }),
  route({
    ...write,
    method: "DELETE",
    path: "/relationships/{externalId}",
    summary: "Delete a relationship",
    parameters: one,
    response: empty,
    handle: async (ctx, { path }) => {
      await deleteRelationship(ctx, path.externalId);
      return emptyResponse;
    },
  }),
];

const externalIdsIn = ({ items }: Static<typeof named>) =>
  items.map((item) => (typeof item === "string" ? item : item.externalId));

const relationshipJson = (found: readonly Relationship[]) => itemsResponse(found.map(relationshipsJson));

export const relationshipsJson = (found: Relationship) => ({
  id: found.id,
  externalId: found.externalId,
  sourceType: found.sourceType,
  sourceExternalId: found.sourceExternalId,
  targetType: found.targetType,
  targetExternalId: found.targetExternalId,
  startTime: found.startTime,
  endTime: found.endTime,
  confidence: found.confidence,
  dataSetId: found.dataSetId,
  labels: found.labels,
  createdTime: found.createdTime,
  lastUpdatedTime: found.lastUpdatedTime,
});

export function newRelationshipOf(sent: Static<typeof newRelationship>, index: number): NewRelationship {
  const { id, startTime, endTime, confidence, dataSetId, labels = [] } = sent;
  const refused = (member: string, expected: string, got: unknown) =>
    fail("field-invalid", { field: `items[${index}].${member}`, expected, got: JSON.stringify(got) });
  if (id !== undefined) throw refused("id", "none, as the service assigns ids,", id);
  if (startTime !== undefined && endTime !== undefined && endTime < startTime)
    throw refused("endTime", `a time not before startTime ${startTime}`, endTime);
  return {
    externalId: sent.externalId,
    sourceType: sent.sourceType,
    sourceExternalId: sent.sourceExternalId,
    targetType: sent.targetType,
    targetExternalId: sent.targetExternalId,
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(confidence !== undefined && { confidence }),
    ...(dataSetId !== undefined && { dataSetId }),
    labels: [...new Set(labels)],
  };
}

function list(ctx: RequestContext, { query }: { readonly query: ParameterValues<typeof listQuery> }) {
  const { cursor, limit, assetId, externalId, dataSetId, labels, ...ends } = query;
  const atEnds = Object.entries(ends).map(([field, value]) => equalTo(field, value));
  const filter = and(commonFilter({ externalId, dataSetId, labels }), ...atEnds);
  const collection = ["relationships", ctx.projectId, filter, assetId];
  const read = (page: PageQuery) => listRelationships(ctx, { filter, assetId, page });
  return listResponse(ctx, { cursor, limit, collection }, read, relationshipsJson);
}
