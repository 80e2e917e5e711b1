// Event transformers and semantic types over REST
// (docs/reference/events.md#event-transformers-and-semantic-types).
import { Type } from "typebox";
import { limits } from "../../limits.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { idsBody, itemsBody, nameField, textField } from "../../rest/fields.ts";
import { id, pageSize } from "../../rest/parameters.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import {
  createNamedTypes,
  deleteNamedTypes,
  getNamedType,
  listNamedTypes,
  type NamedTypeKind,
} from "./named-types.ts";

const members = {
  name: nameField("The name"),
  description: Type.Optional(textField("The description")),
};
const newNamedType = Type.Object(members, { title: "NewTerm" });
const namedTypeSchema = Type.Object({ id: Type.Integer(), ...members }, { title: "Term" });

const read = { versions: apiVersions, capability: ["eventsAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["eventsAcl", "WRITE"] } as const;

export const namedTypeRoutes: readonly Route[] = [
  ...routesOf("transformers", "/eventtransformers", "event transformer"),
  ...routesOf("semanticTypes", "/semantictypes", "semantic type"),
];

function routesOf(kind: NamedTypeKind, path: string, what: string): Route[] {
  return [
    route({
      ...read,
      method: "GET",
      path,
      summary: `List ${what}s, oldest first`,
      query: {
        cursor: cursorParameter,
        limit: pageSize({ byDefault: limits.listItemsMax, max: limits.listItemsMax }),
      },
      response: () => ({ schema: pageSchema(namedTypeSchema) }),
      handle: (ctx, { query }) => {
        const collection = [kind, ctx.projectId];
        const read = (page: PageQuery) => listNamedTypes(ctx, kind, page);
        return listResponse(ctx, { ...query, collection }, read, (term) => term);
      },
    }),
    route({
      ...write,
      method: "POST",
      path,
      summary: `Create ${what}s`,
      body: { kind: "json", schema: itemsBody(newNamedType, { min: 1 }) },
      response: () => ({ schema: itemsSchema(namedTypeSchema) }),
      handle: async (ctx, { body }) => {
        const items = body.items.map(({ name, description }) => ({
          name,
          ...(description !== undefined && { description }),
        }));
        return itemsResponse(await createNamedTypes(ctx, kind, items));
      },
    }),
    route({
      ...read,
      method: "GET",
      path: `${path}/{id}`,
      summary: `Read one ${what}`,
      parameters: { id: id(`The ${what}`) },
      response: () => ({ schema: itemsSchema(namedTypeSchema) }),
      handle: async (ctx, { path }) => itemsResponse([await getNamedType(ctx, kind, path.id)]),
    }),
    route({
      ...write,
      method: "POST",
      path: `${path}/delete`,
      summary: `Delete ${what}s`,
      body: idsBody("Which one"),
      response: () => ({ schema: emptySchema }),
      handle: async (ctx, { body }) => {
        await deleteNamedTypes(ctx, kind, body.items);
        return emptyResponse;
      },
    }),
  ];
}
