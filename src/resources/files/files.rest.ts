// Files over REST (docs/reference/files.md): `/files`, and `/storage`, the older name of the same records.

import { type Static, type TSchema, Type } from "typebox";
import type { RequestContext } from "../../context.ts";
import { fail } from "../../errors.ts";
import { mapInSlices } from "../../query/map-in-slices.ts";
import type { PageQuestion } from "../../query/page.ts";
import { baseUrlOf } from "../../rest/base-url.ts";
import {
  batchesAnswer,
  cursorParameter,
  dataAnswer,
  dataOf,
  emptyAnswer,
  emptyShape,
  itemsAnswer,
  itemsOf,
  listAnswer,
  pageOf,
  searchAnswer,
} from "../../rest/envelope.ts";
import { bulk, idField, itemsBody, json, requireIdOfPath } from "../../rest/fields.ts";
import { boolean, id, type Values } from "../../rest/parameters.ts";
import { type ApiVersion, apiVersions, type Route, route } from "../../rest/route.ts";
import { searchOf } from "../../rest/search.ts";
import { recordName, recordNameIn } from "../common/fields.rest.ts";
import {
  deleteFiles,
  downloadLink,
  getFile,
  getFiles,
  listFiles,
  searchFiles,
  updateFile,
  updateFiles,
} from "./files.ts";
import {
  changeOf,
  contentTypeIn,
  fileChange,
  fileIn,
  filePatch,
  fileShape,
  identifiedChange,
  listFilter,
  listQuery,
  newFile,
  newFileOf,
  replacementOf,
  searchFilter,
  searchQuery,
  wholeFile,
} from "./shapes.rest.ts";
import { startUpload } from "./uploads.ts";

const read = { versions: apiVersions, capability: ["filesAcl", "READ"] } as const;
const write = { versions: apiVersions, capability: ["filesAcl", "WRITE"] } as const;
const withNulls = <Schema>(schema: Schema) => ({ kind: "json", schema, nulls: "kept" }) as const;
const ids = itemsBody(idField("Which file"), { min: 1 });
const names = itemsBody(recordName("Which file"), { min: 1 });
const items = (version: ApiVersion) => ({ schema: itemsOf(fileShape(version)) });
const link = () => ({ schema: dataOf(Type.String({ description: "An address that needs no credentials" })) });
const oneFile = { fileId: id("The file") };
const listed = { ...listQuery, cursor: cursorParameter };

const startQuery = {
  resumable: boolean("The bytes may come in pieces, within a week; true when absent, else within 30 s"),
  overwrite: boolean("Replace the file of this directory and name, if there is one; false when absent"),
};

const start = {
  ...write,
  method: "POST",
  summary:
    "Start an upload; the bytes are then PUT to `uploadURL` (X-Upload-Content-Type says what they are)",
  query: startQuery,
  body: json(newFile),
  answer: () => ({ schema: dataOf(Type.Object({ fileId: Type.Integer(), uploadURL: Type.String() })) }),
  handle: startOne,
} as const;

const list = {
  ...read,
  method: "GET",
  summary: "List files, in the order they were made",
  query: listed,
  answer: (version: ApiVersion) => ({ schema: pageOf(fileShape(version)) }),
  handle: listPage,
} as const;

const download = {
  ...read,
  method: "GET",
  summary: "A link to the bytes of a file that needs no credentials and expires",
  parameters: oneFile,
  answer: link,
  handle: linkTo,
} as const;

const remove = {
  ...write,
  method: "POST",
  summary: "Delete files with their bytes; says which ids were of no file",
  body: json(ids),
  answer: () => ({
    schema: dataOf(Type.Object({ deleted: Type.Array(Type.Integer()), failed: Type.Array(Type.Integer()) })),
  }),
  handle: async (ctx: RequestContext, { body }: { readonly body: Static<typeof ids> }) =>
    dataAnswer(await deleteFiles(ctx, body.items)),
} as const;

const removal = {
  ...write,
  method: "DELETE",
  summary: "Delete a file with its bytes",
  parameters: oneFile,
  answer: () => ({ schema: emptyShape }),
  handle: deleteOne,
} as const;

const change = {
  ...write,
  summary: "Change what is known of a file",
  parameters: oneFile,
  body: withNulls(fileChange),
  answer: items,
  handle: updateOne,
} as const;

const replacement = {
  ...write,
  path: "/files",
  summary: "Replace what is known of files",
  body: json(itemsBody(wholeFile, { min: 1 }), bulk),
  answer: () => ({ schema: emptyShape }),
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
    answer: items,
    handle: search,
  }),
  route({
    ...read,
    method: "GET",
    path: "/files/{fileId}",
    summary: "Read what is known of a file",
    parameters: oneFile,
    answer: items,
    handle: async (ctx, { path, version }) => itemsAnswer([fileIn(version)(await getFile(ctx, path.fileId))]),
  }),
  route({
    ...read,
    method: "GET",
    path: "/storage/{fileId}/info",
    summary: "Read what is known of a file, by itself",
    parameters: oneFile,
    answer: (version) => ({ schema: dataOf(fileShape(version)) }),
    handle: async (ctx, { path, version }) => dataAnswer(fileIn(version)(await getFile(ctx, path.fileId))),
  }),
  route({ ...download, path: "/files/{fileId}/downloadlink" }),
  route({ ...download, path: "/storage/{fileId}" }),
  route({
    ...read,
    method: "POST",
    path: "/files/byids",
    summary: "Read what is known of files by id or external id, in the order asked",
    body: json(names),
    answer: items,
    handle: async (ctx, { body, version }) =>
      batchesAnswer(getFiles(ctx, body.items.map(recordNameIn)), fileIn(version)),
  }),
  route({
    ...write,
    method: "POST",
    path: "/files/update",
    summary: "Change what is known of files",
    body: { ...withNulls(itemsBody(identifiedChange, { min: 1 })), ...bulk },
    answer: () => ({ schema: emptyShape }),
    handle: updateMany,
  }),
  route({ ...change, method: "POST", path: "/files/{fileId}/update" }),
  route({
    ...change,
    method: "PATCH",
    path: "/files/{fileId}",
    summary: "Change what is known of a file, by changes or by plain values",
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
  asked: {
    readonly query: Values<typeof startQuery>;
    readonly body: Static<typeof newFile>;
    readonly headers: Headers;
  },
) {
  const { fileId, url } = await startUpload(ctx, {
    file: newFileOf(asked.body),
    resumable: asked.query.resumable ?? true,
    overwrite: asked.query.overwrite ?? false,
    contentType: contentTypeIn(asked.headers["x-upload-content-type"]),
    baseUrl: baseUrlOf(ctx, asked.headers),
  });
  return dataAnswer({ fileId, uploadURL: url });
}

function listPage(
  ctx: RequestContext,
  { version, query }: { readonly version: ApiVersion; readonly query: Values<typeof listed> },
) {
  const filter = listFilter(query);
  const newestFirst = query.sort === "DESC";
  const collection = ["files", ctx.project, filter, newestFirst];
  const read = (page: PageQuestion) => listFiles(ctx, { filter, newestFirst, page });
  return listAnswer(ctx, { cursor: query.cursor, limit: query.limit, collection }, read, fileIn(version));
}

async function search(
  ctx: RequestContext,
  { query, version }: { readonly version: ApiVersion; readonly query: Values<typeof searchQuery> },
) {
  return searchAnswer(ctx, searchOf(query, searchFilter(query)), searchFiles, fileIn(version));
}

async function linkTo(
  ctx: RequestContext,
  { path, headers }: { readonly path: Values<typeof oneFile>; readonly headers: Headers },
) {
  return dataAnswer(await downloadLink(ctx, path.fileId, baseUrlOf(ctx, headers)));
}

/** The operation on many files reports unknown ones; a path to one is refused. */
async function deleteOne(ctx: RequestContext, { path }: { readonly path: Values<typeof oneFile> }) {
  const { failed } = await deleteFiles(ctx, [path.fileId]);
  if (failed.length > 0) throw fail("ids-unknown", { field: "fileId", ids: failed, status: 404 });
  return emptyAnswer;
}

async function updateOne(
  ctx: RequestContext,
  asked: {
    readonly version: ApiVersion;
    readonly path: Values<typeof oneFile>;
    readonly body: Static<typeof fileChange>;
  },
) {
  requireIdOfPath(asked.body.id, asked.path.fileId);
  const updated = await updateFile(ctx, asked.path.fileId, changeOf(asked.body));
  return itemsAnswer([fileIn(asked.version)(updated)]);
}

async function updateMany(ctx: RequestContext, { body }: { readonly body: Items<typeof identifiedChange> }) {
  await updateFiles(ctx, await mapInSlices(body.items, (sent) => ({ id: sent.id, change: changeOf(sent) })));
  return emptyAnswer;
}

async function replaceAll(ctx: RequestContext, { body }: { readonly body: Items<typeof wholeFile> }) {
  await updateFiles(
    ctx,
    await mapInSlices(body.items, (sent) => ({ id: sent.id, change: replacementOf(sent) })),
  );
  return emptyAnswer;
}
