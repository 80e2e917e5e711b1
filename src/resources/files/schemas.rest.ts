// JSON schemas of files in requests and responses of each version, and the mapping of records to JSON.
import { type Static, Type } from "typebox";
import { underAsset } from "../../access/asset-subtree.ts";
import { fail } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { and, equals, type Filter, hasOneOf, not } from "../../query/filter.ts";
import {
  change,
  changed,
  changeObject,
  changeOfIds,
  changeOfList,
  changeOfRequired,
  idField,
  metadataField,
  textField,
} from "../../rest/fields.ts";
import {
  boolean,
  idList,
  integer,
  oneOfWords,
  type ParameterValues,
  pageSize,
  text,
} from "../../rest/parameters.ts";
import { patchBody } from "../../rest/patch.ts";
import type { ApiVersion } from "../../rest/route.ts";
import { during, searchParameters } from "../../rest/search.ts";
import { eitherOf } from "../../rest/two-names.ts";
import { commonOverwriteOf } from "../common/changes.ts";
import {
  commonChangeOf,
  commonChanges,
  commonFilter,
  commonMembers,
  commonQuery,
  equalTo,
  listChangeOf,
} from "../common/fields.rest.ts";
import { commonFieldsOf } from "../common/schema.ts";
import type { FileChange } from "./changes.ts";
import type { NewFile, StoredFile } from "./schema.ts";

const fields = {
  fileName: textField("The name, unique in its directory", { min: 1, max: limits.fileNameLengthMax }),
  directory: textField("The directory", { max: limits.directoryLengthMax }),
  source: textField("The system the file comes from", { max: limits.fileSourceLengthMax }),
  sourceId: textField("The file's id in that system; `source` and `sourceId` together are unique", {
    max: limits.fileSourceLengthMax,
  }),
  fileType: textField("The type of the file", { max: limits.fileTypeLengthMax }),
  metadata: metadataField("Key-value pairs of the caller's choice"),
};
const tag = textField("A tag", { max: limits.nameLengthMax });

const writable = {
  fileName: fields.fileName,
  directory: Type.Optional(fields.directory),
  source: Type.Optional(fields.source),
  sourceId: Type.Optional(fields.sourceId),
  fileType: Type.Optional(fields.fileType),
  metadata: Type.Optional(fields.metadata),
  ...commonMembers,
  assetIds: Type.Optional(
    Type.Array(idField("An asset"), { maxItems: limits.fileLinksMax, description: "The linked assets" }),
  ),
  tagIds: Type.Optional(Type.Array(tag, { maxItems: limits.fileLinksMax, description: "Its tags" })),
};

export const newFile = Type.Object(
  { ...writable, id: Type.Optional(Type.Unknown({ description: "Refused: the service assigns ids" })) },
  { title: "NewFile" },
);

/** All metadata of a file; absent members are cleared. */
export const wholeFile = Type.Object({ id: idField("Which file"), ...writable }, { title: "WholeFile" });

const changes = {
  fileName: changeOfRequired(fields.fileName),
  directory: change(fields.directory),
  source: change(fields.source),
  sourceId: change(fields.sourceId),
  fileType: change(fields.fileType),
  metadata: change(fields.metadata),
  ...commonChanges,
  assetIds: changeOfIds("The linked assets", limits.fileLinksMax),
  tagIds: changeOfList(Type.Array(tag, { maxItems: limits.fileLinksMax })),
};

const identifiedChanges = { id: Type.Optional(idField("Which file")), ...changes };
export const fileChange = changeObject(identifiedChanges, { title: "FileChange" });
export const filePatch = patchBody(identifiedChanges, { ...writable, fileName: fields.fileName });
export const identifiedChange = changeObject(
  { id: idField("Which file"), ...changes },
  { title: "IdentifiedFileChange" },
);

export function newFileOf({ id, ...sent }: Static<typeof newFile>): NewFile {
  if (id !== undefined)
    throw fail("field-invalid", {
      field: "id",
      expected: "none, as the service assigns ids,",
      got: JSON.stringify(id),
    });
  const { fileName, tagIds = [], assetIds = [], directory = "", metadata = {}, ...rest } = sent;
  const { source, sourceId, fileType } = rest;
  return {
    ...{ name: fileName, directory, metadata },
    ...commonFieldsOf(rest),
    ...(source !== undefined && { source }),
    ...(sourceId !== undefined && { sourceId }),
    ...(fileType !== undefined && { fileType }),
    ...(assetIds.length > 0 && { assetIds: [...new Set(assetIds)] }),
    ...(tagIds.length > 0 && { tags: [...new Set(tagIds)] }),
  };
}

/** Replaces all metadata; absent members are cleared. */
export const replacementOf = (sent: Static<typeof wholeFile>): FileChange => ({
  name: sent.fileName,
  directory: sent.directory ?? null,
  source: sent.source ?? null,
  sourceId: sent.sourceId ?? null,
  fileType: sent.fileType ?? null,
  metadata: sent.metadata ?? null,
  ...commonOverwriteOf(sent),
  assetIds: { set: sent.assetIds ?? [] },
  tags: { set: sent.tagIds ?? [] },
});

export const changeOf = (sent: Static<typeof fileChange>): FileChange => ({
  name: sent.fileName?.set ?? undefined,
  directory: changed(sent.directory),
  source: changed(sent.source),
  sourceId: changed(sent.sourceId),
  fileType: changed(sent.fileType),
  metadata: changed(sent.metadata),
  ...commonChangeOf(sent),
  assetIds: listChangeOf(sent.assetIds),
  tags: listChangeOf(sent.tagIds),
});

const time = (description: string) => Type.Integer({ description: `${description}, in ms since 1970` });

export const fileSchema = (version: ApiVersion) =>
  Type.Object(
    {
      id: Type.Integer(),
      fileName: Type.String(),
      directory: Type.Optional(Type.String()),
      source: Type.Optional(Type.String()),
      sourceId: Type.Optional(Type.String()),
      fileType: Type.Optional(Type.String()),
      metadata: metadataField("Empty when there is none"),
      ...commonMembers,
      ...(version === "0.4"
        ? { tagIds: Type.Array(Type.String()) }
        : { assetIds: Type.Array(Type.Integer()), tagIds: Type.Optional(Type.Array(Type.String())) }),
      uploaded: Type.Boolean({ description: "Whether the upload is complete" }),
      uploadedAt: Type.Optional(time("When the upload was complete")),
      createdTime: time("When the file was created"),
      lastUpdatedTime: time("When the file last changed"),
    },
    { title: "File" },
  );

/** Maps a file to the JSON of the version. */
export const fileJson = (version: ApiVersion) => (file: StoredFile) => ({
  id: file.id,
  fileName: file.name,
  directory: file.directory === "" ? undefined : file.directory,
  source: file.source,
  sourceId: file.sourceId,
  fileType: file.fileType,
  metadata: file.metadata,
  ...commonFieldsOf(file),
  ...(version === "0.4"
    ? { tagIds: file.tags ?? [] }
    : { assetIds: file.assetIds ?? [], ...(file.tags && { tagIds: file.tags }) }),
  uploaded: file.content !== undefined,
  uploadedAt: file.uploadedTime,
  createdTime: file.createdTime,
  lastUpdatedTime: file.lastUpdatedTime,
});

export const listQuery = {
  assetId: integer("Files linked to this asset"),
  path: idList("Files linked to assets in the subtrees of these assets"),
  tagId: text("Files with this tag"),
  dir: text("Files with exactly this directory"),
  name: text("Files with exactly this name"),
  type: text("Files with exactly this type"),
  fileType: text("The same as `type`"),
  source: text("Files with exactly this source"),
  ...commonQuery("Files"),
  isUploaded: boolean("true: files whose upload is complete; false: the others"),
  sort: oneOfWords("By the time of their creation: ASC, or newest first", ["ASC", "DESC"]),
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.listItemsMax }),
};

export const directoriesQuery = {
  after: text("Directories after this one, in the order of the list"),
  limit: pageSize({ byDefault: limits.assetsListDefault, max: limits.directoriesListMax }),
};

export const listFilter = (query: ParameterValues<typeof listQuery>): Filter =>
  and(
    query.assetId === undefined ? undefined : hasOneOf("assetIds", [query.assetId]),
    query.path && underAsset(query.path),
    query.tagId === undefined ? undefined : hasOneOf("tags", [query.tagId]),
    equalTo("directory", query.dir),
    equalTo("name", query.name),
    equalTo("fileType", eitherOf(["type", query.type], ["fileType", query.fileType])),
    equalTo("source", query.source),
    uploadedOrNot(query.isUploaded),
    commonFilter(query),
  );

const { description: _, query: __, boostName: ___, ...byWords } = searchParameters("Files");

export const searchQuery = {
  ...byWords,
  directory: text("Files with exactly this directory"),
  type: text("Files with exactly this type"),
  fileType: text("The same as `type`"),
  uploaded: boolean("true: files whose upload is complete; false: the others"),
  minUploadedAt: integer("Uploaded at this time or later, in ms since 1970, inclusive"),
  maxUploadedAt: integer("Uploaded at this time or earlier, in ms since 1970, inclusive"),
  assetIds: idList("Files linked to one of these assets"),
  ...commonQuery("Files"),
};

/** The conditions of a file search without the common ones. */
export const searchFilter = (query: ParameterValues<typeof searchQuery>): Filter =>
  and(
    equalTo("directory", query.directory),
    equalTo("fileType", eitherOf(["type", query.type], ["fileType", query.fileType])),
    uploadedOrNot(query.uploaded),
    during("uploadedTime", query.minUploadedAt, query.maxUploadedAt),
    query.assetIds && hasOneOf("assetIds", query.assetIds),
    commonFilter(query),
  );

function uploadedOrNot(isUploaded: boolean | undefined): Filter | undefined {
  if (isUploaded === undefined) return undefined;
  const isWithout = equals("content", null);
  return isUploaded ? not(isWithout) : isWithout;
}

/** The media type in a header, if it is valid. */
export const contentTypeIn = (sent: string | string[] | undefined): string | undefined =>
  typeof sent === "string" && /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(;[\x20-\x7e]{0,128})?$/.test(sent)
    ? sent
    : undefined;
