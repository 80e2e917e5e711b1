// Service accounts over REST, where they are called users (docs/reference/groups-and-accounts.md#users).
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
import { idField, idsBody, itemsBody, nameField } from "../../rest/fields.ts";
import { boolean, id, pageSize } from "../../rest/parameters.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { type Account, createAccounts, deleteAccounts, getAccount, listAccounts } from "./accounts.ts";

const common = { versions: apiVersions } as const;

export const userSchema = Type.Object(
  {
    id: Type.Integer(),
    uniqueName: Type.String(),
    groups: Type.Array(Type.Integer({ description: "The id of a group" })),
    isDeleted: Type.Boolean(),
    deletedTime: Type.Optional(Type.Integer()),
  },
  { title: "User" },
);

const newUser = Type.Object(
  {
    uniqueName: nameField("The name, unique in the project"),
    groups: Type.Optional(
      Type.Array(idField("The id of a group"), {
        description: "Also requires the capability groupsAcl with the action UPDATE",
      }),
    ),
  },
  { title: "NewUser" },
);

const listQuery = {
  includeDeleted: boolean("Include deleted accounts"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.listItemsMax, max: limits.listItemsMax }),
};

export const accountRoutes: readonly Route[] = [
  route({
    ...common,
    capability: ["usersAcl", "CREATE"],
    method: "POST",
    path: "/users",
    summary: "Create service accounts",
    body: { kind: "json", schema: itemsBody(newUser, { min: 1 }) },
    response: () => ({ schema: itemsSchema(userSchema) }),
    created: ["0.6"],
    handle: async (ctx, { body }) => {
      const items = body.items.map(({ uniqueName, groups = [] }) => ({ uniqueName, groupIds: groups }));
      return itemsResponse((await createAccounts(ctx, items)).map(userOf));
    },
  }),
  route({
    ...common,
    capability: ["usersAcl", "LIST"],
    method: "GET",
    path: "/users",
    summary: "List service accounts, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(userSchema) }),
    handle: (ctx, { query: { includeDeleted, ...place } }) => {
      const collection = ["users", ctx.projectId, includeDeleted];
      const read = (page: PageQuery) => listAccounts(ctx, { includeDeleted, page });
      return listResponse(ctx, { ...place, collection }, read, userOf);
    },
  }),
  route({
    ...common,
    capability: ["usersAcl", "LIST"],
    method: "GET",
    path: "/users/{userId}",
    summary: "Read a service account",
    parameters: { userId: id("The service account") },
    response: () => ({ schema: itemsSchema(userSchema) }),
    handle: async (ctx, { path }) => itemsResponse([userOf(await getAccount(ctx, path.userId))]),
  }),
  route({
    ...common,
    capability: ["usersAcl", "DELETE"],
    method: "POST",
    path: "/users/delete",
    summary: "Delete service accounts and their API keys",
    body: idsBody("Which one"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteAccounts(ctx, body.items);
      return emptyResponse;
    },
  }),
];

export const userOf = ({ id, uniqueName, groupIds, deletedTime }: Account) => ({
  id,
  uniqueName,
  groups: groupIds,
  isDeleted: deletedTime !== undefined,
  ...(deletedTime !== undefined && { deletedTime }),
});
