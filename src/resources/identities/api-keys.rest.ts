// API keys over REST (docs/reference/groups-and-accounts.md#api-keys).
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
import { idField, idsBody, itemsBody } from "../../rest/fields.ts";
import { boolean, id, integer, pageSize } from "../../rest/parameters.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import {
  type ApiKey,
  createApiKeys,
  deleteApiKeys,
  getApiKey,
  listApiKeys,
  setKeyLimits,
} from "./api-keys.ts";

const common = { versions: apiVersions } as const;

const perSecond = (what: string) =>
  Type.Optional(Type.Integer({ description: `${what} a second`, minimum: 1, maximum: limits.keyLimitMax }));

const keyLimits = Type.Object(
  {
    requestsPerSecond: perSecond("Requests"),
    pointsPerSecond: perSecond("Datapoints that are written, and datapoints or buckets that are read,"),
    bytesPerSecond: perSecond("Bytes of request bodies and of responses"),
  },
  {
    title: "ApiKeyLimits",
    description: "What the key may use; a member that is absent has no limit",
    // A misspelt limit would be none.
    additionalProperties: false,
  },
);

const keyMembers = {
  id: Type.Integer(),
  userId: Type.Integer({ description: "The service account of the key" }),
  createdTime: Type.Integer(),
  status: Type.Enum(["ACTIVE", "DELETED"]),
  expiresTime: Type.Optional(Type.Integer({ description: "When the key expires" })),
  lastUsedTime: Type.Optional(Type.Integer({ description: "The last use, to within a minute" })),
  limits: Type.Optional(keyLimits),
};

const keySchema = Type.Object(keyMembers, { title: "ApiKey" });

const newKeySchema = Type.Object(
  { value: Type.String({ description: "The key; no other response contains it" }), ...keyMembers },
  { title: "CreatedApiKey" },
);

const newKey = Type.Object(
  {
    userId: idField("The service account of the key"),
    expiresTime: Type.Optional(
      Type.Integer({
        description:
          "In ms since 1970, in the future and not after the end of the request's credential, which is the " +
          "default",
        minimum: 1,
        maximum: limits.keyEndMsMax,
      }),
    ),
    limits: Type.Optional(keyLimits),
  },
  { title: "NewApiKey" },
);

const listQuery = {
  all: boolean("Keys of all service accounts; without parameters, the caller's keys"),
  userId: integer("Keys of this service account", { min: 1 }),
  includeDeleted: boolean("Include deleted keys"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.listItemsMax, max: limits.listItemsMax }),
};

export const apiKeyRoutes: readonly Route[] = [
  route({
    ...common,
    capability: ["apikeysAcl", "CREATE"],
    method: "POST",
    path: "/apikeys",
    summary: "Create API keys; only this response contains them",
    body: { kind: "json", schema: itemsBody(newKey, { min: 1 }) },
    response: () => ({ schema: itemsSchema(newKeySchema) }),
    created: ["0.6"],
    handle: async (ctx, { body }) => {
      const items = body.items.map(({ userId, ...wanted }) => ({ accountId: userId, ...wanted }));
      const made = await createApiKeys(ctx, items);
      return itemsResponse(made.map(({ key, record }) => ({ value: key, ...keyOf(record) })));
    },
  }),
  route({
    ...common,
    capability: ["apikeysAcl", "LIST"],
    method: "GET",
    path: "/apikeys",
    summary: "List API keys, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(keySchema) }),
    handle: (ctx, { query: { all, userId, includeDeleted, ...place } }) => {
      const of = userId ?? (all ? "all" : "caller");
      const collection = ["apikeys", ctx.projectId, of, includeDeleted];
      const read = (page: PageQuery) => listApiKeys(ctx, { of, includeDeleted, page });
      return listResponse(ctx, { ...place, collection }, read, keyOf);
    },
  }),
  route({
    ...common,
    capability: ["apikeysAcl", "LIST"],
    method: "GET",
    path: "/apikeys/{keyId}",
    summary: "Read the metadata of an API key",
    parameters: { keyId: id("The id of the key") },
    response: () => ({ schema: itemsSchema(keySchema) }),
    handle: async (ctx, { path }) => itemsResponse([keyOf(await getApiKey(ctx, path.keyId))]),
  }),
  route({
    versions: ["0.6"],
    capability: ["apikeysAcl", "CREATE"],
    method: "PUT",
    path: "/apikeys/{keyId}/limits",
    summary: "Replace the limits of an API key; an empty object removes them",
    parameters: { keyId: id("The id of the key") },
    body: { kind: "json", schema: keyLimits },
    response: () => ({ schema: itemsSchema(keySchema) }),
    handle: async (ctx, { path, body }) => itemsResponse([keyOf(await setKeyLimits(ctx, path.keyId, body))]),
  }),
  route({
    ...common,
    capability: ["apikeysAcl", "DELETE"],
    method: "POST",
    path: "/apikeys/delete",
    summary: "Revoke API keys",
    body: idsBody("Which one"),
    response: () => ({ schema: emptySchema }),
    handle: async (ctx, { body }) => {
      await deleteApiKeys(ctx, body.items);
      return emptyResponse;
    },
  }),
];

const keyOf = ({ id, accountId, createdTime, deletedTime, ...key }: ApiKey) => ({
  id,
  userId: accountId,
  createdTime,
  status: deletedTime === undefined ? "ACTIVE" : "DELETED",
  ...(key.expiresTime !== undefined && { expiresTime: key.expiresTime }),
  ...(key.lastUsedTime !== undefined && { lastUsedTime: key.lastUsedTime }),
  ...(key.limits && { limits: key.limits }),
});
