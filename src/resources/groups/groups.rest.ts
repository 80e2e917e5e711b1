// Groups and their members over REST (docs/reference/groups-and-accounts.md#groups).
import { type Static, type TSchema, Type } from "typebox";
import { administrator } from "../../access/capabilities.ts";
import { accessTypes } from "../../access/older-permissions.ts";
import { limits } from "../../limits.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import {
  capabilitiesFrom,
  capabilityField,
  capabilityOf,
  capabilitySchema,
} from "../../rest/capabilities.ts";
import {
  cursorParameter,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
} from "../../rest/envelope.ts";
import { changeObject, idField, idsBody, itemsBody, nameField, textField } from "../../rest/fields.ts";
import { boolean, id, pageSize } from "../../rest/parameters.ts";
import { apiVersions, type Route, route } from "../../rest/route.ts";
import { userOf, userSchema } from "../identities/accounts.rest.ts";
import { projectOf, projectSchema } from "../projects/projects.rest.ts";
import {
  addMembers,
  createGroups,
  deleteGroups,
  type Group,
  type GroupChange,
  getGroup,
  listGroups,
  listMembers,
  makeDefault,
  type NewGroup,
  removeMembers,
  updateGroup,
} from "./groups.ts";

/** Rights are read, compared and written at once. */
const bounded = { bytesMax: limits.groupsBodyBytesMax } as const;
const common = { versions: apiVersions } as const;
const update = { ...common, capability: ["groupsAcl", "UPDATE"] } as const;
const read = { ...common, capability: ["groupsAcl", "READ"] } as const;

const permissions = Type.Object(
  {
    accessTypes: Type.Optional(Type.Array(Type.Enum([...accessTypes]))),
    assetIds: Type.Optional(Type.Array(idField("An asset: records in or linked to its subtree"))),
    securityCategoryIds: Type.Optional(
      Type.Array(idField("A security category whose members include the group's members")),
    ),
  },
  { title: "Permissions", description: "The rights of a group before capabilities existed" },
);

const named = {
  name: nameField("The name"),
  source: Type.Optional(textField("The system the group comes from")),
  sourceId: Type.Optional(
    textField("The group's id in that system; an identity provider assigns members by it"),
  ),
  permissions: Type.Optional(permissions),
};

export const newGroup = Type.Object(
  { ...named, capabilities: Type.Optional(Type.Array(capabilityField)) },
  { title: "NewGroup" },
);

const orNull = <Value extends TSchema>(value: Value) => Type.Optional(Type.Union([value, Type.Null()]));

const groupPatch = changeObject(
  {
    name: Type.Optional(named.name),
    source: orNull(named.source),
    sourceId: orNull(named.sourceId),
    permissions: orNull(permissions),
    capabilities: Type.Optional(Type.Array(capabilityField)),
  },
  { title: "GroupChange", description: "Absent members stay, null clears a member" },
);

const groupSchema = Type.Object(
  {
    id: Type.Integer(),
    ...named,
    capabilities: Type.Array(capabilitySchema),
    isDeleted: Type.Boolean(),
    deletedTime: Type.Optional(Type.Integer()),
  },
  { title: "Group" },
);

const one = { groupId: id("The group") };
const account = idField("A service account");
const groups = () => ({ schema: itemsSchema(groupSchema) });
const empty = () => ({ schema: emptySchema });

const listQuery = {
  all: boolean("true: all groups of the project; false: only groups of the caller"),
  includeDeleted: boolean("Include deleted groups"),
  cursor: cursorParameter,
  limit: pageSize({ byDefault: limits.groupsPerPageMax, max: limits.groupsPerPageMax }),
};

export const groupRoutes: readonly Route[] = [
  route({
    ...common,
    capability: ["groupsAcl", "CREATE"],
    method: "POST",
    path: "/groups",
    summary: "Create groups with the rights they grant",
    body: { kind: "json", ...bounded, schema: itemsBody(newGroup, { min: 1 }) },
    response: groups,
    created: ["0.6"],
    handle: async (ctx, { body }) => {
      const created = await createGroups(ctx, await mapInSlices(body.items, newGroupOf));
      return itemsResponse(await mapInSlices(created, groupOf));
    },
  }),
  route({
    ...common,
    capability: ["groupsAcl", "LIST"],
    method: "GET",
    path: "/groups",
    summary: "List groups, ordered by id",
    query: listQuery,
    response: () => ({ schema: pageSchema(groupSchema) }),
    handle: (ctx, { query: { all = false, includeDeleted, ...place } }) => {
      const collection = ["groups", ctx.projectId, all, includeDeleted];
      const read = (page: PageQuery) => listGroups(ctx, { all, includeDeleted, page });
      return listResponse(ctx, { ...place, collection }, read, groupOf);
    },
  }),
  route({
    ...read,
    method: "GET",
    path: "/groups/{groupId}",
    summary: "Read a group",
    parameters: one,
    response: groups,
    handle: async (ctx, { path }) => itemsResponse([groupOf(await getGroup(ctx, path.groupId))]),
  }),
  route({
    ...common,
    capability: ["groupsAcl", "DELETE"],
    method: "POST",
    path: "/groups/delete",
    summary: "Delete groups; their members lose what they granted",
    body: idsBody("Which one"),
    response: empty,
    handle: async (ctx, { body }) => {
      await deleteGroups(ctx, body.items);
      return emptyResponse;
    },
  }),
  route({
    ...update,
    method: "PATCH",
    path: "/groups/{groupId}",
    summary: "Change a group; its members stay",
    parameters: one,
    body: { kind: "json", ...bounded, schema: groupPatch, nulls: "kept" },
    response: groups,
    handle: async (ctx, { path, body }) =>
      itemsResponse([groupOf(await updateGroup(ctx, path.groupId, groupChangeOf(body)))]),
  }),
  ...memberRoutes(),
  route({
    versions: apiVersions,
    capability: ["projectsAcl", "UPDATE"],
    method: "PUT",
    path: "/defaultgroup",
    summary: "Make a group the default group, for callers in no other group",
    body: idsBody("The group", { max: 1 }),
    response: () => ({ schema: itemsSchema(projectSchema) }),
    handle: async (ctx, { body }) => itemsResponse([projectOf(await makeDefault(ctx, body.items[0]!))]),
  }),
];

function memberRoutes(): Route[] {
  return [
    route({
      ...read,
      method: "GET",
      path: "/groups/{groupId}/users",
      summary: "List the service accounts in a group, ordered by id",
      parameters: one,
      response: () => ({ schema: itemsSchema(userSchema) }),
      handle: async (ctx, { path }) => itemsResponse((await listMembers(ctx, path.groupId)).map(userOf)),
    }),
    route({
      ...update,
      method: "POST",
      path: "/groups/{groupId}/users",
      summary: "Add service accounts to a group",
      parameters: one,
      body: {
        kind: "json",
        schema: itemsBody(Type.Union([account, Type.Object({ id: account })]), { min: 1 }),
      },
      response: empty,
      handle: async (ctx, { path, body }) => {
        // The JavaScript SDK sends objects, other clients send ids.
        const ids = body.items.map((item) => (typeof item === "number" ? item : item.id));
        await addMembers(ctx, path.groupId, ids);
        return emptyResponse;
      },
    }),
    route({
      ...update,
      method: "POST",
      path: "/groups/{groupId}/users/remove",
      summary: "Remove service accounts from a group",
      parameters: one,
      body: { kind: "json", schema: itemsBody(account, { min: 1 }) },
      response: empty,
      handle: async (ctx, { path, body }) => {
        await removeMembers(ctx, path.groupId, body.items);
        return emptyResponse;
      },
    }),
  ];
}

export const newGroupOf = (sent: Static<typeof newGroup>, index: number): NewGroup => ({
  ...sourceOf(sent),
  name: sent.name,
  capabilities: (sent.capabilities ?? []).flatMap((one, at) =>
    capabilitiesFrom(one, `items[${index}].capabilities[${at}]`),
  ),
});

const groupChangeOf = ({ capabilities, ...sent }: Static<typeof groupPatch>): GroupChange => ({
  ...sent,
  capabilities: capabilities?.flatMap((one, at) => capabilitiesFrom(one, `capabilities[${at}]`)),
});

const groupOf = (group: Group) => ({
  id: group.id,
  name: group.name,
  ...sourceOf(group),
  capabilities: (group.grantsEverything ? administrator : group.capabilities).map(capabilityOf),
  isDeleted: group.deletedTime !== undefined,
  ...(group.deletedTime !== undefined && { deletedTime: group.deletedTime }),
});

/** The optional members that the API and the record share. */
const sourceOf = ({ source, sourceId, permissions }: Pick<Group, "source" | "sourceId" | "permissions">) => ({
  ...(source !== undefined && { source }),
  ...(sourceId !== undefined && { sourceId }),
  ...(permissions && { permissions: { ...permissionsOf(permissions) } }),
});

const permissionsOf = ({
  accessTypes,
  assetIds,
  securityCategoryIds,
}: NonNullable<Group["permissions"]>): NonNullable<Group["permissions"]> => ({
  ...(accessTypes && { accessTypes }),
  ...(assetIds && { assetIds }),
  ...(securityCategoryIds && { securityCategoryIds }),
});
