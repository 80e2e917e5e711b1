// Files over REST (docs/reference/files.md): `/files`, and `/storage`, the older name of the same records.

import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuery } from "../../query/page.ts";
import { baseUrlOf } from "../../rest/base-url.ts";
import {
  batchesResponse,
  cursorParameter,
  dataResponse,
  dataSchema,
  emptyResponse,
  emptySchema,
  itemsResponse,
  itemsSchema,
  listResponse,
  pageSchema,
  searchResponse,
} from "../../rest/envelope.ts";
import { bulk, idField, itemsBody, json, requireIdOfPath } from "../../rest/fields.ts";
import { boolean, id, type ParameterValues } from "../../rest/parameters.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { textSearchOf } from "../../rest/search.ts";
import { recordName, recordNameIn } from "../common/fields.rest.ts";
import {
  deleteFiles,
  downloadLink,
  getFile,
  getFiles,
  listDirectories,
  listFiles,
  searchFiles,
  updateFile,
  updateFiles,
} from "./files.ts";
import {
  changeOf,
  contentTypeIn,
  directoriesQuery,
  fileChange,
  fileJson,
  filePatch,
  fileSchema,
  identifiedChange,
  listFilter,
  listQuery,
  newFile,
  newFileOf,
  replacementOf,
  searchFilter,
  searchQuery,
  wholeFile,
} from "./schemas.rest.ts";
import { startUpload } from "./uploads/uploads.ts";

const read = { versions: apiVersions, capability: ["filesAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["filesAcl", "WRITE"] } as const;
const withNulls = <Schema>(schema: Schema) => ({ kind: "json", schema, nulls: "kept" }) as const;
const ids = itemsBody(idField("Which file"), { min: 1 });
const names = itemsBody(recordName("Which file"), { min: 1 });
const items = (version: ApiVersion) => ({ schema: itemsSchema(fileSchema(version)) });
const link = () => ({
  schema: dataSchema(Type.String({ description: "A URL that needs no credentials" })),
});
const oneFile = { fileId: id("The file") };
const listed = { ...listQuery, cursor: cursorParameter };

const startQuery = {
  resumable: boolean("true, the default: upload in chunks within a week; false: in one request within 30 s"),
  overwrite: boolean("Replace an existing file with this directory and name; default false"),
};

const start = {
  ...write,
  method: "POST",
  summary:
    "Start an upload; the client then PUTs the bytes to `uploadURL` (X-Upload-Content-Type is their type)",
  query: startQuery,
  body: json(newFile),
  response: () => ({ schema: dataSchema(Type.Object({ fileId: Type.Integer(), uploadURL: Type.String() })) }),
  handle: startOne,
} as const;

const list = {
  ...read,
  method: "GET",
  summary: "List files in the order of their creation",
  query: listed,
  response: (version: ApiVersion) => ({ schema: pageSchema(fileSchema(version)) }),
  handle: listPage,
} as const;

const download = {
  ...read,
  method: "GET",
  summary: "Create a download link, which needs no credentials and expires",
  parameters: oneFile,
  response: link,
  handle: linkTo,
} as const;

const remove = {
  ...write,
  method: "POST",
  summary: "Delete files with their bytes; the response names unknown ids",
  body: json(ids),
  response: () => ({
    schema: dataSchema(
      Type.Object({ deleted: Type.Array(Type.Integer()), failed: Type.Array(Type.Integer()) }),
    ),
  }),
  handle: async (ctx: RequestContext, { body }: { readonly body: Static<typeof ids> }) =>
    dataResponse(await deleteFiles(ctx, body.items)),
} as const;

const removal = {
  ...write,
  method: "DELETE",
  summary: "Delete a file with its bytes",
  parameters: oneFile,
  response: () => ({ schema: emptySchema }),
  handle: deleteOne,
} as const;

const change = {
  ...write,
  summary: "Change the metadata of a file",
  parameters: oneFile,
  body: withNulls(fileChange),
  response: items,
  handle: updateOne,
} as const;

const replacement = {
  ...write,
  path: "/files",
  summary: "Replace the metadata of files",
  body: json(itemsBody(wholeFile, { min: 1 }), bulk),
  response: () => ({ schema: emptySchema }),
  handle: replaceAll,
} as const;

export const fileRoutes: readonly Route[] = [
  route({ ...start, path: "/files/initupload" }),
  route({ ...start, path: "/storage/metadata" }),
  route({ ...list, path: "/files" }),
  route({ ...list, path: "/storage" }),
  route({
    ...read,
    method: "GET",
    path: "/files/search",
    summary: "Search files",
    query: searchQuery,
    response: items,
    handle: search,
  }),
  route({
    ...read,
    versions: ["0.6"],
    method: "GET",
    path: "/files/directories",
    summary: "List the directories of the files, in the order of their names",
    query: directoriesQuery,
    response: () => ({ schema: itemsSchema(Type.String()) }),
    handle: async (ctx, { query }) => itemsResponse(await listDirectories(ctx, query)),
  }),
  route({
    ...read,
    method: "GET",
    path: "/files/{fileId}",
    summary: "Read the metadata of a file",
    parameters: oneFile,
    response: items,
    handle: async (ctx, { path, version }) =>
      itemsResponse([fileJson(version)(await getFile(ctx, path.fileId))]),
  }),
  route({
    ...read,
    method: "GET",
    path: "/storage/{fileId}/info",
    summary: "Read the metadata of a file, without a list around it",
    parameters: oneFile,
    response: (version) => ({ schema: dataSchema(fileSchema(version)) }),
    handle: async (ctx, { path, version }) =>
      dataResponse(fileJson(version)(await getFile(ctx, path.fileId))),
  }),
  route({ ...download, path: "/files/{fileId}/downloadlink" }),
  route({ ...download, path: "/storage/{fileId}" }),
  route({
    ...read,
    method: "POST",
    path: "/files/byids",
    summary: "Read the metadata of files by id or external id, in the order of the request",
    body: json(names),
    response: items,
    handle: async (ctx, { body, version }) =>
      batchesResponse(getFiles(ctx, body.items.map(recordNameIn)), fileJson(version)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/files/update",
    summary: "Change the metadata of files",
    body: { ...withNulls(itemsBody(identifiedChange, { min: 1 })), ...bulk },
    response: () => ({ schema: emptySchema }),
    handle: updateMany,
  }),
  route({ ...change, method: "POST", path: "/files/{fileId}/update" }),
  route({
    ...change,
    method: "PATCH",
    path: "/files/{fileId}",
    summary: "Change the metadata of a file, with changes or plain values",
    body: filePatch,
    handle: updateOne,
  }),
  route({ ...replacement, method: "POST" }),
  route({ ...replacement, method: "PUT" }),
  route({ ...removal, path: "/files/{fileId}" }),
  route({ ...removal, path: "/storage/{fileId}" }),
  route({ ...remove, path: "/files/delete" }),
  route({ ...remove, path: "/storage/delete" }),
];

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Items<Item extends TSchema> = { readonly items: readonly Static<Item>[] };

async function startOne(
  ctx: RequestContext,
  request: {
    readonly query: ParameterValues<typeof startQuery>;
    readonly body: Static<typeof newFile>;
    readonly headers: Headers;
  },
) {
  const { fileId, url } = await startUpload(ctx, {
    file: newFileOf(request.body),
    resumable: request.query.resumable ?? true,
    overwrite: request.query.overwrite ?? false,
    contentType: contentTypeIn(request.headers["x-upload-content-type"]),
    baseUrl: baseUrlOf(ctx, request.headers),
  });
  return dataResponse({ fileId, uploadURL: url });
}

function listPage(
  ctx: RequestContext,
  { version, query }: { readonly version: ApiVersion; readonly query: ParameterValues<typeof listed> },
) {
  const filter = listFilter(query);
  const newestFirst = query.sort === "DESC";
  const collection = ["files", ctx.projectId, filter, newestFirst];
  const read = (page: PageQuery) => listFiles(ctx, { filter, newestFirst, page });
  return listResponse(ctx, { cursor: query.cursor, limit: query.limit, collection }, read, fileJson(version));
}

async function search(
  ctx: RequestContext,
  { query, version }: { readonly version: ApiVersion; readonly query: ParameterValues<typeof searchQuery> },
) {
  return searchResponse(ctx, textSearchOf(query, searchFilter(query)), searchFiles, fileJson(version));
}

async function linkTo(
  ctx: RequestContext,
  { path, headers }: { readonly path: ParameterValues<typeof oneFile>; readonly headers: Headers },
) {
  return dataResponse(await downloadLink(ctx, path.fileId, baseUrlOf(ctx, headers)));
}

/** The operation on many files reports unknown ids; the operation on one file refuses them. */
async function deleteOne(ctx: RequestContext, { path }: { readonly path: ParameterValues<typeof oneFile> }) {
  const { failed } = await deleteFiles(ctx, [path.fileId]);
  if (failed.length > 0) throw fail("ids-unknown", { field: "fileId", ids: failed, status: 404 });
  return emptyResponse;
}

async function updateOne(
  ctx: RequestContext,
  request: {
    readonly version: ApiVersion;
    readonly path: ParameterValues<typeof oneFile>;
    readonly body: Static<typeof fileChange>;
  },
) {
  requireIdOfPath(request.body.id, request.path.fileId);
  const updated = await updateFile(ctx, request.path.fileId, changeOf(request.body));
  return itemsResponse([fileJson(request.version)(updated)]);
}

async function updateMany(ctx: RequestContext, { body }: { readonly body: Items<typeof identifiedChange> }) {
  await updateFiles(ctx, await mapInSlices(body.items, (sent) => ({ id: sent.id, change: changeOf(sent) })));
  return emptyResponse;
}

async function replaceAll(ctx: RequestContext, { body }: { readonly body: Items<typeof wholeFile> }) {
  await updateFiles(
    ctx,
    await mapInSlices(body.items, (sent) => ({ id: sent.id, change: replacementOf(sent) })),
  );
  return emptyResponse;
}
